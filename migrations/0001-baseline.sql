-- The schema of Argosy's database, in the order in which things happen: what is declared, who its users are, where they
-- are placed, what they want, what stands on instances for it, what that costs, what is moved for it, how instances
-- are, which release they get, why all that was decided. Words are those of docs/glossary.md; ARCHITECTURE.md says who
-- owns which fact.
--
-- What holds for every table:
--
-- * Ids and keys are `text collate "C"`: compared byte by byte, as JavaScript compares them, whatever the database's
--   own collation is. Batches are sorted before they are sent, so rows are then locked in that very order by everybody.
-- * Documents are `json`, not `jsonb`: text that strangers wrote may hold \u0000, which jsonb refuses, and with it the
--   whole batch.
-- * Times are those of the process that writes, unless a comment says otherwise.
-- * `bigint[]` of five numbers is a load vector: applications (thousandths of one), cluster entries, cached resources,
--   CPU (thousandths of a core), requests to Git (thousandths of one a minute).
-- * `revision` and `row_version` rise with each change of a row: a write names the number that it was decided on, and
--   fails when the row has moved on. `generation` is that of the user's resource that a row is a copy of; an older one
--   changes nothing.
-- * `epoch`: the number of a placement, from `epoch_seq`. Every change of owner takes a new one, and an older one is
--   refused everywhere.
-- * `fillfactor` below 100 leaves room on a page for the next version of a row that is changed often, so that its
--   indexes need no new entries.
-- * A list of values in a check has its own constraint name: src/store/adapters/postgres/schema.contract.test.ts
--   compares it with the type.


-- =============================================================================================================== Fleet

-- The one fleet that this database is about.
-- Written by `argosy apply -f` and other commands that change the declaration, and by health for a workspace that gets
-- an instance of its own.
create table fleet (
  -- Always true: there is one row at most.
  singleton boolean primary key default true check (singleton),
  -- The declared fleet, parsed and with every default filled in; the JSON null before the first declaration.
  spec json not null,
  -- 0 before the first declaration.
  revision bigint not null,
  declared_at timestamptz not null,
  -- Pools that were removed on purpose, sorted: their instances are to leave. That a document leaves a pool out is no
  -- request to touch its instances.
  pruned text[] not null default '{}'
);

-- One Argo CD installation in a namespace of an engine cluster.
-- Written by the provisioner, SREs' commands, drains, rollouts and health, each on the revision it was decided on.
create table instance (
  id text collate "C" primary key,
  name text collate "C" not null unique,
  engine_cluster text collate "C" not null,
  namespace text collate "C" not null,
  -- Name of the pool that `fleet.spec` declares, or declared.
  pool text collate "C" not null,
  -- Region, tier, trust and version channel, with slashes between: a unit lives on instances of its own class only.
  class text collate "C" not null,
  -- The release of Argo CD that runs; differs from `desired_version` only during a rollout.
  version text not null,
  desired_version text not null,
  state text not null constraint instance_state check (state in
    ('REQUESTED', 'CREATING', 'WARMING', 'ACTIVE', 'CORDONED', 'DRAINING', 'RETIRED', 'FAILED')),
  state_since timestamptz not null,
  -- Why it is in this state, for people.
  reason text not null,
  -- Attempts in the present state.
  attempt integer not null,
  -- What it can carry: a load vector.
  capacity bigint[] not null check (cardinality(capacity) = 5),
  -- Its share of the hash ring: capacity as a multiple of the smallest instance of the class, at least 1.
  weight integer not null,
  -- Content hash of the parameters that its manifests were rendered from last; empty before.
  applied_hash text not null,
  revision bigint not null,
  -- Whether its controller is stopped for good, so that nothing it could do has to be forbidden: the draining scheduler
  -- asks (wanted), the provisioner says that the pod is gone (seen).
  halt text not null default 'none' constraint instance_halt check (halt in ('none', 'wanted', 'seen')),
  -- While it drains, units leave it by fail-over: nobody goes to the instance, which may be alive and out of reach.
  fails_over boolean not null default false,
  unique (engine_cluster, namespace)
);
create index instance_by_class on instance (class, id);

