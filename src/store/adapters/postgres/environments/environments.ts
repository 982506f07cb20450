import type { Clock } from "../../../../domain/clock.ts";
import { accountCredentialPrefix, type Environment, ownerCredentialId } from "../../../../domain/environment.ts";
import type { EnvironmentId, WorkspaceId } from "../../../../domain/ids.ts";
import { isWithheld, type Withholding } from "../../../../domain/withholding.ts";
import type { KeyRing } from "../../../credential/port.ts";
import type { Connection, EnvironmentClaim, EnvironmentEnd, EnvironmentStore, KnownEnvironment } from "../../../environment/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { instant, sqlText, texts } from "../sql-values.ts";
import { type EnvironmentRow, environmentOf } from "./environment-row.ts";
import { putEnvironmentCredential } from "./put-credential.ts";
import { lockUnitsOf, raiseUsers } from "./raise-users.ts";

/** Creates the workspace if it is missing. The update changes nothing: with it, `returning` gives the id of an existing row too. */
const WORKSPACE_OF_CLAIM: Statement = {
  name: "ensure_workspace_of_environment",
  text: `
insert into workspace as w (id, plane, api_cluster, namespace, namespace_uid, trust_class, state) values ($1, $2, $3, $4, $5, $6, 'active')
on conflict (plane, api_cluster, namespace_uid) do update set namespace = w.namespace
returning id`,
};

const SUPERSEDE: Statement = {
  name: "supersede_environments",
  text: "update environment set state = 'leaving' where workspace = $1 and name = $2 and id <> $3 and state <> 'leaving' returning id",
};

const CLAIM: Statement = {
  name: "claim_environment",
  text: `
insert into environment (id, workspace, name, uid, state) values ($1, $2, $3, $4, 'withdrawn')
on conflict (uid) do nothing
returning id`,
};

const FIND: Statement = {
  name: "find_environment",
  text: `select id, workspace, name, uid, state, has_account, withheld from environment where id = $1`,
};
const FIND_BY_UID: Statement = {
  name: "find_environment_by_uid",
  text: `select id, workspace, name, uid, state, has_account, withheld from environment where uid = $1`,
};

/** Returns whether anything but the generation changed. */
const CONNECT: Statement = {
  name: "connect_environment",
  text: `
with before as materialized (select * from environment where id = $1 for update), after as (
  update environment e
     set state = 'connected', generation = $2, api_url = $3, namespaces = $4, cluster_resources = $5, is_insecure = $6, creates_account = $7, fingerprint = $8
    from before b where e.id = b.id
  returning (b.state, b.api_url, b.namespaces, b.cluster_resources, b.is_insecure, b.creates_account, b.fingerprint)
    is distinct from (e.state, e.api_url, e.namespaces, e.cluster_resources, e.is_insecure, e.creates_account, e.fingerprint) as is_changed
)
select is_changed from after`,
};

const WITHDRAW: Statement = {
  name: "withdraw_environment",
  text: "update environment set state = 'withdrawn' where id = $1 and state = 'connected' returning id",
};

const WITHHOLD: Statement = {
  name: "withhold_environment",
  text: "update environment set state = 'withdrawn', withheld = $2::json where id = $1 and state = 'connected' returning id",
};

const END_WITHHOLDING: Statement = {
  name: "end_withholding_of_environment",
  text: `
update environment
   set withheld = (withheld::jsonb || jsonb_build_object('endedAt', $2::bigint))::json
 where uid = $1 and withheld is not null and withheld -> 'endedAt' is null`,
};

const LIST_WITHHELD: Statement = {
  name: "list_withheld_environments",
  text: `
select e.id, e.uid, e.name, e.state, e.generation, w.namespace, e.withheld
  from environment e join workspace w on w.id = e.workspace
 where w.api_cluster = $1 and e.withheld is not null and e.withheld -> 'endedAt' is null
 order by e.id`,
};

const READ_KNOWN: Statement = {
  name: "read_known_environment",
  text: `
select e.id, e.uid, e.name, e.state, e.generation, w.namespace, e.withheld
  from environment e join workspace w on w.id = e.workspace
 where e.id = $1`,
};

/** Whether something stands for it on an instance, or a cascade still has to go through it. */
const IS_NEEDED: Statement = {
  name: "is_environment_needed",
  text: `
select exists (select from shard_object where subject = $1)
       or exists (select from application where workspace = $2 and environment = $3 and deletion = 'cascade') as is_needed`,
};

/** An application that uses the environment and is not being deleted. */
const FIND_WANTED: Statement = {
  name: "find_wanted_of_environment",
  text: "select id from application where workspace = $1 and environment = $2 and deletion = 'none' limit 1",
};

const LEAVE: Statement = {
  name: "leave_environment",
  text: "update environment set state = 'leaving' where id = $1 and state <> 'leaving' returning id",
};

/**
 * Locks the row before DROP searches its credentials. Whoever stores a credential locks the row too. So one that is just being
 * stored is committed first, and DROP finds it.
 */
const HOLD: Statement = { name: "hold_environment", text: "select id from environment where id = $1 for update" };

