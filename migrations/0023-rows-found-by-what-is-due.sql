-- What runs every few seconds or minutes finds the rows that it is about by an index, and reads nothing else. With ten thousand workspaces and more, a fleet at
-- rest was read through again and again.
-- needs program: 0007, because indexes, a collation of codes and settings of vacuum change nothing that programs see
--
-- Indexes are built while writers of their tables wait. With 100,000 workspaces and 267,000 applications that took 3 s on two busy cores, 1.7 s of it for 300,000 decisions.

-- Applications whose users have not been shown the latest. It holds next to nothing. A status that changes what users see makes an entry in each index of its
-- table, and so does its publication; recording took 3 to 7 % longer, publishing 10 %. A mere refresh makes none.
create index application_status_unpublished on application_status (application) where view_revision > published_revision;

-- What a workspace whose namespace is gone still has, and what another one deploys to an environment.
create index application_by_workspace on application (workspace, id);
create index workspace_deleting on workspace (id) where state = 'deleting';

-- Units of one class: for plans, and for what its instances hold.
create index placement_unit_by_class on placement_unit (class, id);

create index environment_withheld on environment (id) where withheld is not null;

-- Entries of one kind, and of one verdict: what is still open, and what was decided since. Keys of indexes are compared byte by byte, so the columns are too:
-- no row is written anew for that.
alter table decision alter column kind type text collate "C", alter column verdict type text collate "C";
create index decision_by_kind on decision (kind, verdict, at, id);

-- The newest plans of a class.
create index plan_by_class on plan (class, created_at, id);

-- For retention, oldest first.
create index plan_by_end on plan (expires_at, id);
create index unit_move_oldest on unit_move (at);
create index usage_label_gone on usage_label (gone_at) where gone_at is not null;

-- Rows that are changed again and again, in large tables: their former versions are removed when they are a fiftieth of the table. By default a fifth may
-- have gathered, and then there is much to do at once.
alter table application_status set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
alter table placement_unit set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
alter table unit_load set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
alter table shard_object set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
alter table operation set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);
alter table sync_run set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_analyze_scale_factor = 0.05);

-- Small tables in which every row is changed every few seconds or minutes: each would be many times as large as its rows.
alter table instance_load set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
alter table instance_verdict set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
alter table class_load set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
alter table usage_mark set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
alter table probe_sample set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
alter table member set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
alter table lease set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200);