-- How to recognise the API server of a cluster that hosts instances: no environment may lead to one. A process that
-- starts while such a cluster is away knows it from here.
-- Written by the workspace role.
create table reserved_server (
  -- URL of the API server.
  server text collate "C" primary key,
  listeners text[] not null,
  certificate text
);
comment on table reserved_server is 'what API servers of clusters that host instances were given away by when somebody read that last';
comment on column reserved_server.listeners is 'host and addresses, each with the port';
comment on column reserved_server.certificate is 'SHA-256 fingerprint; null: it speaks no TLS';


-- ============================================================================================================= Tenancy

-- The unit of tenancy: one namespace of an API cluster. A namespace that is made again under its name is another
-- workspace.
-- Written by the workspace role, together with the first thing a user asks for.
create table workspace (
  id text collate "C" primary key,
  -- Which kind of API its user writes to.
  plane text collate "C" not null constraint workspace_plane check (plane in ('kubernetes')),
  api_cluster text collate "C" not null,
  namespace text collate "C" not null,
  namespace_uid text collate "C" not null,
  -- The trust it demands of whoever serves it.
  trust_class text not null,
  -- deleting: its namespace is gone. The row goes when nothing stands for it any more, and everything of it with the
  -- row.
  state text not null constraint workspace_state check (state in ('active', 'deleting')),
  unique (plane, api_cluster, namespace_uid)
);
create index workspace_by_namespace on workspace (namespace, id);

-- A cluster that a workspace deploys to besides its own namespace: a copy of one GitOpsDeploymentManagedEnvironment, as
-- it was when it last worked. Applications name it, and what the name means is looked up when it is needed: it may
-- come, go and come back while they stay as they are.
-- Written by the workspace role.
create table environment (
  id text collate "C" primary key,
  workspace text collate "C" not null references workspace on delete cascade,
  -- Not unique: one that is leaving may stand beside its successor.
  name text collate "C" not null,
  -- Of the user's resource.
  uid text collate "C" not null unique,
  -- Of the user's resource when it last worked; 0 before.
  generation bigint not null default 0,
  -- connected: applications may use it. withdrawn: its user has to mend something first. leaving: its resource is gone,
  -- and something still stands for it.
  state text not null constraint environment_state check (state in ('connected', 'withdrawn', 'leaving')),
  -- URL of the API server, without query and without a slash at its end; empty before it worked.
  api_url text not null default '',
  -- Namespaces that may be used, sorted; empty: all of them.
  namespaces text[] not null default '{}',
  -- Whether objects outside namespaces may be deployed although namespaces are listed.
  cluster_resources boolean not null default false,
  -- Whether the server's certificate is not checked.
  is_insecure boolean not null default false,
  -- Whether instances get accounts of ours on the cluster instead of the user's credential.
  creates_account boolean not null default false,
  -- Whether there may be an account of ours on the cluster. Said before one is made; until it is false again the row
  -- stays.
  has_account boolean not null default false,
  -- Keyed hash of the credential: another one means another credential.
  fingerprint text not null default '',
  unreachable_since timestamptz
);
create index environment_by_name on environment (workspace, name);
comment on column environment.unreachable_since is 'null: whoever asked its cluster last got an answer';

-- Secrets at rest: each is encrypted by a data key of its own (AES-256-GCM), which is wrapped by a key that is never in
-- the database. Id, owner and purpose are authenticated with it, so that no row can stand in for another.
-- Written by the workspace role (environments, repositories) and the provisioner (secrets of instances).
create table credential (
  -- Of an environment: `<id>`, `<id>.owner` or `<id>.account.<unit>.<instance>`, by its purpose.
  id text collate "C" primary key,
  -- A workspace or an instance. No foreign key: rows are removed with what they are of, and a sweep removes those of
  -- nothing.
  owner text collate "C" not null,
  -- environment, environment-owner, environment-account, repository, or one of an instance's.
  purpose text not null,
  -- Name of the key that wraps `data_key`.
  key_id text collate "C" not null,
  -- The data key, wrapped.
  data_key bytea not null,
  ciphertext bytea not null,
  -- HMAC of the plaintext under a key derived from the wrapping one: equal secrets have equal ones.
  fingerprint text not null
);
create index credential_by_owner on credential (owner);
-- For the renewal of keys: which credentials a key still wraps.
create index credential_by_key on credential (key_id);