/** Deletes the row and all its credentials, one of which has the environment's own id. */
const DROP: Statement = {
  name: "drop_environment",
  text: "with secrets as (delete from credential where id = $1 or id = $2 or starts_with(id, $3)) delete from environment where id = $1",
};

/** When the account is gone, it notifies the units of a workspace that is being deleted: they may have waited for that. */
const NOTE_ACCOUNT: Statement = {
  name: "note_account_of_environment",
  text: `
with noted as (
  update environment set has_account = $2::boolean where id = $1 and has_account <> $2::boolean returning workspace
)
select pg_notify('argosy', 'unit:' || u.id)
  from noted n join workspace w on w.id = n.workspace join placement_unit u on u.workspace = w.id
 where w.state = 'deleting' and not $2::boolean`,
};

/** Writes only when the cluster's reachability changes, so `unreachable_since` stays the time of the first failure. */
const NOTE_REACH: Statement = {
  name: "note_reach_of_environment",
  text: `
update environment set unreachable_since = case when $2::boolean then null else $3::timestamptz end
 where uid = $1 and (unreachable_since is null) <> $2::boolean`,
};

const READ: Statement = { name: "read_environment", text: "select row_to_json(e) as environment from environment e where uid = $1" };

const LIST: Statement = {
  name: "list_known_environments",
  text: `
select e.id, e.uid, e.name, e.state, e.generation, w.namespace
  from environment e
 cross join lateral (select namespace from workspace where id = e.workspace and api_cluster = $1 offset 0) as w
 where e.id > $3
 order by e.id
 limit $2`,
};

const LIST_LEAVING: Statement = {
  name: "list_leaving_environments",
  text: `
select e.id, e.uid, e.name, e.state, e.generation, w.namespace
  from environment e
 cross join lateral (select namespace from workspace where id = e.workspace and api_cluster = $1 offset 0) as w
 where e.state = 'leaving'
 order by e.id`,
};

const LIST_USED: Statement = {
  name: "list_used_environments",
  text: `
select e.uid
  from workspace w join environment e on e.workspace = w.id
 where w.api_cluster = $1 and w.namespace = $2 and w.state <> 'deleting' and e.state = 'connected'
 order by e.id`,
};

/** The credential id that it builds must equal that of `environmentCredentialKey`. */
const LIST_WITHOUT_ACCOUNT: Statement = {
  name: "list_environments_without_account",
  text: `
with asked as materialized (
  select i.id from unnest($2::text[]) as i (id)
   union
  select e.id
    from (select distinct u.workspace from unnest($3::text[]) as i (id) cross join lateral (select workspace from placement_unit where id = i.id offset 0) as u) as u
   cross join lateral (select id from environment where workspace = u.workspace offset 0) as e
)
select e.id, e.uid, e.name, e.state, e.generation, w.namespace
  from asked
 cross join lateral (select * from environment where id = asked.id and state = 'connected' and creates_account offset 0) as e
 cross join lateral (select namespace from workspace where id = e.workspace and api_cluster = $1 offset 0) as w
 where exists (select from placement_unit u
                where u.workspace = e.workspace and u.owner is not null and u.phase <> 'MOVING'
                  and not exists (select from credential where id = concat(e.id, '.account.', u.id, '.', u.owner) collate "C"))
 order by e.id`,
};

interface Found {
  readonly id: EnvironmentId;
  readonly workspace: WorkspaceId;
  readonly name: string;
  readonly state: Environment["state"];
  readonly has_account: boolean;
  readonly withheld: Withholding | null;
}

interface WithheldRow extends KnownEnvironment {
  readonly withheld: Withholding | null;
}

