import {
  ACCOUNT_PURPOSE,
  accountCredentialPrefix,
  type Environment,
  environmentCredentialKey,
  ownerCredentialId,
} from "../../../domain/environment.ts";
import { GoneError } from "../../../domain/errors.ts";
import { canonicalJson } from "../../../domain/hash.ts";
import type { CredentialId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { isWithheld } from "../../../domain/withholding.ts";
import type { PlacementUnit } from "../../../domain/workspace.ts";
import type { Connection, EnvironmentClaim, EnvironmentEnd, EnvironmentStore, KnownEnvironment } from "../../environment/port.ts";
import { applicationsOf, putUnit, unitRow, workspaceOfTables } from "./applications.ts";
import { putCredential } from "./credentials.ts";
import { type MemoryApplicationRow, type Tables, type Transact, type Transaction, workspaceIdentity } from "./tables.ts";

export function createMemoryEnvironmentStore(transact: Transact): EnvironmentStore {
  return {
    claim: (claim, signal) => transact(signal, (transaction) => claimEnvironment(transaction, claim)),
    connect: (connection, signal) => transact(signal, (transaction) => connect(transaction, connection)),
    putCredential: ({ id, use, plaintext }, signal) =>
      transact(signal, ({ tables }) => {
        const environment = tables.environments.get(id);
        if (environment === undefined)
          throw new GoneError("storing a credential of an environment", { code: "store.environment-gone", context: { environment: id } });
        return putCredential(tables, environmentCredentialKey(id, environment.workspaceId, use), plaintext);
      }),
    withdraw: (uid, signal) =>
      transact(signal, (transaction) => {
        for (const environment of transaction.tables.environments.where("uid", uid))
          if (environment.state === "connected") put(transaction, { ...environment, state: "withdrawn" });
      }),
    withhold: (id, withheld, signal) =>
      transact(signal, (transaction) => {
        const environment = transaction.tables.environments.get(id);
        if (environment?.state !== "connected") return false;
        put(transaction, { ...environment, state: "withdrawn", withheld });
        return true;
      }),
    endWithholding: (uid, signal) =>
      transact(signal, ({ tables, now }) => {
        for (const environment of tables.environments.where("uid", uid))
          if (isWithheld(environment.withheld))
            tables.environments.put(environment.id, { ...environment, withheld: { ...environment.withheld, endedAt: now() } });
      }),
    listWithheld: (apiCluster, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.environments.values()]
          .filter(({ workspaceId }) => workspaceOfTables(tables, workspaceId).apiCluster === apiCluster)
          .flatMap((environment) => {
            const { withheld } = environment;
            return isWithheld(withheld) ? [{ ...known(tables, environment), withheld }] : [];
          })
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      ),
    readKnown: (id, signal) =>
      transact(signal, ({ tables }) => {
        const environment = tables.environments.get(id);
        if (environment === undefined) return undefined;
        const { withheld } = environment;
        return { ...known(tables, environment), ...(withheld === undefined ? {} : { withheld }) };
      }),
    recordEnd: (uid, when, signal) =>
      transact(signal, (transaction) => {
        const [environment] = transaction.tables.environments.where("uid", uid);
        if (environment === undefined) return "gone";
        const isAwaited = usersOf(transaction.tables, environment).some(({ application }) => application.deletion === "none");
        return when === "after-deployments" && isAwaited ? "in-use" : end(transaction, environment);
      }),
    noteAccount: (id, hasAccount, signal) =>
      transact(signal, ({ tables, notify }) => {
        const environment = tables.environments.get(id);
        if (environment === undefined || environment.hasAccount === hasAccount) return;
        tables.environments.put(id, { ...environment, hasAccount });
        if (hasAccount || workspaceOfTables(tables, environment.workspaceId).state !== "deleting") return;
        for (const { unit } of tables.units.where("workspace", environment.workspaceId)) notify("unit", unit.id);
      }),
    noteReach: (uid, isReached, signal) =>
      transact(signal, ({ tables, now }) => {
        for (const environment of tables.environments.where("uid", uid))
          if ((environment.unreachableSince === undefined) !== isReached)
            tables.environments.put(environment.id, { ...environment, unreachableSince: isReached ? undefined : now() });
      }),
    read: (uid, signal) => transact(signal, ({ tables }) => tables.environments.where("uid", uid)[0]),
    listLeaving: (apiCluster, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.environments.values()]
          .filter(({ state, workspaceId }) => state === "leaving" && workspaceOfTables(tables, workspaceId).apiCluster === apiCluster)
          .map((environment) => known(tables, environment))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      ),
    listWithoutAccount: ({ apiCluster, environments, units }, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.environments.values()]
          .filter(
            ({ id, workspaceId }) =>
              environments.includes(id) || units.some((unit) => tables.units.get(unit)?.unit.workspaceId === workspaceId),
          )
          .filter(({ workspaceId }) => workspaceOfTables(tables, workspaceId).apiCluster === apiCluster)
          .filter((environment) => environment.state === "connected" && environment.createsAccount && hasNoAccount(tables, environment))
          .map((environment) => known(tables, environment))
          .sort((a, b) => (a.id < b.id ? -1 : 1)),
      ),
    listUsed: (apiCluster, namespace, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.environments.values()]
          .filter(({ workspaceId, state }) => {
            const workspace = workspaceOfTables(tables, workspaceId);
            const isThere = workspace.apiCluster === apiCluster && workspace.namespace === namespace && workspace.state !== "deleting";
            return isThere && state === "connected";
          })
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .map(({ uid }) => uid),
      ),
    listKnown: (apiCluster, { limit, after }, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.environments.values()]
          .filter(({ id, workspaceId }) => id > after && workspaceOfTables(tables, workspaceId).apiCluster === apiCluster)
          .map((environment) => known(tables, environment))
          .sort((a, b) => (a.id < b.id ? -1 : 1))
          .slice(0, limit),
      ),
  };
}

