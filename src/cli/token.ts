import { randomBytes } from "node:crypto";
import { tokenHash } from "../api/auth.ts";
import { InputError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { TokenRole } from "../store/token/port.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";

export interface TokenOptions {
  readonly name: string;
  readonly role: TokenRole;
  readonly database?: string;
}

/** Makes a token of 256 random bits, stores its hash and returns it: the only moment it can be read. */
export async function createToken(options: TokenOptions, env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const url = options.database ?? env["DATABASE_URL"];
  if (url === undefined) {
    throw new InputError("no database to store the token in", {
      code: "cli.no-database",
      path: "--database",
      remedy: "Give --database or set DATABASE_URL",
    });
  }
  if (!/^[a-z0-9][a-z0-9.-]{0,62}$/.test(options.name)) {
    throw new InputError(`${options.name} is no token name`, {
      code: "cli.token-name",
      path: "name",
      remedy: "Use up to 63 lower-case letters, digits, dots and dashes",
    });
  }
  const signal = AbortSignal.timeout(30_000);
  await migrate({ url, log: silentLog, signal });
  const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
  try {
    const token = `argosy_${randomBytes(32).toString("base64url")}`;
    await store.tokens.put({ name: options.name, role: options.role }, tokenHash(token), signal);
    return token;
  } finally {
    await store.close();
  }
}
