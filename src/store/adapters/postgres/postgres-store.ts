import type { Clock } from "../../../domain/clock.ts";
import { UnavailableError } from "../../../domain/errors.ts";
import type { Ids } from "../../../domain/ids.ts";
import type { Role } from "../../../domain/role.ts";
import { createUuidIds } from "../../../runtime/ids.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import type { KeyRing } from "../../credential/port.ts";
import type { IntentStore } from "../../intent/port.ts";
import type { PlacementStore } from "../../placement/port.ts";
import type { DatabaseLogin, Store } from "../../port.ts";
import { judgeSchema, whyNotServe } from "../../schema-fit.ts";
import type { ShardStore } from "../../shard/port.ts";
import type { SyncRunStore } from "../../sync-run/port.ts";
import { createAuditStore } from "./audit.ts";
import { createChangeFeed } from "./change-feed.ts";
import { createCredentialStore } from "./credentials/credentials.ts";
import { createDatabase, type Database, type Statement } from "./database.ts";
import { createDecisionStore } from "./decisions.ts";
import { createDirectiveStore } from "./directives.ts";
import { createEnvironmentStore } from "./environments/environments.ts";
import { createDeclaredFleet } from "./fleet/declared-fleet.ts";
import { createInstances } from "./fleet/instances.ts";
import { createProposals } from "./fleet/proposals.ts";
import { createHealthStore } from "./health.ts";
import { assignClass } from "./intents/assign-class.ts";
import { assignGroups } from "./intents/assign-groups.ts";
import { keepName } from "./intents/keep-name.ts";
import { listClasses, listKnown, listKnownWorkspaces, listOverdue, readKnownWorkspaces } from "./intents/known.ts";
import { listUnpublished, recordPublished } from "./intents/publications.ts";
import { readByIds, readByUids } from "./intents/read-views.ts";
import { recordDeletions } from "./intents/record-deletions.ts";
import { recordDeployments } from "./intents/record-deployments.ts";
import { recordLabels } from "./intents/record-labels.ts";
import { recordWorkspaceEnds } from "./intents/record-workspace-ends.ts";
import { createLoadStore } from "./loads/loads.ts";
import { createMemberStore } from "./members.ts";
import { type Migration, readMigrations } from "./migration-files.ts";
import { createMoveStore } from "./moves/moves.ts";
import { createOperationStore } from "./operations.ts";
import { createOwnershipStore } from "./ownership.ts";
import { takeClassOfOwner } from "./placements/class-of-owner.ts";
import { commitFirstPlacement } from "./placements/commit-first-placement.ts";
import { readFleetOfClass } from "./placements/read-fleet.ts";
import { listUnsettled, readUnitsOf, readUnitsWithWorkspaces, readUnitWithWorkspace } from "./placements/read-units.ts";
import { recordRegrouped } from "./placements/record-regrouped.ts";
import { recordUnplaceable } from "./placements/record-unplaceable.ts";
import { createPlanStore } from "./plans/plans.ts";
import { recordRefreshes, recordStatuses } from "./record-statuses.ts";
import { createRecoveryStore } from "./recovery.ts";
import { createRepositoryAccessStore } from "./repository-access/repository-access.ts";
import { createRepositoryCredentialStore } from "./repository-credentials/repository-credentials.ts";
import { createReservedServerStore } from "./reserved-servers.ts";
import { createRetentionStore } from "./retention.ts";
import { checkRights } from "./rights/missing-rights.ts";
import { createRolloutStore } from "./rollouts.ts";
import { type Ask, MIGRATION_TABLE, readRecorded } from "./schema-checks.ts";
import { acknowledge } from "./shards/acknowledge.ts";
import { forgetApplications } from "./shards/forget-applications.ts";
import { forgetObjects } from "./shards/forget-objects.ts";
import { forgetPart } from "./shards/forget-part.ts";
import { forgetWorkspace } from "./shards/forget-workspace.ts";
import { listActing, listApplications, listEnded, listLagging, listOwned } from "./shards/list-by-instance.ts";
import { readApplications } from "./shards/read-applications.ts";
import { readUnit } from "./shards/read-unit.ts";
import { recordProgress } from "./shards/record-progress.ts";
import { createSplitStore } from "./splits/splits.ts";
import { listBusyApplications, listKnownRuns, readRunViews, readSyncQueues } from "./sync-runs/read-runs.ts";
import { recordPublishedRuns, recordRunReports } from "./sync-runs/record-reports.ts";
import { cancelRuns, forgetRuns, giveUpRuns, recordRuns } from "./sync-runs/record-runs.ts";
import { createTokenStore } from "./tokens.ts";
import { untrustedServer } from "./untrusted-server.ts";
import { createUsageStore } from "./usages/usages.ts";