/** What a name means: the connected environment of that name, else the newest. */
export function environmentNamed(tables: Tables, workspaceId: WorkspaceId, name: string | undefined): Environment | undefined {
  if (name === undefined) return undefined;
  const named = tables.environments.where("workspace", workspaceId).filter((environment) => environment.name === name);
  return named.find(({ state }) => state === "connected") ?? named.at(-1);
}

/** Those that a unit's applications deploy to, or are being deleted from, sorted by id. */
export function environmentsOf(tables: Tables, { id, workspaceId }: PlacementUnit): readonly Environment[] {
  const users = applicationsOf(tables, id).map(({ application }) => application);
  return tables.environments
    .where("workspace", workspaceId)
    .filter(({ name, state }) =>
      users.some(
        ({ spec, deletion }) =>
          spec.destination.environment === name && (deletion === "cascade" || (state === "connected" && deletion === "none")),
      ),
    );
}

/** Addresses of the users' clusters that a unit deploys to, sorted. */
export function clustersOf(tables: Tables, unitId: UnitId): readonly string[] {
  const applications = tables.applications.where("unit", unitId);
  if (applications.length === 0) return [];
  const clusters = applications.flatMap(({ application: { workspaceId, spec } }) => {
    return environmentNamed(tables, workspaceId, spec.destination.environment)?.apiUrl ?? [];
  });
  return [...new Set(clusters)].filter((url) => url !== "").sort();
}

function hasNoAccount(tables: Tables, { id, workspaceId }: Environment): boolean {
  return tables.units.where("workspace", workspaceId).some(({ unit }) => {
    if (unit.owner === undefined || unit.phase === "MOVING") return false;
    const account = { unitId: unit.id, instanceId: unit.owner };
    return !tables.credentials.has(environmentCredentialKey(id, workspaceId, { purpose: ACCOUNT_PURPOSE, account }).id);
  });
}

function known(tables: Tables, { id, uid, name, state, generation, workspaceId }: Environment): KnownEnvironment {
  return { id, uid, name, state, generation, namespace: workspaceOfTables(tables, workspaceId).namespace };
}

