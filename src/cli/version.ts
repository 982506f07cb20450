import { InputError, UnavailableError } from "../domain/errors.ts";
import { errorText } from "./error-text.ts";
import { renderOne } from "./output.ts";
import { clientOf, type RemoteOptions } from "./remote.ts";
import type { Terminal } from "./terminal.ts";

/**
 * `argosy version`: always that of this program; that of the server too where a fleet is found. A server that is away is
 * worth a note, not a failure: what was asked is answered.
 */
export async function askVersions(options: RemoteOptions, terminal: Terminal): Promise<void> {
  const server = await askServer(options, terminal);
  if (options.output !== "table") return terminal.write(renderOne({ argosy: terminal.version, server: server ?? null }, options.output));
  terminal.write(server === undefined ? `argosy ${terminal.version}` : `argosy ${terminal.version}\nserver ${server}`);
}

async function askServer(options: RemoteOptions, terminal: Terminal): Promise<string | undefined> {
  try {
    return (await clientOf(options, terminal).get<{ readonly version: string }>("/v1/version")).version;
  } catch (error) {
    if (error instanceof InputError && error.code === "cli.no-connection") return undefined;
    if (!(error instanceof UnavailableError)) throw error;
    terminal.note(errorText(error));
    return undefined;
  }
}
