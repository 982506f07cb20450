import { environmentCredentialKey } from "../../../../domain/environment.ts";
import { GoneError } from "../../../../domain/errors.ts";
import type { WorkspaceId } from "../../../../domain/ids.ts";
import type { KeyRing } from "../../../credential/port.ts";
import type { EnvironmentSecret } from "../../../environment/port.ts";
import { envelopeOf, putSealed } from "../credentials/credentials.ts";
import type { Database, Statement } from "../database.ts";

const WORKSPACE_OF: Statement = { name: "workspace_of_environment", text: "select workspace from environment where id = $1" };

/** Whoever ends a workspace locks it first, and whoever ends an environment its row: both wait, and find what was stored. */
const KEEP_WORKSPACE: Statement = {
  name: "keep_workspace_of_environment",
  text: "select id from workspace where id = $1 for key share",
};
const KEEP: Statement = { name: "keep_environment", text: "select id from environment where id = $1 for key share" };

export function putEnvironmentCredential(
  { database, ring }: { readonly database: Database; readonly ring: KeyRing | undefined },
  { id, use, plaintext }: EnvironmentSecret,
  signal: AbortSignal,
): Promise<string> {
  const envelope = envelopeOf(ring);
  return database.transaction(
    "put_credential_of_environment",
    async (run) => {
      const [row] = await run<{ readonly workspace: WorkspaceId }>(WORKSPACE_OF, [id]);
      if (row !== undefined) await run(KEEP_WORKSPACE, [row.workspace]);
      const [kept] = await run(KEEP, [id]);
      if (row === undefined || kept === undefined)
        throw new GoneError("storing a credential of an environment", { code: "store.environment-gone", context: { environment: id } });
      const key = environmentCredentialKey(id, row.workspace, use);
      const sealed = envelope.seal(key, plaintext);
      await putSealed(run, key, sealed);
      return sealed.fingerprint;
    },
    signal,
  );
}
