-- How an instance enters the API cluster: by one cluster entry that its workspaces share, as all did so far, or by one for each workspace. Its pool
-- says so when it is made, and nothing changes it.
-- needs program: 0007

alter table instance add column entries text not null default 'shared'
  constraint instance_entries check (entries in ('shared', 'per-workspace'));