-- A repository that a workspace may read: a copy of one GitOpsDeploymentRepositoryCredential that was seen to work.
-- Written by the workspace role.
create table repository_credential (
  id text collate "C" primary key,
  workspace text collate "C" not null references workspace on delete cascade,
  name text collate "C" not null,
  -- Of the user's resource, as the next two.
  uid text collate "C" not null unique,
  generation bigint not null,
  -- As its API server writes it (RFC 3339, UTC). Of several for one repository the oldest is used.
  resource_created_at text not null,
  -- As the user wrote it.
  url text not null,
  -- Equal for all spellings that Argo CD takes for the same repository.
  url_key text collate "C" not null,
  -- The secret: an id in `credential`, whose owner is the workspace.
  credential text collate "C" not null,
  -- resourceVersion of the user's Secret that was read.
  secret_version text not null
) with (fillfactor = 90);
create index repository_credential_by_workspace on repository_credential (workspace, id);


-- =========================================================================================================== Placement

-- Epochs: one sequence for the whole fleet, never set back. `argosy recover-epochs` raises it when the database was
-- restored from a backup.
create sequence epoch_seq;

-- What is placed as one: a workspace, or a part of one that was split.
-- Made by the workspace role, and by the scheduler for a new part. Owner and epoch are written by the scheduler while
-- nothing of the unit is deployed, and by the mover's commit.
create table placement_unit (
  id text collate "C" primary key,
  workspace text collate "C" not null references workspace on delete cascade,
  -- Number of the part; 0 is the whole workspace while it is not split.
  bucket integer not null,
  -- As `instance.class`.
  class text collate "C" not null,
  -- The instance that holds it; null until the first placement. An instance that holds a unit cannot be removed.
  owner text collate "C" references instance,
  -- Of the placement; 0 before the first one.
  epoch bigint not null default 0,
  -- While it is MOVING nobody but its move writes what stands for it on instances, or its owner bindings.
  phase text not null default 'UNPLACED' constraint unit_phase check (phase in ('UNPLACED', 'IDLE', 'MOVING')),
  -- The planning load that instances are filled by: a load vector in whole numbers. The first number is counted by
  -- whoever adds and removes applications, the others are written by the scheduler from `unit_load`.
  load bigint[] not null default '{0,0,0,0,0}' check (cardinality(load) = 5),
  -- Rises with every change of what its account, project and owner bindings should be.
  desired_revision bigint not null default 0,
  -- Rises with every change that a placement rests on: owner, phase, directives, which applications it holds after a
  -- split.
  row_version bigint not null default 1,
  unplaceable text,
  created_at timestamptz not null,
  unique (workspace, bucket),
  check (owner is null or epoch > 0)
) with (fillfactor = 80);
create index placement_unit_by_owner on placement_unit (owner, id) where owner is not null;
-- For the scheduler's sweep, oldest first.
create index placement_unit_unplaced on placement_unit (created_at, id) where owner is null;
comment on column placement_unit.unplaceable is 'hash of the facts on which no room was found last';

-- How a workspace that is too large for one unit is split.
-- Written by the scheduler.
create table workspace_split (
  workspace text collate "C" primary key references workspace on delete cascade,
  parts integer not null check (parts > 0),
  open_part integer not null check (open_part >= 0 and open_part < parts),
  -- Since when fewer parts would do; null: they would not.
  roomy_since timestamptz
);
comment on column workspace_split.open_part is 'the part of buckets that have none yet';

-- Which part each bucket of a split workspace has.
-- Written by the scheduler.
create table bucket_part (
  workspace text collate "C" not null references workspace_split on delete cascade,
  -- Names the cluster, and of a large one the group of its namespaces, that the bucket's applications deploy to; stable
  -- for life.
  key text collate "C" not null,
  -- `placement_unit.bucket`.
  part integer not null check (part >= 0),
  primary key (workspace, key)
);

-- What people have ordered about a workspace; it binds all its units.
-- Written by `argosy pin` and `argosy hold`, and by health for a workspace that gets an instance of its own.
create table directive (
  workspace text collate "C" primary key references workspace on delete cascade,
  pin json,
  hold json
);
comment on column directive.pin is 'kind and instance or pool, with who ordered it, when and why; null where nobody did';
comment on column directive.hold is 'until when it is not moved, with who ordered it, when and why; null where nobody did';

