import type { Knex } from "knex";
import pg from "pg";
import type { Clock } from "../../../domain/clock.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { traced } from "../../../telemetry/tracing.ts";
import { connectionSettings } from "./connection-settings.ts";
import { isCollision, isConnectionLost, translate } from "./sql-state.ts";

/**
 * A named statement: prepared once per connection, counted and timed under its name.
 *
 * How they are written: a batch comes as arrays, sorted by key, and each row is looked up by `cross join lateral (… offset 0)`
 * or `(… for no key update)`. Neither is flattened, so that the plan is one index probe per row of the batch in the batch's
 * order whatever the planner believes about sizes: rows are locked in that order by everybody (an `exists` stands within the
 * parentheses: outside, the planner may join it to the batch first, by a hash that turns its order round), and a plan made on young tables
 * stays a good one (joins written plainly took 500 × 10,000 comparisons then). For the same reason hot statements change rows
 * that are there, and locked, by `insert … on conflict do update`: it never reads a whole table to find them.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Absent: it is. One whose text depends on what is asked for is not. */
  readonly isPrepared?: boolean;
}

/** Runs statements one after the other, on one connection within a transaction or each on any. */
export type Run = <Row>(statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

export interface Database {
  /** Runs one statement as a transaction of its own. */
  run<Row>(statement: Statement, values: readonly unknown[], signal: AbortSignal): Promise<readonly Row[]>;
  /** The same of a statement that was built for what is asked for. It is counted and timed under this name, and not prepared. */
  query<Row>(name: string, built: Knex.QueryBuilder, signal: AbortSignal): Promise<readonly Row[]>;
  /** Runs several as one; what `work` throws rolls them back. `work` may run again after a collision. */
  transaction<Result>(name: string, work: (run: Run) => Promise<Result>, signal: AbortSignal): Promise<Result>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Connections at most. */
  readonly poolSize: number;
}

/** How often a statement that collided with others (deadlock, serialisation) is sent before the caller has to back off. */
const ATTEMPTS = 5;
/** Connections are renewed this often: plans then know how tables have grown, and a fail-over is followed. */
const LIFETIME_S = 600;
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];

/**
 * A pool of connections. Failures come out translated (`sql-state.ts`). A signal that aborts ends the wait at once and gives up
 * the connection with whatever runs on it: the server rolls it back or has committed it.
 */
export function createDatabase({ url, clock, log, metrics, poolSize }: DatabaseOptions): Database {
  const pool = new pg.Pool({ ...connectionSettings(url), max: poolSize, maxLifetimeSeconds: LIFETIME_S });
  // An idle connection that breaks is replaced when it is needed; without a listener it would end the process.
  pool.on("error", (error) => log.warn({ error }, "Losing an idle connection to the database"));
  // So it would between two statements of a transaction: the next of them fails, and says so to its caller.
  pool.on("connect", (client) => client.on("error", (error) => log.debug({ error }, "Losing a connection to the database")));
  const statements = metrics.counter(
    "argosy_store_statements_total",
    "Statements sent to the database, round trips of transactions included.",
    ["statement"],
  );
  const seconds = metrics.histogram("argosy_store_statement_seconds", "Time from sending a statement to its last row.", SECONDS, [
    "statement",
  ]);

  const send = async <Row>(
    client: pg.PoolClient,
    { name, text, isPrepared = true }: Statement,
    values: readonly unknown[],
  ): Promise<readonly Row[]> => {
    const labels = { statement: name };
    const startMs = clock.monotonicMs();
    statements.add(1, labels);
    try {
      const query = { text, values: [...values], ...(isPrepared ? { name } : {}) };
      return (await traced({ name, kind: "client", attributes: POSTGRES }, () => client.query(query))).rows as Row[];
    } finally {
      seconds.observe((clock.monotonicMs() - startMs) / 1000, labels);
    }
  };

  const attempt = async <Result>(name: string, work: (client: pg.PoolClient) => Promise<Result>, signal: AbortSignal): Promise<Result> => {
    for (let count = 1; ; count += 1) {
      try {
        return await withClient(pool, work, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (!isCollision(error) || count === ATTEMPTS) throw translate(name, error);
        log.debug({ statement: name, count }, "Trying again after a collision");
      }
    }
  };

  return {
    run: (statement, values, signal) => attempt(statement.name, (client) => send(client, statement, values), signal),
    query(name, built, signal) {
      const { sql, bindings } = built.toSQL().toNative();
      return attempt(name, (client) => send(client, { name, text: sql, isPrepared: false }, bindings), signal);
    },
    transaction: (name, work, signal) =>
      attempt(
        name,
        async (client) => {
          await send(client, BEGIN, []);
          try {
            const result = await work((statement, values) => send(client, statement, values));
            await send(client, COMMIT, []);
            return result;
          } catch (error) {
            if (!isConnectionLost(error)) await send(client, ROLLBACK, []);
            throw error;
          }
        },
        signal,
      ),
    close: () => pool.end(),
  };
}

const POSTGRES = { "db.system.name": "postgresql" };
const BEGIN: Statement = { name: "begin", text: "begin", isPrepared: false };
const COMMIT: Statement = { name: "commit", text: "commit", isPrepared: false };
const ROLLBACK: Statement = { name: "rollback", text: "rollback", isPrepared: false };

async function withClient<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>, signal: AbortSignal): Promise<Result> {
  const client = await connect(pool, signal);
  let isReleased = false;
  const release = (isBroken: boolean): void => {
    if (!isReleased) client.release(isBroken);
    isReleased = true;
  };
  try {
    const result = await orAborted(work(client), signal, () => release(true));
    release(false);
    return result;
  } catch (error) {
    release(isConnectionLost(error));
    throw error;
  }
}

/** Waits for a connection; one that comes after the signal goes back unused. */
async function connect(pool: pg.Pool, signal: AbortSignal): Promise<pg.PoolClient> {
  signal.throwIfAborted();
  const connecting = pool.connect();
  return orAborted(
    connecting,
    signal,
    () =>
      void connecting.then(
        (client) => client.release(),
        () => {},
      ),
  );
}

function orAborted<Result>(work: Promise<Result>, signal: AbortSignal, onAborted: () => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      onAborted();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
