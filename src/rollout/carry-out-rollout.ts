import type { Clock, Millis } from "../domain/clock.ts";
import type { Freeze } from "../domain/directive.ts";
import { StaleError } from "../domain/errors.ts";
import type { CatalogueEntry, FleetSpec } from "../domain/fleet.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceObservation, Rollout, WaveInstance } from "../domain/rollout.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import { outcomeDecision } from "./decisions.ts";
import { createEmptyInstances } from "./empty-instances.ts";
import { canariesSince, canaryLatency } from "./evidence.ts";
import { orderedChangeOf } from "./instance-order.ts";
import { type NextRollout, nextRollout } from "./next-rollout.ts";
import { createTallies, type Tallies } from "./observation/tally-syncs.ts";
import type { Emptying, InstanceObservations } from "./port.ts";
import { presentOf, rolloutResyncOf, watchedOf } from "./waves.ts";

export interface CarryOutDeps {
  readonly store: Pick<Store, "rollouts" | "fleet" | "directives" | "health">;
  readonly observations: InstanceObservations;
  readonly emptying: Emptying;
  /** The freeze that holds now. `undefined`: none. */
  readonly freezeAt: (freezes: readonly Freeze[], now: Millis) => { readonly reason: string } | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Takes one step of the live rollout: observes its instances, decides, records and assigns. Returns what was decided.
 * `undefined`: no rollout is live.
 */
export type CarryOutRollout = (signal: AbortSignal) => Promise<Pick<NextRollout, "verdict"> | undefined>;

type Rows = ReadonlyMap<InstanceId, Instance>;

/** How many instances are observed at the same time. */
const AT_ONCE = 10;

export function createCarryOutRollout(deps: CarryOutDeps): CarryOutRollout {
  const { store, freezeAt, clock } = deps;
  const tallies = createTallies();
  const empty = createEmptyInstances(deps.emptying);
  return async (signal) => {
    const rollout = await store.rollouts.readLive(signal);
    if (rollout === undefined) {
      deps.observations.watchOnly([]);
      return undefined;
    }
    const spec = (await store.fleet.readFleet(signal))?.spec;
    const rows: Rows = new Map((await store.fleet.listInstances(signal)).map((one) => [one.id, one]));
    const freezes = await store.directives.listFreezes(signal);
    const units = rollout.mode === "drain" ? await store.fleet.countUnits(signal) : new Map<InstanceId, number>();
    const decide = async (isAfresh: boolean): Promise<NextRollout & { readonly freeze: string | undefined; readonly now: Millis }> => {
      const seen = await observeWave({ ...deps, tallies }, { rollout, rows, spec, isAfresh }, signal);
      const now = clock.now();
      const freeze = freezeAt(freezes, now)?.reason;
      return { ...nextRollout({ now, rollout, instances: rows, ...seen, units, freeze, ...releasedBy(spec) }), freeze, now };
    };
    const { freeze, now, ...next } = await proven(decide);
    if (next.rollout !== rollout) await record(deps, next, signal);
    await changeRows(deps, { rollout: next.rollout, rows }, signal);
    await empty({ rollout: next.rollout, rows, freeze, now }, signal);
    return next;
  };
}

/**
 * Decides by what watches report, and once more by what is listed anew where that ends a wave: a watch that has fallen behind
 * must neither condemn a release nor let one pass.
 */
async function proven<T extends Pick<NextRollout, "verdict">>(decide: (isAfresh: boolean) => Promise<T>): Promise<T> {
  const watched = await decide(false);
  return watched.verdict === undefined || watched.verdict === "WAVE" ? watched : decide(true);
}

function releasedBy(spec: FleetSpec | undefined): { readonly released?: readonly string[] } {
  return spec === undefined ? {} : { released: spec.versions.catalogue.map(({ version }) => version) };
}

interface Wanted {
  readonly rollout: Rollout;
  readonly rows: Rows;
  readonly spec: FleetSpec | undefined;
  /** Whether Applications are listed anew. */
  readonly isAfresh: boolean;
}

async function observeWave(
  { observations, store, tallies }: CarryOutDeps & { readonly tallies: Tallies },
  { rollout, rows, spec, isAfresh }: Wanted,
  signal: AbortSignal,
): Promise<{ readonly observations: ReadonlyMap<InstanceId, InstanceObservation>; readonly resyncMs: number }> {
  const present = presentOf({ instances: rows }, { instances: watchedOf(rollout) });
  observations.watchOnly(present.flatMap(({ id }) => rows.get(id) ?? []));
  const resyncMs = rolloutResyncOf(spec, [...new Set(present.flatMap(({ id }) => rows.get(id)?.pool ?? []))]);
  const releases: readonly CatalogueEntry[] = spec?.versions.catalogue ?? [];
  const found = new Map<InstanceId, InstanceObservation>();
  const observeCanaries = async ({ id, at, readyAt }: { readonly id: InstanceId; readonly at: Millis; readonly readyAt: Millis }) => {
    const { samples } = await store.health.readWindow(id, canariesSince({ at, readyAt }), signal);
    return canaryLatency(samples, { now: at, readyAt });
  };
  const observeOne = async (one: WaveInstance): Promise<void> => {
    const { id, readyAt, askedAt } = one;
    const asked = askedAt === undefined ? {} : { askedAt };
    const row = rows.get(id);
    const request = {
      // Two builds may have the same images: then pods run the one that they are to run.
      releases: releases.toSorted((a, b) => Number(b.version === row?.desiredVersion) - Number(a.version === row?.desiredVersion)),
      version: rollout.version,
      since: readyAt ?? askedAt,
      syncs: tallies.before(rollout, one),
      resyncMs,
      isAfresh,
      ...asked,
    };
    const observation = row === undefined ? undefined : await observations.observe(row, request, signal);
    if (observation === undefined) return;
    tallies.keep(rollout, one, observation.syncs);
    found.set(id, { ...observation, ...(readyAt === undefined ? {} : await observeCanaries({ id, at: observation.at, readyAt })) });
  };
  for (let from = 0; from < present.length; from += AT_ONCE) await Promise.all(present.slice(from, from + AT_ONCE).map(observeOne));
  return { observations: found, resyncMs };
}

/** Records the decision. A release that is rolled back because it failed is frozen in the same write. */
async function record({ store, clock, log }: CarryOutDeps, { rollout, verdict, rule }: NextRollout, signal: AbortSignal): Promise<void> {
  const decision = verdict === undefined ? undefined : outcomeDecision(rollout, { verdict, rule }, clock.now());
  const hasFailed = verdict === "ROLLING_BACK";
  await store.rollouts.change({ rollout, decision, ...(hasFailed ? { freezes: rollout.version } : {}) }, signal);
  const { id, version, state, note } = rollout;
  log[hasFailed ? "error" : "info"]({ rollout: id, version, state, verdict, rule, note }, "Carrying a rollout on");
}

/**
 * Changes the rows of the watched instances to what the rollout orders. A row that somebody else changes at this
 * moment is changed with the next step.
 */
async function changeRows(
  { store, clock, log }: CarryOutDeps,
  { rollout, rows }: { readonly rollout: Rollout; readonly rows: Rows },
  signal: AbortSignal,
): Promise<void> {
  for (const one of presentOf({ instances: rows }, { instances: watchedOf(rollout) })) {
    const instance = rows.get(one.id);
    const change = instance && orderedChangeOf(rollout, one, instance, clock.now());
    if (change === undefined) continue;
    log.info({ instance: one.name, rollout: rollout.id, ...change.logged }, "Changing an instance for a rollout");
    await store.fleet.changeInstance(change.row, signal).catch((error: unknown) => {
      if (!(error instanceof StaleError)) throw error;
    });
  }
}