-- Times in which nothing of the fleet is moved that need not be.
-- Written by `argosy freeze`.
create table freeze_window (
  name text collate "C" primary key,
  -- When it begins, again and again: five fields as cron has them, in UTC. Null: once, at `at`.
  schedule text,
  duration_ms bigint not null check (duration_ms > 0),
  actor text not null,
  reason text not null,
  -- When it was ordered.
  at timestamptz not null
);


-- ============================================================================================================= Intents

-- Names that were not made here. A resource that was taken over from another Argo CD keeps the name that its
-- Application had there: deployed objects are tracked by it.
-- Written by `argosy adopt`, before the resource is recorded.
create table kept_name (
  -- Of the user's resource.
  uid text collate "C" primary key,
  argo_name text collate "C" not null unique,
  -- The name is free again when no resource came for a while.
  kept_at timestamptz not null
);
comment on table kept_name is 'names in Argo CD of resources, by uid, that were taken over and not made here';

-- What a user deploys: a copy of one GitOpsDeployment, to become one Argo CD Application.
-- Written by the workspace role. The reconciler removes it when its deletion has ended; the scheduler gives it to
-- another part of its workspace.
create table application (
  id text collate "C" primary key,
  workspace text collate "C" not null,
  -- No cascade: a unit goes only when it holds nothing.
  unit text collate "C" not null references placement_unit,
  name text collate "C" not null,
  -- Of the user's resource, as the next two.
  uid text collate "C" not null unique,
  generation bigint not null,
  -- Source, destination, kind of sync, as the user wrote it, in canonical JSON: compared as text.
  spec json not null,
  -- Copied from `spec`, as `environment` is, so that an index finds it.
  repo_url text collate "C" not null,
  environment text collate "C",
  -- Name of the Application; unique in the fleet and stable for life, for it is part of Argo CD's tracking id.
  argo_name text collate "C" not null unique,
  -- Rises with every change of what the Application should be.
  desired_revision bigint not null,
  -- What becomes of the deployed objects. none: it is wanted. cascade: they are deleted with it. orphan: they go on
  -- running.
  deletion text not null default 'none' constraint application_deletion check (deletion in ('none', 'cascade', 'orphan')),
  deleted_at timestamptz,
  check ((deletion = 'none') = (deleted_at is null))
) with (fillfactor = 90);
-- By hash: a URL may be longer, in bytes, than an index takes, and one such would fail every batch that it is in.
create index application_by_repository on application (unit, md5(repo_url));
create index application_by_environment on application (workspace, environment) where environment is not null;
create index application_deleted on application (unit, id) where deleted_at is not null;
comment on column application.environment is 'name of the environment it is deployed to; null for the own namespace';

-- How an application is, as its instance reports, and what of that its user has been told. Made with the application.
-- The columns from `instance` to `blockage` are written by the owner's reconciler, in batches; `published_…` by the
-- workspace role.
create table application_status (
  application text collate "C" primary key references application on delete cascade,
  -- Copy of `application.unit`.
  unit text collate "C" not null,
  -- Which instance reported last, and under which epoch. A report from anybody but the owner is dropped. All columns of
  -- the report are null before the first one.
  instance text collate "C",
  epoch bigint,
  sync text constraint status_sync check (sync in ('Synced', 'OutOfSync', 'Unknown')),
  health text constraint status_health check (health in ('Healthy', 'Progressing', 'Degraded', 'Suspended', 'Missing', 'Unknown')),
  health_message text,
  -- Revision in Git that `sync` is about.
  revision text,
  conditions json,
  -- At most 500, what is not healthy first; `resource_count` says how many there are.
  resources json,
  resource_count integer,
  -- Source and destination that `sync` is about.
  compared_to json,
  -- Bounded copy of Argo CD's `operationState`; the JSON null before the first sync.
  operation_state json,
  -- When Argo CD compared, in whole seconds. A report that is older than the recorded one is dropped.
  reconciled_at timestamptz,
  -- resourceVersion of the Application: tells two reports of one second apart.
  version bigint,
  -- Hash of what users see. A report with the same hash notifies nobody.
  hash text,
  blockage json,
  -- Rises with each change that the user is to be told of; `published_revision` is the last one that was told.
  view_revision bigint not null default 1,
  published_revision bigint not null default 0,
  -- Hash of the status that was written into the user's resource last; empty before.
  published_hash text not null default ''
) with (fillfactor = 70);
-- Which rows have `view_revision > published_revision` is what the index of 0023 says, for a sweep four times a minute.
comment on column application_status.blockage is 'what is known of a deletion that does not end';