export interface PostgresStoreOptions {
  readonly url: string;
  /** Without it credentials can neither be stored nor read; everything else works. */
  readonly keyRing?: KeyRing;
  readonly clock: Clock;
  /** Ids of journal entries; UUIDs by default. */
  readonly ids?: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Connections at most; one more is for notifications as soon as somebody subscribes. */
  readonly poolSize: number;
  /** The schema's history as this program knows it; this version's own by default. */
  readonly migrations?: readonly Migration[];
  /** Roles whose work the database's user has to have the rights for; none by default. */
  readonly roles?: readonly Role[];
}

const PING: Statement = {
  name: "ping",
  text: `select current_setting('server_version') as version, current_setting('plan_cache_mode') = 'force_generic_plan' as "isDirect", (select count(*) from ${MIGRATION_TABLE}) as schema`,
};

/** Connections of programs of ours to this database; everybody may see whose they are. */
const LOGINS: Statement = {
  name: "list_database_logins",
  text: `
select a.usename as "user", bool_or(pg_has_role(a.usesysid, t.relowner, 'member')) as "isOwner"
  from pg_stat_activity a cross join pg_class t
 where a.datname = current_database() and a.application_name = 'argosy' and a.usename is not null and t.oid = to_regclass('fleet')
 group by a.usename order by a.usename`,
};

const SEND: Statement = { name: "send_notification", text: "select pg_notify('argosy', $1)" };

const FIRST_ANSWER_MS = 15_000;

/**
 * The store on PostgreSQL. Raises InputError when this version does not work with the schema (`migrate` brings an older one there) or the
 * address is none or leads to a server that is not trusted, or the user has no rights for the roles, UnavailableError when the database does
 * not answer.
 */
export async function createPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock, log } = options;
  const database = createDatabase(options);
  const ping = async (signal: AbortSignal): Promise<Awaited<ReturnType<Store["ping"]>>> => {
    const [row] = await database.run<Awaited<ReturnType<Store["ping"]>>>(PING, [], signal);
    return row ?? { version: "", schema: 0, isDirect: false };
  };
  try {
    await checkSchema(database, options.migrations ?? (await readMigrations()));
    await checkRights(database, options.roles ?? [], AbortSignal.timeout(FIRST_ANSWER_MS));
  } catch (error) {
    await database.close();
    throw (error instanceof UnavailableError ? untrustedServer(error.cause) : undefined) ?? error;
  }
  const send = (payload: string, signal: AbortSignal) => database.run(SEND, [payload], signal);
  const feed = createChangeFeed({ url, clock, log, ids: options.ids ?? createUuidIds(clock), send });
  return {
    ...storesOn(database, options),
    changes: feed,
    ping,
    listLogins: (signal) => database.run<DatabaseLogin>(LOGINS, [], signal),
    async close() {
      await feed.close();
      await database.close();
    },
  };
}

async function checkSchema(database: Database, migrations: readonly Migration[]): Promise<void> {
  const ask: Ask = (text) => database.run({ name: "read_schema", text, isPrepared: false }, [], AbortSignal.timeout(FIRST_ANSWER_MS));
  const why = whyNotServe(judgeSchema(await readRecorded(ask), migrations));
  if (why !== undefined) throw why;
}

function storesOn(
  database: Database,
  { clock, keyRing, ids = createUuidIds(clock) }: PostgresStoreOptions,
): Omit<Store, "changes" | "ping" | "listLogins" | "close"> {
  return {
    intents: intentsOn(database, clock, ids),
    placements: placementsOn(database, ids),
    shards: shardsOn(database, clock),
    statuses: {
      recordStatuses: (statuses, signal) => recordStatuses(database, statuses, signal),
      recordRefreshes: (refreshes, signal) => recordRefreshes(database, refreshes, signal),
    },
    syncRuns: syncRunsOn(database, clock),
    fleet: { ...createDeclaredFleet(database, clock, ids), ...createInstances(database, clock, ids) },
    proposals: createProposals(database, clock, ids),
    operations: createOperationStore(database),
    decisions: createDecisionStore(database, ids),
    audit: createAuditStore(database),
    directives: createDirectiveStore(database, ids),
    credentials: createCredentialStore(database, keyRing),
    environments: createEnvironmentStore(database, keyRing, clock),
    repositoryAccess: createRepositoryAccessStore(database),
    repositoryCredentials: createRepositoryCredentialStore(database, clock, keyRing),
    loads: createLoadStore(database),
    usages: createUsageStore(database),
    health: createHealthStore(database, ids),
    members: createMemberStore(database),
    plans: createPlanStore(database, ids),
    splits: createSplitStore(database, clock, ids),
    moves: createMoveStore(database, clock, ids),
    ownership: createOwnershipStore(database),
    recovery: createRecoveryStore(database, clock, ids),
    reservedServers: createReservedServerStore(database),
    retention: createRetentionStore(database),
    rollouts: createRolloutStore(database, clock, ids),
    tokens: createTokenStore(database, ids),
  };
}