function claimEnvironment(transaction: Transaction, { workspace, newIds, name, uid }: EnvironmentClaim) {
  const { tables } = transaction;
  const [row] = tables.environments.where("uid", uid);
  if (row !== undefined) return { id: row.id, workspaceId: row.workspaceId, hasAccount: row.hasAccount };
  const [owner] = tables.workspaces.where("identity", workspaceIdentity(workspace));
  const workspaceId = owner?.id ?? newIds.workspaceId;
  if (owner === undefined) tables.workspaces.put(workspaceId, { ...workspace, id: workspaceId, state: "active" });
  for (const other of tables.environments.where("workspace", workspaceId))
    if (other.name === name && other.state !== "leaving") put(transaction, { ...other, state: "leaving" });
  const nothingYet = { generation: 0, state: "withdrawn", apiUrl: "", namespaces: [], fingerprint: "" } as const;
  const flags = { clusterResources: false, isInsecure: false, createsAccount: false, hasAccount: false };
  tables.environments.put(newIds.environmentId, {
    id: newIds.environmentId,
    workspaceId,
    name,
    uid,
    ...nothingYet,
    ...flags,
    unreachableSince: undefined,
  });
  return { id: newIds.environmentId, workspaceId, hasAccount: false };
}

function connect(transaction: Transaction, connection: Connection): boolean {
  const before = transaction.tables.environments.get(connection.id);
  if (before === undefined || before.state === "leaving" || isWithheld(before.withheld)) return false;
  const after: Environment = { ...before, ...connection, state: "connected" };
  const isChanged = canonicalJson({ ...before, generation: 0 }) !== canonicalJson({ ...after, generation: 0 });
  if (isChanged) put(transaction, after);
  else transaction.tables.environments.put(after.id, after);
  return isChanged;
}

function end(transaction: Transaction, environment: Environment): EnvironmentEnd {
  const { tables } = transaction;
  const stands = tables.objects.where("subject", environment.id).length > 0;
  const isNeeded = usersOf(tables, environment).some(({ application }) => application.deletion === "cascade");
  if (stands || isNeeded || environment.hasAccount) {
    if (environment.state !== "leaving") put(transaction, { ...environment, state: "leaving" });
    return stands || isNeeded ? "in-use" : "account-left";
  }
  tables.environments.drop(environment.id);
  tables.credentials.delete(environment.id as string as CredentialId);
  tables.credentials.delete(ownerCredentialId(environment.id));
  const ofAccounts = [...tables.credentials.keys()].filter((id) => id.startsWith(accountCredentialPrefix(environment.id)));
  for (const id of ofAccounts) tables.credentials.delete(id);
  if (environment.state !== "leaving") raise(transaction, environment);
  return "gone";
}

function usersOf(tables: Tables, { workspaceId, name }: Environment): readonly MemoryApplicationRow[] {
  return [...tables.applications.values()].filter(
    ({ application }) => application.workspaceId === workspaceId && application.spec.destination.environment === name,
  );
}

function put(transaction: Transaction, environment: Environment): void {
  transaction.tables.environments.put(environment.id, environment);
  raise(transaction, environment);
}

/** Everything that follows from the environment is wanted anew, and its users should hear of it. */
function raise({ tables, notify }: Transaction, environment: Environment): void {
  const users = usersOf(tables, environment);
  for (const unitId of new Set(users.map(({ application }) => application.unitId))) {
    const row = unitRow(tables, unitId);
    putUnit(tables, { ...row, unit: { ...row.unit, desiredRevision: row.unit.desiredRevision + 1 } });
    notify("unit", unitId);
  }
  for (const row of users) {
    const { id, deletedAt, desiredRevision } = row.application;
    const application = { ...row.application, desiredRevision: desiredRevision + (deletedAt === undefined ? 1 : 0) };
    tables.applications.put(id, { ...row, application, viewRevision: row.viewRevision + 1 });
    notify("application", id);
  }
}