-- The recorded notice that something changed and has to be carried out: people and REST clients watch it. Correctness
-- never rests on it.
-- Opened by the workspace role with the change; moved on and completed by the reconciler.
create table operation (
  id text collate "C" primary key,
  workspace text collate "C" not null references workspace on delete cascade,
  -- The unit's owner; null while there is none.
  instance text collate "C",
  -- The application.
  subject text collate "C" not null,
  kind text collate "C" not null constraint operation_kind check (kind in ('apply-application', 'delete-application')),
  -- Failed is no end: it goes on when something changes. Completed is the only one.
  state text not null constraint operation_state check (state in ('Waiting', 'In_Progress', 'Completed', 'Failed')),
  -- `application.desired_revision` that it is completed with.
  revision bigint not null,
  attempts integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When it should have been completed. Later it counts as overdue, which ends nothing.
  deadline timestamptz not null,
  -- Why it is not completed yet, for people.
  message text not null default ''
) with (fillfactor = 80);
-- One open operation for each subject and kind: a further change changes that one.
create unique index operation_open on operation (subject, kind) where state <> 'Completed';
create index operation_by_workspace on operation (workspace, id);
-- For retention, oldest first.
create index operation_ended on operation (updated_at, id) where state = 'Completed';

-- One sync of one manual application, asked for by a GitOpsDeploymentSyncRun.
-- Made, cancelled and removed by the workspace role; how far it has come is written by the reconciler of the owner.
create table sync_run (
  -- Of the user's resource. The Application's operation carries it: that mark, not this row, says that the sync was
  -- asked for.
  uid text collate "C" primary key,
  -- Order within one second, which is how exactly API servers date.
  place bigint not null generated always as identity,
  api_cluster text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  -- Null until the deployment it names is recorded. No foreign key: a run outlives its application, to tell its user
  -- what became of it.
  application text collate "C",
  -- Revision asked for; empty: the application's own.
  revision text not null,
  -- Whether objects that are not in Git any more are to be deleted.
  prune boolean not null,
  -- Of the user's resource.
  created_at timestamptz not null,
  -- Its resource is gone or going: what has not begun must not, what runs is terminated.
  is_cancelled boolean not null default false,
  -- When the instance was asked.
  requested_at timestamptz,
  phase text not null default 'Pending' constraint run_phase check (phase in ('Pending', 'Running', 'Succeeded', 'Failed', 'Terminated')),
  message text not null default '',
  -- Revision that is, or was, deployed; empty while it is not known.
  synced_revision text not null default '',
  started_at timestamptz,
  finished_at timestamptz,
  -- Results of the sync's hooks, at most 50.
  hooks json not null default '[]',
  -- As in `application_status`.
  view_revision bigint not null default 1,
  published_revision bigint not null default 0,
  published_hash text not null default ''
) with (fillfactor = 70);
-- An application's queue: one at a time, in the order of creation.
create index sync_run_unfinished on sync_run (application, created_at, place) where phase in ('Pending', 'Running');
-- For the sweep that compares rows with the resources that exist.
create index sync_run_by_cluster on sync_run (api_cluster, uid);

-- Applications whose rows are gone because a cascade ended. A process that was held up meanwhile must not make the row
-- again; and an Application whose creation lands late is known by it, so that what it deploys goes too.
-- Written by the reconciler with the end of the deletion; retention removes it after a day.
create table ended_application (
  id text collate "C" primary key,
  uid text collate "C",
  argo_name text not null,
  unit text collate "C" not null references placement_unit on delete cascade,
  ended_at timestamptz not null
);
create index ended_application_uid on ended_application (uid);
create index ended_application_unit on ended_application (unit);
create index ended_application_age on ended_application (ended_at, id);
comment on table ended_application is 'applications that a cascade ended, for a day';
comment on column ended_application.uid is 'of the user''s resource; null: it ended before this was kept';


-- ============================================================================================================== Shards

