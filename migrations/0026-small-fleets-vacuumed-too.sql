-- Former versions of rows are removed when they are some hundred, not some thousand: in a fleet of a few hundred workspaces these two tables were two to five
-- times as large as their rows.
-- needs program: 0007, because settings of vacuum change nothing that programs see
alter table application_status set (autovacuum_vacuum_threshold = 200);
alter table probe_sample set (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 200);
