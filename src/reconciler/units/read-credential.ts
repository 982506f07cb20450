import { DefectError, InputError } from "../../domain/errors.ts";
import type { CredentialKey, CredentialStore } from "../../store/credential/port.ts";
import type { Log } from "../../telemetry/log.ts";

export interface ReadCredentialDeps {
  readonly credentials: Pick<CredentialStore, "read">;
  readonly log: Log;
}

/**
 * Reads what is stored of a credential and returns what `parse` makes of the text (`undefined`: nothing is stored). A credential that
 * cannot be read is the trouble of whatever needs it, not of its whole unit: then the log says so, and `undefined` is returned.
 *
 * @throws UnavailableError when the store is away, and whatever `parse` throws but defects and wrong input
 */
export async function readCredential<T>(
  { credentials, log }: ReadCredentialDeps,
  key: CredentialKey,
  parse: (text: string | undefined) => T | undefined,
  signal: AbortSignal,
): Promise<T | undefined> {
  const leaveOut = (err: unknown): undefined => {
    log.warn({ credential: key.id, owner: key.owner, purpose: key.purpose, err }, "Leaving out a credential that cannot be read");
  };
  try {
    return parse(await credentials.read(key, signal)) ?? leaveOut(undefined);
  } catch (error) {
    // Another's bytes, or a key this process was not given: reading again gives the same.
    if (error instanceof DefectError || error instanceof InputError) return leaveOut(error);
    throw error;
  }
}