-- What should stand on an instance, and what it has acknowledged: one row for each object. "Is it there yet?" is a
-- comparison of two numbers.
-- Made by whoever makes an object wanted (workspace role, scheduler, mover), in the same transaction; acknowledged by
-- the reconciler, which also makes the rows of cluster entries.
create table shard_object (
  -- The application, the unit (project, account, register) or the environment (cluster-entry) that the object is for.
  subject text collate "C" not null,
  -- register: the unit's owner binding.
  kind text collate "C" not null constraint shard_kind check (kind in ('application', 'project', 'cluster-entry', 'account', 'register')),
  instance text collate "C" not null,
  -- An acknowledgement is taken from this unit's owner only, under its epoch. Null for cluster entries.
  unit text collate "C",
  -- `desired_revision` of the application or the unit.
  desired_revision bigint not null,
  -- The newest that the instance holds; 0: none.
  applied_revision bigint not null default 0,
  -- Of the placement it is wanted under.
  epoch bigint not null,
  -- Of the object in Kubernetes; empty before it stands.
  uid text not null default '',
  -- Of its content as it was written; empty before.
  hash text not null default '',
  primary key (subject, kind, instance)
) with (fillfactor = 70);
-- What an instance has not acknowledged yet.
create index shard_object_lagging on shard_object (instance, kind, subject) where applied_revision < desired_revision;


-- ================================================================================================================ Load

-- What a unit was measured to take. Load vectors with fractions: a sample changes a mean over 24 hours by so little
-- that whole numbers would stand still. A sample that brings something new about the unit changes the row.
-- Written by the scheduler, from instances' metrics.
create table unit_load (
  unit text collate "C" primary key references placement_unit on delete cascade,
  -- What plans are made with: counts as they are, CPU and requests to Git as means over 24 hours.
  planning double precision[] not null check (cardinality(planning) = 5),
  -- What it does now: rises with a sample, falls over ten minutes.
  recent double precision[] not null check (cardinality(recent) = 5),
  at timestamptz not null
) with (fillfactor = 50);

-- What an instance was measured to take.
-- Written by the scheduler with the samples of its units.
create table instance_load (
  instance text collate "C" primary key references instance on delete cascade,
  at timestamptz not null,
  -- Sum of what was measured of its units: a load vector.
  total bigint[] not null check (cardinality(total) = 5),
  -- CPU (thousandths of a core), calls to Kubernetes a minute, resources, applications; null where only counts could be
  -- taken.
  observation json,
  -- Objects its controller caches; null where it did not say.
  cached_objects bigint
) with (fillfactor = 50);

-- What is remembered of a class from one plan to the next.
-- Written by the scheduler.
create table class_load (
  class text collate "C" primary key,
  state json not null
) with (fillfactor = 50);
comment on column class_load.state is 'totals last trusted, fitted weights of CPU, since when instances have been too full';


-- ===================================================================================================== Plans and moves

-- What should move, with what that rests on, and until when it may be carried out.
-- Written by the scheduler and by `argosy plan`.
create table plan (
  id text collate "C" primary key,
  class text collate "C" not null,
  -- add and remove are about a fleet that is not there, and are never carried out.
  goal text not null constraint plan_goal check (goal in ('rebalance', 'drain', 'add', 'remove')),
  -- Name of the instance or pool that the goal is about; empty for rebalance.
  subject text not null,
  -- Content hash of the snapshot that it was made from, and of that and its moves.
  snapshot_hash text not null,
  plan_hash text not null,
  actor text not null,
  created_at timestamptz not null,
  -- Afterwards it is not carried out any more: too much may have changed.
  expires_at timestamptz not null,
  -- When it was carried out last; null before the first time.
  applied_at timestamptz,
  -- Unit, from, to, epoch and reason of each step, in the order in which they start.
  moves json not null,
  -- What each choice rests on, and why the plan is as it is.
  records json not null,
  report json not null
);
create index plan_by_age on plan (created_at, id);

-- What carrying out a plan came to, step by step.
-- Written by whoever carries it out: the scheduler, `argosy apply <plan>`, `argosy drain`.
create table plan_step (
  plan text collate "C" not null references plan on delete cascade,
  unit text collate "C" not null,
  -- What people called the unit when the plan was made.
  name text not null,
  -- Null where the unit had no owner.
  from_instance text collate "C",
  to_instance text collate "C",
  -- Why a unit is moved. FORCED: it may not stay, or is nowhere. HOT: its instance is overloaded now. SHED: its
  -- instance has been too full for long. SWAP: one of two that change places. FILL: an instance that is new takes its
  -- share.
  reason text not null constraint plan_step_reason check (reason in ('FORCED', 'HOT', 'SHED', 'SWAP', 'FILL')),
  -- moved: at once, for nothing of it is deployed. asked: as the live move in `move`. dropped: left, for the reason in
  -- `why`.
  outcome text not null constraint plan_step_outcome check (outcome in ('moved', 'asked', 'dropped')),
  -- Empty where it was not left.
  why text not null,
  move text collate "C",
  primary key (plan, unit)
);
comment on column plan_step.to_instance is 'null where no instance had room';