function intentsOn(database: Database, clock: Clock, ids: Ids): IntentStore {
  return {
    recordDeployments: (intents, signal) => recordDeployments(database, clock, intents, signal),
    keepName: (name, signal) => keepName(database, clock, name, signal),
    recordDeletions: (deletions, signal) => recordDeletions(database, clock, deletions, signal),
    readByUids: (uids, signal) => readByUids(database, uids, signal),
    readByIds: (ids, signal) => readByIds(database, ids, signal),
    listKnown: (apiCluster, page, signal) => listKnown(database, apiCluster, page, signal),
    listUnpublished: (apiCluster, page, signal) => listUnpublished(database, apiCluster, page, signal),
    recordPublished: (entries, signal) => recordPublished(database, entries, signal),
    listOverdue: (page, signal) => listOverdue(database, page, signal),
    listKnownWorkspaces: (apiCluster, page, signal) => listKnownWorkspaces(database, apiCluster, page, signal),
    readKnownWorkspaces: (apiCluster, namespaces, signal) => readKnownWorkspaces(database, apiCluster, namespaces, signal),
    listClasses: (apiCluster, signal) => listClasses(database, apiCluster, signal),
    recordWorkspaceEnds: (workspaces, signal) => recordWorkspaceEnds(database, workspaces, signal),
    assignClass: (assignment, signal) => assignClass(database, ids, assignment, signal),
    recordLabels: (workspaces, signal) => recordLabels(database, workspaces, signal),
    assignGroups: (assignment, signal) => assignGroups(database, ids, assignment, signal),
  };
}

function placementsOn(database: Database, ids: Ids): PlacementStore {
  return {
    readUnit: (id, signal) => readUnitWithWorkspace(database, id, signal),
    readUnits: (ids, signal) => readUnitsWithWorkspaces(database, ids, signal),
    readUnitsOf: (workspaceId, signal) => readUnitsOf(database, workspaceId, signal),
    readFleet: (className, signal) => readFleetOfClass(database, className, signal),
    listUnsettled: (page, signal) => listUnsettled(database, page, signal),
    takeClassOfOwner: (unitId, signal) => takeClassOfOwner(database, unitId, signal),
    commitFirstPlacement: (placement, signal) => commitFirstPlacement(database, ids, placement, signal),
    recordRegrouped: (unitId, signal) => recordRegrouped(database, unitId, signal),
    recordUnplaceable: (unitId, refusal, signal) => recordUnplaceable(database, ids, { unitId, refusal }, signal),
  };
}

function shardsOn(database: Database, clock: Clock): ShardStore {
  return {
    readApplications: (ids, signal) => readApplications(database, ids, signal),
    readUnit: (id, signal) => readUnit(database, id, signal),
    listOwned: (instanceId, signal) => listOwned(database, instanceId, signal),
    listActing: (instanceId, signal) => listActing(database, instanceId, signal),
    listApplications: (instanceId, signal) => listApplications(database, instanceId, signal),
    listEnded: (instanceId, ids, signal) => listEnded(database, instanceId, ids, signal),
    listLagging: (instanceIds, limit, signal) => listLagging(database, instanceIds, limit, signal),
    acknowledge: (objects, signal) => acknowledge(database, clock, objects, signal),
    recordProgress: (notes, signal) => recordProgress(database, clock, notes, signal),
    forgetObjects: (objects, signal) => forgetObjects(database, objects, signal),
    forgetApplications: (ids, signal) => forgetApplications(database, clock, ids, signal),
    forgetWorkspace: (id, signal) => forgetWorkspace(database, id, signal),
    forgetPart: (id, signal) => forgetPart(database, id, signal),
  };
}

function syncRunsOn(database: Database, clock: Clock): SyncRunStore {
  return {
    record: (intents, signal) => recordRuns(database, clock, intents, signal),
    cancel: (uids, signal) => cancelRuns(database, clock, uids, signal),
    giveUp: (entries, signal) => giveUpRuns(database, clock, entries, signal),
    forget: (uids, signal) => forgetRuns(database, uids, signal),
    readViews: (uids, signal) => readRunViews(database, uids, signal),
    recordPublished: (entries, signal) => recordPublishedRuns(database, entries, signal),
    listKnown: (apiCluster, signal) => listKnownRuns(database, apiCluster, signal),
    readQueues: (ids, signal) => readSyncQueues(database, ids, signal),
    listBusy: (instanceIds, limit, signal) => listBusyApplications(database, instanceIds, limit, signal),
    recordReports: (reports, signal) => recordRunReports(database, reports, signal),
  };
}
