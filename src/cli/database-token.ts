import { randomBytes } from "node:crypto";
import type { TokenRole } from "../store/token/port.ts";
import { type ConnectionOptions, findDatabase } from "./connection.ts";
import { clientOf } from "./remote.ts";
import type { RestClient } from "./rest-client.ts";
import type { Terminal } from "./terminal.ts";
import { withPassingToken } from "./token.ts";

export interface DatabaseTokenOptions extends ConnectionOptions {
  /** Make a token for this command in the database, instead of being given one. */
  readonly databaseToken?: true;
}

/** Words of the option, for every command that has it. */
export const DATABASE_TOKEN = [
  "--database-token",
  "make a token for this command in the database of DATABASE_URL, and delete it after; for Jobs that run beside the servers",
] as const;

/**
 * Calls `use` with the client of the connection. With `databaseToken` its token is made in the database for this call alone, under a name of its
 * own, and deleted whatever becomes of the call: no token has to be kept anywhere. A process that is killed leaves its token
 * (`command-…` in `argosy token list`), which ends by itself.
 */
export async function withClient<T>(
  options: DatabaseTokenOptions,
  role: TokenRole,
  terminal: Terminal,
  use: (client: RestClient) => Promise<T>,
): Promise<T> {
  if (options.databaseToken !== true) return use(clientOf(options, terminal));
  const database = findDatabase(options, terminal.env);
  const name = `command-${randomBytes(6).toString("hex")}`;
  return withPassingToken({ name, role, database }, (token) => use(clientOf({ ...options, token }, terminal)));
}
