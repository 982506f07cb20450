-- What the role of a token is limited to: {"classes": [...], "workspaces": [...]}, either or both; null: nothing. Programs of before know nothing of it
-- and would give the token its role in the whole fleet. So the hash of one that is limited begins with `limited:`, and they refuse it.
-- needs program: 0007
alter table api_token add column scope jsonb;
