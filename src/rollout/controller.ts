import type { Clock, Millis } from "../domain/clock.ts";
import type { Freeze } from "../domain/directive.ts";
import { StaleError } from "../domain/errors.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { Rng } from "../domain/rng.ts";
import type { InstanceSight, Rollout } from "../domain/rollout.ts";
import { createKeyedQueue, type WorkResult } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { assignDecision, outcomeDecision } from "./decisions.ts";
import { nextRollout, presentOf, versionOf } from "./next-rollout.ts";
import type { InstanceSights } from "./port.ts";
import { resyncOf } from "./resync.ts";

export interface RolloutsDeps {
  readonly store: Pick<Store, "rollouts" | "fleet" | "directives" | "changes">;
  readonly sights: InstanceSights;
  /** Why a freeze holds now; `undefined`: none does. */
  readonly freezeAt: (freezes: readonly Freeze[], now: Millis) => { readonly reason: string } | undefined;
  /** By `rollout`: one process works on the one that is live. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Carries the live rollout on. */
export interface Rollouts {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Looks once, and does what is to be done. */
  look(signal: AbortSignal): Promise<WorkResult>;
}

const KEY = "rollout";
/** How often a live rollout's wave is looked at: a crash is rolled back within seconds. In ms. */
const LOOK_MS = 5_000;
const RESYNC_MS = 60_000;
const AT_ONCE = 10;

export function createRollouts(deps: RolloutsDeps): Rollouts {
  const { store, sights, freezeAt, partition, clock, rng, log } = deps;
  const ending = new AbortController();
  const verdicts = deps.metrics.counter("argosy_rollout_verdicts_total", "What rollouts came to, step by step.", ["verdict"]);

  const lookAt = async (rollout: Rollout, rows: ReadonlyMap<InstanceId, Instance>, spec: FleetSpec | undefined, signal: AbortSignal) => {
    const wave = rollout.waves[rollout.wave];
    const present = wave === undefined ? [] : presentOf({ instances: rows }, wave);
    const resyncMs = resyncOf(spec, [...new Set(present.flatMap(({ id }) => rows.get(id)?.pool ?? []))]);
    const found = new Map<InstanceId, InstanceSight>();
    for (let from = 0; from < present.length; from += AT_ONCE)
      await Promise.all(
        present.slice(from, from + AT_ONCE).map(async ({ id, readyAt, askedAt }) => {
          const instance = rows.get(id);
          const request = { releases: spec?.versions.catalogue ?? [], version: rollout.version, since: readyAt ?? askedAt, resyncMs };
          const sight = instance === undefined ? undefined : await sights.look(instance, request, signal);
          if (sight !== undefined) found.set(id, sight);
        }),
      );
    return { sights: found, resyncMs };
  };
  /** A row that somebody else changes at this moment is told by the next look. */
  const assign = async (rollout: Rollout, rows: ReadonlyMap<InstanceId, Instance>, signal: AbortSignal): Promise<void> => {
    for (const one of presentOf({ instances: rows }, rollout.waves[rollout.wave] ?? { instances: [] })) {
      const instance = rows.get(one.id);
      const version = versionOf(rollout, one, rollout.wave);
      if (instance === undefined || version === undefined || version === instance.desiredVersion) continue;
      const { id, revision, state, reason, attempt } = instance;
      const decision = assignDecision(instance, version, rollout, clock.now());
      log.info({ instance: instance.name, from: instance.version, version, rollout: rollout.id }, "Telling an instance which release to run");
      await store.fleet.changeInstance({ id, revision, state, reason, attempt, desiredVersion: version, decision }, signal).catch((error: unknown) => {
        if (!(error instanceof StaleError)) throw error;
      });
    }
  };
  const look = async (signal: AbortSignal): Promise<WorkResult> => {
    const rollout = await store.rollouts.readLive(signal);
    if (rollout === undefined) return {};
    const spec = (await store.fleet.readFleet(signal))?.spec;
    const rows = new Map((await store.fleet.listInstances(signal)).map((one) => [one.id, one]));
    const seen = await lookAt(rollout, rows, spec, signal);
    const now = clock.now();
    const freeze = freezeAt(await store.directives.listFreezes(signal), now)?.reason;
    const { rollout: next, verdict, rule } = nextRollout({ now, rollout, instances: rows, ...seen, freeze });
    if (next !== rollout) {
      const decision = verdict === undefined ? undefined : outcomeDecision(next, { verdict, rule }, now);
      const isFailure = verdict === "ROLLING_BACK";
      await store.rollouts.change({ rollout: next, decision, ...(isFailure ? { freezes: next.version } : {}) }, signal);
      if (verdict !== undefined) verdicts.add(1, { verdict });
      log[isFailure ? "error" : "info"]({ rollout: next.id, version: next.version, state: next.state, verdict, rule, note: next.note }, "A rollout goes on");
    }
    await assign(next, rows, signal);
    return { requeueAfterMs: LOOK_MS };
  };
  const queue = createKeyedQueue({
    ...{ ...deps, name: KEY, concurrency: 1, rng: rng.fork(KEY), backoff: { minMs: 1_000, maxMs: LOOK_MS } },
    work: async (_key, signal) => (partition.isMine(KEY) ? look(signal) : {}),
  });
  const soon = (): void => queue.add(KEY);
  return {
    look,
    start(signal) {
      signal.addEventListener("abort", () => void queue.stop(), { once: true });
      const unfollow = store.changes.subscribe((hints) => {
        if (hints === "missed" || hints.some(({ kind }) => kind === "rollout")) soon();
      });
      ending.signal.addEventListener("abort", unfollow, { once: true });
      every({ clock, rng, log, ms: RESYNC_MS, run: soon }, AbortSignal.any([signal, ending.signal]));
      queue.start();
      soon();
    },
    async stop() {
      ending.abort(new Error("rollouts stop"));
      await queue.stop();
    },
  };
}