-- A live move: the hand-over of one unit from its owner to another instance, phase by phase, while everything goes on.
-- Asked for by plans, drains and `argosy move`; written by the mover. Each phase is entered by a write that names the
-- one before.
create table move (
  id text collate "C" primary key,
  unit text collate "C" not null references placement_unit on delete cascade,
  from_instance text collate "C" not null,
  to_instance text collate "C" not null,
  -- The unit's epoch when the move was asked for: with another one it does not begin.
  from_epoch bigint not null,
  -- The move's own, under which the target will own the unit.
  to_epoch bigint unique,
  -- WAITING for its turn, then in this order up to CLEANUP. COMMIT is the point of no return. ABORT: the source goes
  -- on, and the target is emptied. REDIRECTED: its target went after COMMIT, and a fail-over took the unit on.
  phase text not null constraint move_phase check (phase in
    ('WAITING', 'PREPARE', 'FENCE', 'QUIESCE', 'REVOKE', 'COMMIT', 'GRANT', 'ACTIVATE', 'VERIFY', 'CLEANUP',
     'ABORT', 'DONE', 'ABORTED', 'REDIRECTED')),
  phase_since timestamptz not null,
  -- What it is made for, which decides how many may be under way at once.
  kind text not null constraint move_kind check (kind in ('voluntary', 'drain', 'evacuation')),
  -- As in `plan_step`.
  reason text not null constraint live_move_reason check (reason in ('FORCED', 'HOT', 'SHED', 'SWAP', 'FILL')),
  -- The plan that it is a step of.
  plan text collate "C",
  -- The move that it takes back.
  reverses text collate "C",
  actor text not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  -- What it waits for, or why it ended as it did, for people.
  message text not null default '',
  -- Sync, health and conditions of each application before it was moved: afterwards it may not be worse.
  baseline json not null default '[]',
  -- When each phase began, oldest first.
  marks json not null default '[]',
  -- Nobody goes to its source, which may be alive and out of reach: what it could do is forbidden where it writes.
  fail_over boolean not null default false,
  constraint move_end check ((ended_at is not null) = (phase = 'DONE' or phase = 'ABORTED' or phase = 'REDIRECTED'))
);
-- One live move for a unit at a time.
create unique index move_live on move (unit) where ended_at is null;
create index move_by_age on move (created_at, id);
create index move_by_unit on move (unit, created_at);
create index move_by_plan on move (plan) where plan is not null;
-- For retention, oldest first.
create index move_ended on move (ended_at, id) where ended_at is not null;
comment on column move.to_epoch is 'null while it waits for its turn';

-- Changes of owner that were made, by live moves and without: they cool units down and use up budgets.
-- Written with the change of owner; retention removes the old ones with the plans.
create table unit_move (
  epoch bigint primary key,
  unit text collate "C" not null references placement_unit on delete cascade,
  class text collate "C" not null,
  from_instance text collate "C" not null,
  to_instance text collate "C" not null,
  reason text not null constraint move_reason check (reason in ('FORCED', 'HOT', 'SHED', 'SWAP', 'FILL')),
  -- Empty where it was no step of one.
  plan text collate "C" not null,
  at timestamptz not null
);
create index unit_move_by_unit on unit_move (unit, epoch);
create index unit_move_by_age on unit_move (class, at);
comment on column unit_move.epoch is 'the one the unit has since';


-- ============================================================================================================== Health

-- What was measured of an instance, every fifteen seconds by default, for as long as a verdict needs it.
-- Written by the health role, which removes the old ones with each new one.
create table probe_sample (
  instance text collate "C" not null references instance on delete cascade,
  at timestamptz not null,
  -- Numbers by the names in src/domain/health.ts, which has their units; one that was not known is left out.
  signals json not null,
  primary key (instance, at)
);