/** Environments are few and change seldom: each change is a transaction of several plain statements. */
export function createEnvironmentStore(database: Database, ring: KeyRing | undefined, clock: Clock): EnvironmentStore {
  return {
    putCredential: (secret, signal) => putEnvironmentCredential({ database, ring }, secret, signal),
    claim: (claim, signal) => database.transaction("claim_environment", (run) => claimEnvironment(run, claim), signal),
    connect: (connection, signal) =>
      database.transaction(
        "connect_environment",
        async (run) => {
          const row = await lock(run, FIND, connection.id);
          return row === undefined ? false : connect(run, row, connection);
        },
        signal,
      ),
    withdraw: (uid, signal) =>
      database.transaction(
        "withdraw_environment",
        async (run) => {
          const row = await lock(run, FIND_BY_UID, uid);
          if (row !== undefined && (await run(WITHDRAW, [row.id])).length > 0) await raiseUsers(run, row.workspace, row.name);
        },
        signal,
      ),
    withhold: (id, withholding, signal) =>
      database.transaction(
        "withhold_environment",
        async (run) => {
          const row = await lock(run, FIND, id);
          if (row === undefined || (await run(WITHHOLD, [id, JSON.stringify(withholding)])).length === 0) return false;
          await raiseUsers(run, row.workspace, row.name);
          return true;
        },
        signal,
      ),
    endWithholding: async (uid, signal) => void (await database.run(END_WITHHOLDING, [uid, clock.now()], signal)),
    listWithheld: async (apiCluster, signal) =>
      (await database.run<WithheldRow>(LIST_WITHHELD, [apiCluster], signal)).flatMap(({ withheld, ...known }) =>
        withheld === null ? [] : [{ ...known, withheld }],
      ),
    async readKnown(id, signal) {
      const [row] = await database.run<WithheldRow>(READ_KNOWN, [id], signal);
      if (row === undefined) return undefined;
      const { withheld, ...known } = row;
      return { ...known, ...(withheld === null ? {} : { withheld }) };
    },
    recordEnd: (uid, when, signal) =>
      database.transaction(
        "end_environment",
        async (run) => {
          const row = await lock(run, FIND_BY_UID, uid);
          return row === undefined ? "gone" : end(run, row, when);
        },
        signal,
      ),
    noteAccount: async (id, hasAccount, signal) => void (await database.run(NOTE_ACCOUNT, [id, hasAccount], signal)),
    noteReach: async (uid, isReached, signal) => void (await database.run(NOTE_REACH, [uid, isReached, instant(clock.now())], signal)),
    async read(uid, signal) {
      const [row] = await database.run<{ readonly environment: EnvironmentRow }>(READ, [uid], signal);
      return row === undefined ? undefined : environmentOf(row.environment);
    },
    listWithoutAccount: ({ apiCluster, environments, units }, signal) =>
      database.run<KnownEnvironment>(LIST_WITHOUT_ACCOUNT, [apiCluster, texts(environments), texts(units)], signal),
    listLeaving: (apiCluster, signal) => database.run<KnownEnvironment>(LIST_LEAVING, [apiCluster], signal),
    listUsed: async (apiCluster, namespace, signal) =>
      (await database.run<{ readonly uid: string }>(LIST_USED, [apiCluster, namespace], signal)).map(({ uid }) => uid),
    listKnown: (apiCluster, { limit, after }, signal) => database.run<KnownEnvironment>(LIST, [apiCluster, limit, after], signal),
  };
}

/**
 * Locks all units of the environment's workspace, because a change of the environment may change them. Then reads the
 * environment again, as it is under these locks. The first read only finds the workspace.
 */
async function lock(run: Run, find: Statement, key: string): Promise<Found | undefined> {
  const [place] = await run<Found>(find, [key]);
  if (place === undefined) return undefined;
  await lockUnitsOf(run, place.workspace);
  return (await run<Found>(find, [key]))[0];
}

async function claimEnvironment(
  run: Run,
  { workspace, newIds, name, uid }: EnvironmentClaim,
): Promise<Pick<Environment, "id" | "workspaceId" | "hasAccount">> {
  const { plane, apiCluster, namespace, namespaceUid, trustClass } = workspace;
  const [owner] = await run<{ readonly id: WorkspaceId }>(WORKSPACE_OF_CLAIM, [
    newIds.workspaceId,
    plane,
    apiCluster,
    namespace,
    namespaceUid,
    trustClass,
  ]);
  const workspaceId = owner?.id ?? newIds.workspaceId;
  await lockUnitsOf(run, workspaceId);
  if ((await run(CLAIM, [newIds.environmentId, workspaceId, name, uid])).length > 0) {
    const superseded = await run(SUPERSEDE, [workspaceId, name, newIds.environmentId]);
    if (superseded.length > 0) await raiseUsers(run, workspaceId, name);
  }
  const [row] = await run<Found>(FIND_BY_UID, [uid]);
  return { id: row?.id ?? newIds.environmentId, workspaceId: row?.workspace ?? workspaceId, hasAccount: row?.has_account ?? false };
}

async function connect(run: Run, row: Found, connection: Connection): Promise<boolean> {
  if (row.state === "leaving" || isWithheld(row.withheld ?? undefined)) return false;
  const { id, generation, apiUrl, namespaces, clusterResources, isInsecure, createsAccount, fingerprint } = connection;
  const values = [id, generation, sqlText(apiUrl), namespaces.map(sqlText), clusterResources, isInsecure, createsAccount, fingerprint];
  const [changed] = await run<{ readonly is_changed: boolean }>(CONNECT, values);
  if (changed?.is_changed !== true) return false;
  await raiseUsers(run, row.workspace, row.name);
  return true;
}

async function end(
  run: Run,
  { id, workspace, name, state, has_account }: Found,
  when: "at-once" | "after-deployments",
): Promise<EnvironmentEnd> {
  if (when === "after-deployments" && (await run(FIND_WANTED, [workspace, name])).length > 0) return "in-use";
  // The row stays, as `leaving`, while something needs the environment or an account of ours may exist there.
  const [need] = await run<{ readonly is_needed: boolean }>(IS_NEEDED, [id, workspace, name]);
  if (need?.is_needed === true || has_account) {
    if ((await run(LEAVE, [id])).length > 0) await raiseUsers(run, workspace, name);
    return need?.is_needed === true ? "in-use" : "account-left";
  }
  await run(HOLD, [id]);
  await run(DROP, [id, ownerCredentialId(id), accountCredentialPrefix(id)]);
  // If it was leaving, its users were raised when it began to leave.
  if (state !== "leaving") await raiseUsers(run, workspace, name);
  return "gone";
}
