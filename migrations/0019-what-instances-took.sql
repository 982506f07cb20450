-- What instances took is summed up by hours, for each workspace that they held.
-- needs program: 0007

-- What one instance took in one hour for one workspace, or for none. Each sample of the instance adds to the rows of whoever had a share of it; a
-- sample counts to the hour in which it ends. Nothing refers to workspaces and instances: the rows outlive them, until retention takes them.
-- Written by the scheduler, from instances' metrics.
create table usage_hour (
  hour timestamptz not null,
  instance text collate "C" not null,
  -- base: the instance's own. unattributed: it was taken, and nobody knows for whom.
  used_by text collate "C" not null constraint usage_hour_used_by check (used_by in ('workspace', 'base', 'unattributed')),
  -- Empty for what is no workspace's, and so is the namespace.
  workspace text collate "C" not null,
  namespace text collate "C" not null,
  -- CPU of the controller and of repo-servers without their child processes, thousandths of a second.
  controller_cpu_ms bigint not null,
  repo_server_cpu_ms bigint not null,
  -- Resident memory of both, KiB times seconds.
  memory_kib_s bigint not null,
  primary key (hour, instance, used_by, workspace)
) with (fillfactor = 70);

-- How far an instance has been accounted for: whoever samples it next goes on from there, and a sample that goes on from elsewhere adds nothing.
-- Written by the scheduler, with the rows above.
create table usage_mark (
  instance text collate "C" primary key,
  until timestamptz not null,
  -- Counters of its processes by pod, see `ProcessMark`.
  processes json not null
) with (fillfactor = 50);

-- Labels of a workspace's namespace by which it can be asked what was taken, as they were last seen: those that fleet.yaml names (`cost.labels`). They
-- outlive the workspace as long as what it took does.
-- Written by the workspace role.
create table usage_label (
  workspace text collate "C" primary key,
  labels json not null,
  -- When retention saw first that the workspace was gone; null while it is there.
  gone_at timestamptz
);
