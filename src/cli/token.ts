import { randomBytes } from "node:crypto";
import { tokenHash } from "../api/auth.ts";
import { GoneError, InputError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { ApiToken, TokenRole, TokenStore } from "../store/token/port.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";

export interface TokenOptions {
  readonly name: string;
  readonly role: TokenRole;
  /** Connection string. */
  readonly database: string;
}

/** Makes a token of 256 random bits, stores its hash and returns it: the only moment it can be read. */
export async function createToken({ name, role, database }: TokenOptions): Promise<string> {
  if (!/^[a-z0-9][a-z0-9.-]{0,62}$/.test(name)) {
    throw new InputError(`${name} is no token name`, {
      code: "cli.token-name",
      path: "name",
      remedy: "Use up to 63 lower-case letters, digits, dots and dashes",
    });
  }
  // A token is often the first thing made in an empty database. One that servers use is theirs to change.
  await migrate({ url: database, log: silentLog, signal: deadline(), onlyEmpty: true });
  const token = `argosy_${randomBytes(32).toString("base64url")}`;
  await withTokens(database, (tokens) => tokens.put({ name, role }, tokenHash(token), deadline()));
  return token;
}

/** Every token's name and role, sorted by name. */
export async function listTokens(database: string): Promise<readonly ApiToken[]> {
  const found = await withTokens(database, (tokens) => tokens.list(deadline()));
  return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Throws `GoneError` when there is none of that name. */
export async function deleteToken(database: string, name: string): Promise<void> {
  await withTokens(database, async (tokens) => {
    if (!(await tokens.list(deadline())).some((token) => token.name === name)) {
      throw new GoneError(`there is no token ${name}; \`argosy token list\` names them`, { code: "cli.no-token" });
    }
    await tokens.remove(name, deadline());
  });
}

const deadline = () => AbortSignal.timeout(30_000);

async function withTokens<T>(url: string, use: (tokens: TokenStore) => Promise<T>): Promise<T> {
  const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
  try {
    return await use(store.tokens);
  } finally {
    await store.close();
  }
}
