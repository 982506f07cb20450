-- When a token ends, whose it is, who made it, when it was used last, and whether it was revoked. All of it is null in rows of before: those
-- tokens go on working without an end. Times are on the database's clock, which alone says whether a token has ended.
-- A token that is revoked loses its hash, so that programs of before refuse it too. They know nothing of ends: they take a token until nobody
-- of them is left. One that they make has no end.
-- needs program: 0007
alter table api_token
  -- Null: it never ends.
  add column expires_at timestamptz,
  -- Free text.
  add column owner text,
  -- Name of the token that made it, or who it was at the database.
  add column created_by text,
  -- Written by processes that serve the API, at most once a minute.
  add column last_used_at timestamptz,
  add column revoked_at timestamptz;
