import type { InstanceObservation, ObservationCounts } from "../../domain/rollout.ts";

export const GATES = [
  "CRASHING",
  "OUT_OF_MEMORY",
  "NOT_READY",
  "CANARY_SLOW",
  "FROZEN",
  "PRUNED",
  "CANNOT_COMPARE",
  "STRAYED",
  "FEWER_COMPARISONS",
] as const;
export type Gate = (typeof GATES)[number];

/** A gate that is shut: the release must not go on. */
export interface Shut {
  readonly gate: Gate;
  /** What is wrong, with names and numbers, for people. */
  readonly text: string;
  /** How long the gate has to be shut before it counts, in ms. What a mere restart causes passes within that time. */
  readonly persistenceMs: number;
}

/** One instance before and after its upgrade. */
export interface Upgraded {
  readonly name: string;
  readonly askedMsAgo: number;
  /** Time since all its pods were first observed ready in the release, in ms. `undefined`: not yet. */
  readonly readyMsAgo: number | undefined;
  readonly baseline: ObservationCounts;
  /** `undefined`: its cluster did not answer, which says nothing about the release. */
  readonly observation: InstanceObservation | undefined;
}

export interface GateFacts {
  readonly version: string;
  readonly upgraded: readonly Upgraded[];
  /** How long after a comparison Argo CD compares an application again at the latest, in ms. */
  readonly resyncMs: number;
}

/**
 * How long an upgrade may take until all pods are ready, in ms. Pulling an image to a new node takes minutes; what
 * takes longer hangs.
 */
export const READY_MS = 10 * 60_000;
/**
 * How long a canary may wait, in ms. Healthy controllers take 56 ms at the median, and a second at worst while units
 * are moved.
 */
const CANARY_MS = 30_000;
/** How late a comparison may be on a healthy instance, in ms: one that was missed. */
export const LATE_MS = 60_000;
/**
 * With at least this many applications, one of them is compared within each resync. Fewer may all be compared at the
 * same moment.
 */
const MANY = 20;
/** What redis and repo-server lose in a restart is restored within this time, in ms. */
const SETTLING_MS = 60_000;
/** By which share of the applications it has to be worse. */
const MARGIN = 0.01;
/** By how many applications it has to be worse. A single one may be its user's mistake as easily as the release's. */
const LEAST_MORE = 2;

type Check = (facts: GateFacts) => string | undefined;

/** For each gate, what shuts it, in words. Gates that name a pod or an instance count at once; shares have to last. */
const RULES: Readonly<Record<Gate, { readonly persistenceMs: number; readonly check: Check }>> = {
  CRASHING: { persistenceMs: 0, check: perInstance(({ observation }) => listed(observation?.crashes)) },
  OUT_OF_MEMORY: { persistenceMs: 0, check: perInstance(({ observation }) => listed(observation?.outOfMemory)) },
  NOT_READY: { persistenceMs: 0, check: perInstance(whyNotReady) },
  CANARY_SLOW: { persistenceMs: 0, check: perInstance(whySlow) },
  FROZEN: { persistenceMs: 0, check: perInstance(whyFrozen) },
  PRUNED: {
    persistenceMs: 0,
    check: perInstance(({ observation }) =>
      (observation?.pruned ?? 0) > 0 ? `it deleted what Git still holds of ${observation?.pruned} applications` : undefined,
    ),
  },
  CANNOT_COMPARE: {
    persistenceMs: SETTLING_MS,
    check: (facts) => whyMore(facts, { now: ({ faulty }) => faulty, before: ({ faulty }) => faulty, what: "cannot be compared" }),
  },
  STRAYED: {
    persistenceMs: SETTLING_MS,
    check: (facts) =>
      whyMore(facts, {
        now: ({ strayed, resynced }) => strayed + resynced,
        before: ({ strayed }) => strayed,
        what: "differ from what the release before made of the same revision",
      }),
  },
  FEWER_COMPARISONS: { persistenceMs: SETTLING_MS, check: whyFewerComparisons },
};

