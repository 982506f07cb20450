import type { Clock } from "../../../../domain/clock.ts";
import type { KeyRing } from "../../../credential/port.ts";
import type {
  KnownRepositoryCredential,
  RepositoryCredentialStore,
  RepositoryCredentialView,
} from "../../../repository-credential/port.ts";
import { envelopeOf } from "../credentials/credentials.ts";
import type { Database, Statement } from "../database.ts";
import { REPOSITORY_CREDENTIAL } from "../rows.ts";
import { UNIT_APPLIED_REVISION } from "../shards/read-applications.ts";
import { recordCredential } from "./record-credential.ts";
import { revokeCredentials } from "./revoke-credentials.ts";

const OF_WORKSPACE: Statement = {
  name: "list_repository_credentials_of_workspace",
  text: `
select ${REPOSITORY_CREDENTIAL} as credential, d.delivery
  from workspace w
 cross join lateral (
   select case when bool_or(u.owner is null) then 'unplaced'
               when bool_and(${UNIT_APPLIED_REVISION} >= u.desired_revision) then 'delivered'
               else 'under-way' end as delivery
     from placement_unit u where u.workspace = w.id) as d
  join repository_credential r on r.workspace = w.id
 where w.plane = $1 and w.api_cluster = $2 and w.namespace_uid = $3
 order by r.id`,
};

const KNOWN: Statement = {
  name: "list_known_repository_credentials",
  text: `
select r.uid, r.generation, w.namespace, r.name, r.url, r.secret_version as "secretVersion"
  from repository_credential r
 cross join lateral (select namespace from workspace where id = r.workspace and api_cluster = $1 offset 0) as w
 where r.uid > $3
 order by r.uid
 limit $2`,
};

export function createRepositoryCredentialStore(database: Database, clock: Clock, ring: KeyRing | undefined): RepositoryCredentialStore {
  return {
    record: (intent, signal) => recordCredential({ database, clock, envelope: envelopeOf(ring) }, intent, signal),
    revoke: (uids, signal) => revokeCredentials(database, uids, signal),
    listOfWorkspace: ({ plane, apiCluster, namespaceUid }, signal) =>
      database.run<RepositoryCredentialView>(OF_WORKSPACE, [plane, apiCluster, namespaceUid], signal),
    listKnown: (apiCluster, { limit, after }, signal) => database.run<KnownRepositoryCredential>(KNOWN, [apiCluster, limit, after], signal),
  };
}
