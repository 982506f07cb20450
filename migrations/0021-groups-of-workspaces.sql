-- Labels of namespaces say which workspaces never share an instance, and which live together (`workspaces.groups` of fleet.yaml).
-- needs program: 0007, because one of before neither reads nor writes these columns; it places without them, so declare groups when all have this file

-- Its value of each label whose rule is apart, as an object; null: it has none. And `label=value` of the one whose rule is together. Written by the
-- workspace role. Indexes hold only those that have any.
alter table workspace add column apart json, add column together text collate "C";
create index workspace_apart on workspace (id) where apart is not null;
create index workspace_together on workspace (together) where together is not null;

-- Its workspace's groups were changed while it lived somewhere: the scheduler has to see whether it may stay. False again once it may.
alter table placement_unit add column is_regrouped boolean not null default false;

-- What the scheduler has to find an instance for, in one list; programs of before search a part of it, which this index serves too.
create index placement_unit_to_settle on placement_unit (created_at, id) where owner is null or wanted_class is not null or is_regrouped;
drop index placement_unit_unsettled;
