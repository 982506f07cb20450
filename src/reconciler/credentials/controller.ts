import { DefectError, InputError } from "../../domain/errors.ts";
import type { CredentialKey, CredentialStore } from "../../store/credential/port.ts";
import type { Log } from "../../telemetry/log.ts";

/** Reads what is stored of credentials. One that cannot be read is the trouble of whatever needs it, not of its whole unit. */
export interface CredentialReader {
  /**
   * What `parse` makes of the stored text (`undefined`: nothing is stored). `undefined` where that is nothing, or where what is stored
   * cannot be opened; the log says so.
   *
   * @throws UnavailableError when the store is away, and whatever `parse` throws but defects
   */
  read<T>(key: CredentialKey, parse: (text: string | undefined) => T | undefined, signal: AbortSignal): Promise<T | undefined>;
}

export interface CredentialReaderDeps {
  readonly credentials: Pick<CredentialStore, "read">;
  readonly log: Log;
}

export function createCredentialReader({ credentials, log }: CredentialReaderDeps): CredentialReader {
  return {
    async read(key, parse, signal) {
      const leftOut = (err: unknown): undefined => {
        log.warn({ credential: key.id, owner: key.owner, purpose: key.purpose, err }, "Leaving out a credential that cannot be read");
      };
      try {
        return parse(await credentials.read(key, signal)) ?? leftOut(undefined);
      } catch (error) {
        // Another's bytes, or a key this process was not given: reading again gives the same.
        if (error instanceof DefectError || error instanceof InputError) return leftOut(error);
        throw error;
      }
    },
  };
}
