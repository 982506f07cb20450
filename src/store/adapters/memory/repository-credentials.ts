import type { WorkspaceId } from "../../../domain/ids.ts";
import { REPOSITORY_PURPOSE, type RepositoryCredential } from "../../../domain/repository-credential.ts";
import type {
  KnownRepositoryCredential,
  RepositoryCredentialIntent,
  RepositoryCredentialStore,
  RepositoryCredentialView,
} from "../../repository-credential/port.ts";
import { putUnit, workspaceOfTables } from "./applications.ts";
import { ensureUnit } from "./intents.ts";
import { unitAppliedRevision } from "./shards.ts";
import { type Tables, type Transact, type Transaction, workspaceIdentity } from "./tables.ts";

export function createMemoryRepositoryCredentialStore(transact: Transact): RepositoryCredentialStore {
  return {
    record: (intent, signal) => transact(signal, (transaction) => record(transaction, intent)),
    revoke: (uids, signal) => transact(signal, (transaction) => revoke(transaction, uids)),
    listOfWorkspace: (workspace, signal) =>
      transact(signal, ({ tables }) => {
        const [known] = tables.workspaces.where("identity", workspaceIdentity(workspace));
        return known === undefined ? [] : tables.repositoryCredentials.where("workspace", known.id).map((one) => viewOf(tables, one));
      }),
    listKnown: (apiCluster, { limit, after }, signal) =>
      transact(signal, ({ tables }) =>
        listKnown(tables, apiCluster)
          .filter(({ uid }) => uid > after)
          .slice(0, limit),
      ),
  };
}

function record(transaction: Transaction, intent: RepositoryCredentialIntent): "created" | "updated" | "unchanged" {
  const { tables } = transaction;
  const { workspaceId } = ensureUnit(transaction, intent);
  const [before] = tables.repositoryCredentials.where("uid", intent.uid);
  if (before !== undefined && intent.generation < before.generation) return "unchanged";
  const { name, uid, generation, createdAt, url, urlKey, secretVersion, newIds } = intent;
  const after: RepositoryCredential = {
    ...(before ?? { id: newIds.repositoryCredentialId, credentialId: newIds.credentialId, workspaceId }),
    name,
    uid,
    generation,
    createdAt,
    url,
    urlKey,
    secretVersion,
  };
  const known = tables.credentials.get(after.credentialId)?.plaintext;
  const isSame = before?.url === url && before.createdAt === createdAt && known === intent.secret;
  tables.repositoryCredentials.put(after.id, after);
  if (isSame) return "unchanged";
  tables.credentials.set(after.credentialId, { owner: after.workspaceId, purpose: REPOSITORY_PURPOSE, plaintext: intent.secret });
  raiseUnits(transaction, after.workspaceId);
  return before === undefined ? "created" : "updated";
}

function revoke(transaction: Transaction, uids: readonly string[]): void {
  const { tables } = transaction;
  const doomed = uids.flatMap((uid) => tables.repositoryCredentials.where("uid", uid));
  for (const { id, credentialId } of doomed) {
    tables.repositoryCredentials.drop(id);
    tables.credentials.delete(credentialId);
  }
  for (const workspaceId of new Set(doomed.map((one) => one.workspaceId))) raiseUnits(transaction, workspaceId);
}

function raiseUnits({ tables, notify }: Transaction, workspaceId: WorkspaceId): void {
  for (const row of tables.units.where("workspace", workspaceId)) {
    putUnit(tables, { ...row, unit: { ...row.unit, desiredRevision: row.unit.desiredRevision + 1 } });
    notify("unit", row.unit.id);
  }
  notify("repository", workspaceId);
}

function viewOf(tables: Tables, credential: RepositoryCredential): RepositoryCredentialView {
  const units = tables.units.where("workspace", credential.workspaceId).map(({ unit }) => unit);
  if (units.some(({ owner }) => owner === undefined)) return { credential, delivery: "unplaced" };
  const isDelivered = units.every((unit) => unitAppliedRevision(tables, unit) >= unit.desiredRevision);
  return { credential, delivery: isDelivered ? "delivered" : "under-way" };
}

function listKnown(tables: Tables, apiCluster: string): readonly KnownRepositoryCredential[] {
  return [...tables.repositoryCredentials.values()]
    .filter(({ workspaceId }) => workspaceOfTables(tables, workspaceId).apiCluster === apiCluster)
    .map(({ uid, generation, workspaceId, name, url, secretVersion }) => ({
      uid,
      generation,
      name,
      url,
      secretVersion,
      namespace: workspaceOfTables(tables, workspaceId).namespace,
    }))
    .sort((a, b) => (a.uid < b.uid ? -1 : 1));
}
