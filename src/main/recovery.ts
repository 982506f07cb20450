import { randomUUID } from "node:crypto";
import type { Config } from "../config.ts";
import type { Clock } from "../domain/clock.ts";
import { InputError, UnavailableError } from "../domain/errors.ts";
import type { MemberId } from "../domain/ids.ts";
import { ACCOUNTS_NAMESPACE } from "../domain/names.ts";
import { createStanding } from "../mover/adapters/kubernetes/standing.ts";
import { fenceTimeMs } from "../mover/proof.ts";
import { isOlder } from "../mover/recovery/judge-owner.ts";
import { isRecovering, processesOf, type RecoveryDeps } from "../mover/recovery/recover-epochs.ts";
import { systemClock } from "../runtime/clock.ts";
import { keepTrying } from "../runtime/keep-trying.ts";
import { loadKubeconfig } from "../runtime/kube/auth.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createKubeClient } from "../runtime/kube/http.ts";
import { limitTime } from "../runtime/kube/time-limit.ts";
import { systemRng } from "../runtime/rng.ts";
import { createPostgresStore } from "../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../store/port.ts";
import { type Log, silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import type { Context } from "./context.ts";
import { whyWaitForNewDatabase } from "./why-wait.ts";

const REMEDY =
  "Stop every control plane that serves, and run `argosy recover-epochs` with the servers' configuration (docs/instances.md): those that wait go on by themselves";
/** Longer than a process that hangs goes on unseen. In ms. */
const ALONE_MS = 15 * 60_000;
/** An API server that takes longer for one answer keeps nobody waiting to start. In ms. */
const ANSWER_MS = 5_000;
const LEAVE_MS = 5_000;

export interface OldDatabaseDeps {
  readonly store: Pick<Store, "recovery" | "members">;
  readonly api: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Refuses to serve on a database that is older than what was written from it: what it says of owners may be wrong. An API server that does
 * not answer proves nothing, and does not keep anybody from starting. One that does is asked to the end: the accounts of a large fleet are many pages.
 */
export async function refuseOldDatabase({ store, api, clock, log }: OldDatabaseDeps, signal: AbortSignal): Promise<void> {
  if (isRecovering(await store.members.heartbeat(`start-${randomUUID()}` as MemberId, [], 1, signal)))
    throw new InputError("a recovery of the database was begun and has not ended", {
      code: "main.unfinished-recovery",
      path: "database.url",
      remedy: REMEDY,
    });
  const seen = await createStanding(answeringSoon(api, clock), { accounts: ACCOUNTS_NAMESPACE })
    .newestEpoch(signal)
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof UnavailableError)) throw error;
      log.warn({ err: error }, "Starting without knowing whether the database is as new as what stands: the API server does not answer");
      return 0;
    });
  const last = await store.recovery.readLastEpoch(signal);
  if (!isOlder(last, seen)) return;
  throw new InputError(`the database is older than what was written from it: its last epoch is ${last}, and ${seen} stands`, {
    code: "main.old-database",
    path: "database.url",
    remedy: REMEDY,
  });
}

/** The same client, with `UnavailableError` where the answer to one page of a list takes too long. */
function answeringSoon(api: KubeClient, clock: Clock): KubeClient {
  return {
    ...api,
    async listPage(type, options, signal) {
      const limit = limitTime({ clock, doing: `Listing ${type.plural}`, timeoutMs: ANSWER_MS }, signal);
      try {
        return await api.listPage(type, options, limit.signal);
      } finally {
        limit.release();
      }
    },
  };
}

/**
 * Waits, where the database is older than what was written from it or is just being recovered, until it is as new; and until the database
 * and the API cluster answer the question. Raises what never passes by waiting.
 */
export function waitForNewDatabase(context: Context, { store, api }: Pick<OldDatabaseDeps, "store" | "api">): Promise<void> {
  const { clock, log, shutdown } = context;
  const ask = (signal: AbortSignal): Promise<void> => refuseOldDatabase({ store, api, clock, log }, signal);
  return keepTrying(ask, { ...context, name: "recovery", whyWait: whyWaitForNewDatabase }, shutdown.signal);
}

/** Opens what a recovery needs, while no control plane is alive. Throws `InputError` while one is. */
export async function withRecovery<T>(
  { config, database }: { readonly config: Config; readonly database: string },
  use: (deps: RecoveryDeps, audit: Store["audit"]) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { kubeconfig, context, name, singleServer } = config.apiCluster;
  const parts = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
  const store = await createPostgresStore({ ...parts, url: database, poolSize: 2 });
  const credentials = loadKubeconfig(kubeconfig === undefined ? { inCluster: true } : { file: kubeconfig }, context);
  const client = createKubeClient({ ...parts, cluster: name, credentials });
  const self = `recovery-${randomUUID()}` as MemberId;
  try {
    await beAlone(store, self, signal);
    const standing = createStanding(client, { accounts: ACCOUNTS_NAMESPACE });
    return await use({ store, standing, clock: systemClock, fenceMs: fenceTimeMs(singleServer) }, store.audit);
  } finally {
    await store.members.leave(self, AbortSignal.timeout(LEAVE_MS)).catch(() => undefined);
    await client.close();
    await store.close();
  }
}

async function beAlone({ members }: Store, self: MemberId, signal: AbortSignal): Promise<void> {
  const live = await members.heartbeat(self, ["recovery"], ALONE_MS, signal);
  const others = processesOf(live).filter((id) => id !== self);
  if (others.length === 0) return;
  throw new InputError(`${others.join(", ")} ${others.length === 1 ? "is" : "are"} at work`, {
    code: "main.not-alone",
    path: "database.url",
    remedy:
      "Stop every control plane first; one that was killed counts as alive for half a minute, and a killed recovery for a quarter of an hour",
  });
}
