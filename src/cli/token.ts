import type { TokenView } from "../api/schema.ts";
import { makeToken, revokeToken } from "../api/token-orders.ts";
import { tokenView } from "../api/views.ts";
import type { Scope } from "../domain/scope.ts";
import { systemClock } from "../runtime/clock.ts";
import { migrate } from "../store/adapters/postgres/migrate.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import type { TokenRecord, TokenRole } from "../store/token/port.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { type CliEnvironment, type ConnectionOptions, findConnection, findDatabase } from "./connection.ts";
import { recordCommand, recordMigrated } from "./record-command.ts";
import { createRestClient } from "./rest-client.ts";

/** A token as people ask for it. */
export interface TokenRequest {
  readonly name: string;
  readonly role: TokenRole;
  /** Absent: the role is for the whole fleet. */
  readonly scope?: Scope | undefined;
  readonly owner?: string | undefined;
  /** `null`: without end. Absent: the usual. */
  readonly expiresInSeconds?: number | null | undefined;
}

export type MadeToken = TokenView & { readonly token: string };

/** Where tokens are made and revoked: at a server, by who has an approver's token, or in the database itself. */
export interface TokenPlace {
  create(request: TokenRequest): Promise<MadeToken>;
  list(): Promise<readonly TokenView[]>;
  revoke(name: string): Promise<void>;
}

export type TokenPlaceOptions = ConnectionOptions & { readonly database?: string };

/**
 * The server where both its address and a token for it are typed or in the environment, and no database is typed; else the database, which is
 * where the first token comes from.
 */
export function findTokens(options: TokenPlaceOptions, env: CliEnvironment): TokenPlace {
  const isServerNamed = (options.url ?? env["ARGOSY_URL"]) !== undefined;
  const tokens = [options.token, options.tokenFile, env["ARGOSY_TOKEN"], env["ARGOSY_TOKEN_FILE"]];
  const isTokenNamed = tokens.some((one) => one !== undefined);
  if (options.database === undefined && options.state === undefined && isServerNamed && isTokenNamed) return tokensAt(options, env);
  return tokensIn(findDatabase(options, env), `database:${env["USER"] ?? env["LOGNAME"] ?? "somebody"}`);
}

function tokensAt(options: ConnectionOptions, env: CliEnvironment): TokenPlace {
  const client = createRestClient(findConnection(options, env));
  return {
    create: (request) => client.post<MadeToken>("/v1/tokens", request),
    list: async () => (await client.get<{ readonly items: readonly TokenView[] }>("/v1/tokens")).items,
    revoke: (name) => client.delete(`/v1/tokens/${encodeURIComponent(name)}`),
  };
}

function tokensIn(database: string, actor: string): TokenPlace {
  return {
    async create(request) {
      const { secret, record } = await makeIn(database, { ...request, actor });
      return { ...tokenView(record), token: secret };
    },
    list: async () => (await listTokens(database)).map(tokenView),
    revoke: (name) =>
      withStore(database, ({ tokens, audit }) =>
        recordCommand({ audit, action: "revokeToken", target: name, details: {} }, () =>
          revokeToken({ tokens, clock: systemClock }, { name, actor }, deadline()),
        ),
      ),
  };
}

/** Who makes tokens for programs: no token has this name (`firstMaker`). */
const IN_DATABASE = "database:program";

/** Makes a token in the database, and returns it. */
export async function createToken({ database, ...request }: TokenRequest & { readonly database: string }): Promise<string> {
  return (await makeIn(database, { ...request, actor: IN_DATABASE })).secret;
}

/** How long a token of one command is good that is killed before it can take it back, in s. */
const PASSING_S = 900;

/** Makes a token in the database for what `use` does, and takes it back. The journal tells nothing of it: it goes with the command. */
export async function withPassingToken<T>(
  { name, role, database }: TokenRequest & { readonly database: string },
  use: (token: string) => Promise<T>,
): Promise<T> {
  const { secret } = await makeIn(database, { name, role, expiresInSeconds: PASSING_S, actor: IN_DATABASE, isPassing: true });
  try {
    return await use(secret);
  } finally {
    await withStore(database, ({ tokens, audit }) =>
      recordCommand({ audit, action: "revokeToken", target: name, details: {} }, () => tokens.remove(name, deadline())),
    );
  }
}

/** Every token of the database, by name. */
export function listTokens(database: string): Promise<readonly TokenRecord[]> {
  return withStore(database, ({ tokens }) => tokens.list(deadline()));
}

async function makeIn(database: string, order: Parameters<typeof makeToken>[1]): ReturnType<typeof makeToken> {
  // A token is often the first thing made in an empty database. One that servers use is theirs to change.
  const { applied } = await migrate({ url: database, log: silentLog, signal: deadline(), onlyEmpty: true });
  const { name, role, scope } = order;
  return withStore(database, async ({ tokens, audit }) => {
    await recordMigrated(audit, applied);
    return recordCommand({ audit, action: "createToken", target: name, details: { role, ...(scope && { scope: { ...scope } }) } }, () =>
      makeToken({ tokens, clock: systemClock }, order, deadline()),
    );
  });
}

const deadline = () => AbortSignal.timeout(30_000);

async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 1 });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