/** The first gate that is shut, in the order of {@link GATES}. `undefined`: all are open. */
export function shutGate(facts: GateFacts): Shut | undefined {
  for (const gate of GATES) {
    const { persistenceMs, check } = RULES[gate];
    const text = check(facts);
    if (text !== undefined) return { gate, text, persistenceMs };
  }
  return undefined;
}

function perInstance(check: (one: Upgraded, facts: GateFacts) => string | undefined): Check {
  return (facts) => {
    for (const one of facts.upgraded) {
      const text = check(one, facts);
      if (text !== undefined) return `${one.name}: ${text}`;
    }
    return undefined;
  };
}

function listed(names: readonly string[] | undefined): string | undefined {
  return names === undefined || names.length === 0 ? undefined : names.join("; ");
}

function whyNotReady({ askedMsAgo, readyMsAgo }: Upgraded, { version }: GateFacts): string | undefined {
  const isLate = readyMsAgo === undefined && askedMsAgo >= READY_MS;
  return isLate ? `not all of its pods run ${version} after ${READY_MS / 60_000} minutes` : undefined;
}

function whySlow({ observation }: Upgraded): string | undefined {
  const latencyMs = observation?.canaryLatencyMs ?? 0;
  return latencyMs < CANARY_MS ? undefined : `its canary waits for ${Math.round(latencyMs / 1000)} s`;
}

/** Argo CD's own probes stay green while it compares nothing (argoproj/argo-cd#29476). Only its applications show that. */
function whyFrozen({ observation, readyMsAgo }: Upgraded, { resyncMs }: GateFacts): string | undefined {
  if (observation === undefined || readyMsAgo === undefined || observation.applications === 0) return undefined;
  const quietMs = Math.min(
    readyMsAgo,
    observation.newestReconciledAt === undefined ? Number.POSITIVE_INFINITY : observation.at - observation.newestReconciledAt,
  );
  const dueMs = observation.applications < MANY ? 2 * resyncMs : resyncMs;
  return quietMs <= dueMs + LATE_MS ? undefined : `it has compared no application for ${Math.round(quietMs / 1000)} s`;
}

interface Comparison {
  readonly now: (observation: InstanceObservation) => number;
  readonly before: (baseline: ObservationCounts) => number;
  readonly what: string;
}

function whyMore({ upgraded }: GateFacts, { now, before, what }: Comparison): string | undefined {
  const seen = upgraded.flatMap(({ observation, baseline }) => (observation === undefined ? [] : [{ observation, baseline }]));
  const [here, all] = [sum(seen, ({ observation }) => now(observation)), sum(seen, ({ observation }) => observation.applications)];
  const [was, of] = [sum(seen, ({ baseline }) => before(baseline)), sum(seen, ({ baseline }) => baseline.applications)];
  const isMore = all > 0 && here - was >= LEAST_MORE && here / all > (of === 0 ? 0 : was / of) + MARGIN;
  return isMore ? `${here} of ${all} applications ${what}, before it were ${was} of ${of}` : undefined;
}

function whyFewerComparisons({ upgraded, resyncMs }: GateFacts): string | undefined {
  const settled = upgraded.flatMap(({ observation, baseline, readyMsAgo }) =>
    observation === undefined || readyMsAgo === undefined || readyMsAgo <= resyncMs + LATE_MS ? [] : [{ observation, baseline }],
  );
  const [here, all] = [sum(settled, ({ observation }) => observation.fresh), sum(settled, ({ observation }) => observation.applications)];
  const [was, of] = [sum(settled, ({ baseline }) => baseline.fresh), sum(settled, ({ baseline }) => baseline.applications)];
  const isFewer = all - here >= LEAST_MORE && of > 0 && here / all < was / of / 2;
  return isFewer ? `${here} of ${all} applications are compared in time, before it were ${was} of ${of}` : undefined;
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
