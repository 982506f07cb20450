import type { Clock } from "../../../../domain/clock.ts";
import { DefectError } from "../../../../domain/errors.ts";
import type { CredentialId, RepositoryCredentialId, WorkspaceId } from "../../../../domain/ids.ts";
import { REPOSITORY_PURPOSE } from "../../../../domain/repository-credential.ts";
import type { RepositoryCredentialIntent } from "../../../repository-credential/port.ts";
import { putSealed } from "../credentials/credentials.ts";
import type { Envelope } from "../credentials/envelope.ts";
import type { Database, Run, Statement } from "../database.ts";
import { lockUnitsOf } from "../environments/raise-users.ts";
import { lockUnits } from "../intents/lock-units.ts";
import { sqlText } from "../sql-values.ts";
import { raiseUnits } from "./raise-units.ts";

const READ: Statement = {
  name: "read_repository_credential",
  text: `
select r.id, r.workspace, r.credential, r.generation, r.url, r.resource_created_at as "createdAt", c.fingerprint
  from repository_credential r left join credential c on c.id = r.credential
 where r.uid = $1`,
};

const WRITE: Statement = {
  name: "write_repository_credential",
  text: `
insert into repository_credential (id, workspace, name, uid, generation, resource_created_at, url, url_key, credential, secret_version)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
on conflict (id) do update set name = excluded.name, generation = excluded.generation, resource_created_at = excluded.resource_created_at,
  url = excluded.url, url_key = excluded.url_key, secret_version = excluded.secret_version`,
};

interface Row {
  readonly id: RepositoryCredentialId;
  readonly workspace: WorkspaceId;
  readonly credential: CredentialId;
  readonly generation: number;
  readonly url: string;
  readonly createdAt: string;
  readonly fingerprint: string | null;
}

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly envelope: Envelope;
}

/** Whoever changes what a workspace's units hold has the units' locks first; what is compared then stays as it was read. */
export function recordCredential(
  { database, clock, envelope }: Deps,
  intent: RepositoryCredentialIntent,
  signal: AbortSignal,
): Promise<"created" | "updated" | "unchanged"> {
  return database.transaction(
    "record_repository_credential",
    async (run) => {
      const [workspaceUnit] = (await lockUnits(run, clock, [intent])).values();
      if (workspaceUnit === undefined)
        throw new DefectError("recording a credential in a workspace that was just made", {
          code: "store.unanswered",
          context: { uid: intent.uid },
        });
      // Whoever has several parts is raised in all of them.
      await lockUnitsOf(run, workspaceUnit.workspace);
      const [before] = await run<Row>(READ, [intent.uid]);
      return write(run, { intent, before, workspace: before?.workspace ?? workspaceUnit.workspace, envelope });
    },
    signal,
  );
}

interface Writing {
  readonly intent: RepositoryCredentialIntent;
  readonly before: Row | undefined;
  readonly workspace: WorkspaceId;
  readonly envelope: Envelope;
}

async function write(run: Run, { intent, before, workspace, envelope }: Writing): Promise<"created" | "updated" | "unchanged"> {
  if (before !== undefined && intent.generation < before.generation) return "unchanged";
  const { name, uid, generation, createdAt, url, urlKey, secretVersion, newIds } = intent;
  const key = { id: before?.credential ?? newIds.credentialId, owner: workspace, purpose: REPOSITORY_PURPOSE };
  const sealed = envelope.seal(key, intent.secret);
  const isSame = before?.url === url && before.createdAt === createdAt && before.fingerprint === sealed.fingerprint;
  const id = before?.id ?? newIds.repositoryCredentialId;
  await run(WRITE, [id, workspace, sqlText(name), uid, generation, createdAt, sqlText(url), sqlText(urlKey), key.id, secretVersion]);
  if (isSame) return "unchanged";
  await putSealed(run, key, sealed);
  await raiseUnits(run, [workspace]);
  return before === undefined ? "created" : "updated";
}