-- How an instance is, judged from its last samples.
-- Written by the health role.
create table instance_verdict (
  instance text collate "C" primary key references instance on delete cascade,
  -- When it was judged last. After five minutes a verdict says nothing any more.
  at timestamptz not null,
  -- Since when it has had this state for this cause.
  since timestamptz not null,
  -- unknown: too little was seen to say, which is never healthy.
  state text not null constraint verdict_state check (state in ('healthy', 'degraded', 'overloaded', 'stalled', 'failed', 'unknown')),
  cause text not null,
  -- Which part is stuck; null where none is.
  component text,
  -- For people.
  text text not null,
  -- Signals that it rests on, with their values.
  evidence json not null,
  baseline json
) with (fillfactor = 50);
comment on column instance_verdict.baseline is 'what a comparison usually takes there, and from how many looks that was learnt';


-- ============================================================================================================ Rollouts

-- A release of Argo CD that is given to instances wave by wave. One row with its waves in it: each change is one write
-- on its revision.
-- Ordered by `argosy rollout`; written by the provisioner's role.
create table rollout (
  id text collate "C" primary key,
  -- PAUSED: a person wants no further instance upgraded. ASKING: a person has to say whether the wave is good. The last
  -- three are ends.
  state text not null constraint rollout_state check (state in ('RUNNING', 'PAUSED', 'ASKING', 'ROLLING_BACK', 'DONE', 'FAILED', 'ABORTED')),
  version text not null,
  created_at timestamptz not null,
  document json not null,
  revision bigint not null
);
-- One live rollout in the fleet.
create unique index rollout_live on rollout ((true)) where state not in ('DONE', 'FAILED', 'ABORTED');
create index rollout_by_age on rollout (created_at, id);
comment on column rollout.document is 'what was ordered, its waves with the instances of each, and how far they are';

-- Releases that failed: no instance is given one until a person says that it may.
-- Written when a rollout fails; `argosy rollout unfreeze` removes it.
create table frozen_version (
  version text collate "C" primary key,
  rollout text collate "C" not null,
  reason text not null,
  at timestamptz not null
);


-- ============================================================================================================= Journal

-- Why something was decided, with the facts it rested on. Append only.
-- Written by whoever decides, in the transaction that carries the decision out; retention removes old ones that nothing
-- rests on.
create table decision (
  -- Sorts in the order in which decisions were made.
  id text collate "C" primary key,
  at timestamptz not null,
  -- What was decided about: the id of a unit, an instance, a workspace, a plan …
  subject text collate "C" not null,
  kind text not null constraint decision_kind check (kind in
    ('rollout', 'deletion', 'directive', 'fleet', 'instance', 'ownership', 'placement', 'plan', 'register', 'health')),
  -- What was decided, as CHOSEN or UNPLACEABLE, and by which rule, as PREFERRED or SPILL.
  verdict text not null,
  rule text not null,
  -- The reason as a sentence for people, who ordered it, and the facts.
  details json not null
);
create index decision_by_age on decision (at, id);
create index decision_by_subject on decision (subject, at, id);


-- =========================================================================================================== Processes

-- Processes that run. Each says every few seconds that it lives; keys are dealt among the members of a role.
-- Written by each process for itself. Times are on the database's clock, the only one that all share.
create table member (
  id text collate "C" primary key,
  roles text[] not null,
  expires timestamptz not null
) with (fillfactor = 50);

-- What one member at a time does. Saves double work, and is not what keeps the system right. Times are on the
-- database's clock.
-- Written by members. The row stays when the lease is given back, or its number would start anew.
create table lease (
  key text collate "C" primary key,
  holder text collate "C" not null,
  -- Rises each time the lease changes hands.
  fence bigint not null,
  expires timestamptz not null
) with (fillfactor = 50);

-- Who may use the REST API. The token itself is shown once and stored nowhere.
-- Written by `argosy token`.
create table api_token (
  name text collate "C" primary key,
  -- Hash of the token, as src/api/auth.ts takes it.
  hash text collate "C" not null unique,
  role text not null constraint token_role check (role in ('viewer', 'operator', 'approver')),
  created_at timestamptz not null
);

-- Values by name. Only tests of the database use it: it refers to nothing, and nothing refers to it.
create table setting (
  key text collate "C" primary key,
  value json not null
);
