-- When a run was first recorded. The hour that it may wait counts from then: before, its resource was paused, or nobody was
-- there to see it. Of runs that are there already it is not known: their hour goes on counting from their creation. A process of
-- before lets the database say it.
alter table sync_run add column recorded_at timestamptz;

update sync_run set recorded_at = created_at;

alter table sync_run alter column recorded_at set default now(), alter column recorded_at set not null;
