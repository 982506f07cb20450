import pg from "pg";
import { CHANGE_KINDS, type Change, type ChangeKind } from "../../../domain/change.ts";
import type { Clock } from "../../../domain/clock.ts";
import { backoffMs } from "../../../runtime/backoff.ts";
import { sleep } from "../../../runtime/clock.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { ChangeFeed } from "../../port.ts";
import { type ChangeProbeOptions, createChangeProbe } from "./change-probe.ts";
import { connectionSettings } from "./connection-settings.ts";

export interface PostgresChangeFeed extends ChangeFeed {
  close(): Promise<void>;
}

export interface ChangeFeedOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: ChangeProbeOptions["ids"];
  readonly send: ChangeProbeOptions["send"];
}

type Listener = (changes: readonly Change[] | "missed") => void;

const RECONNECT = { minMs: 100, maxMs: 5_000 };
/** A connection that nothing comes in on may be a dead one: it is asked this often, and given up when it does not answer. */
const ASK_EVERY_MS = 15_000;

/**
 * Notifications by LISTEN on a connection of its own, which is made when somebody subscribes first and made again, with growing
 * pauses, whenever it breaks. What was sent meanwhile is lost: after each connection subscribers learn so.
 */
export function createChangeFeed({ url, clock, log, ids, send }: ChangeFeedOptions): PostgresChangeFeed {
  const listeners = new Set<Listener>();
  const ending = new AbortController();
  const gathered = new Map<string, Change>();
  let isConnected = false;
  let running: Promise<void> | undefined;

  const tell = (listener: Listener, notifications: readonly Change[] | "missed"): void => {
    if (!listeners.has(listener)) return;
    try {
      listener(notifications);
    } catch (error) {
      log.error({ error }, "Going on after a subscriber of changes failed");
    }
  };
  const tellAll = (notifications: readonly Change[] | "missed"): void =>
    [...listeners].forEach((listener) => tell(listener, notifications));
  const deliver = (): void => {
    const changes = [...gathered.values()];
    gathered.clear();
    if (changes.length > 0) tellAll(changes);
  };
  const gather = (payload: string): void => {
    if (probe.isProbe(payload)) return;
    const change = parseNotification(payload);
    if (change === undefined) return log.warn({ payload }, "Passing over a notification of an unknown kind");
    // All that one read of the socket brought is one batch.
    if (gathered.size === 0) setImmediate(deliver);
    gathered.set(payload, change);
  };

  const listen = async (signal: AbortSignal): Promise<void> => {
    const client = new pg.Client(connectionSettings(url));
    const broken = new Promise<never>((_resolve, reject) => {
      client.on("error", reject);
      client.on("end", () => reject(new Error("the connection ended")));
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    broken.catch(() => {});
    client.on("notification", ({ payload = "" }) => gather(payload));
    try {
      await Promise.race([client.connect().then(() => client.query("listen argosy")), broken]);
      isConnected = true;
      log.info({}, "Listening for changes");
      tellAll("missed");
      for (;;) await Promise.race([sleep(clock, ASK_EVERY_MS, signal).then(() => client.query("select")), broken]);
    } finally {
      isConnected = false;
      await client.end().catch(() => {});
    }
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    for (let failures = 1; !signal.aborted; failures += 1) {
      const startMs = clock.monotonicMs();
      await listen(signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn({ error }, "Connecting anew to hear of changes");
      });
      if (clock.monotonicMs() - startMs > ASK_EVERY_MS) failures = 1;
      await sleep(clock, backoffMs(failures, RECONNECT, Math.random()), signal).catch(() => {});
    }
  };

  const subscribe = (listener: Listener): (() => void) => {
    // A function of its own, so that one that subscribes twice is notified twice and leaves once.
    const own: Listener = (notifications) => listener(notifications);
    listeners.add(own);
    if (isConnected) setImmediate(tell, own, "missed");
    if (!ending.signal.aborted) running ??= run(ending.signal);
    return () => void listeners.delete(own);
  };

  const probe = createChangeProbe({ ids, send, subscribe });
  return {
    subscribe,
    hears: probe.hears,
    isConnected: () => isConnected,
    async close() {
      listeners.clear();
      ending.abort(new Error("the store closes"));
      await running;
    },
  };
}

/** `kind:id`; `undefined` for a kind this version does not know. */
function parseNotification(payload: string): Change | undefined {
  const colon = payload.indexOf(":");
  const kind = CHANGE_KINDS.find((known): known is ChangeKind => known === payload.slice(0, colon));
  return kind === undefined ? undefined : { kind, id: payload.slice(colon + 1) };
}
