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

/** A gate that is shut: a release does not go through it. */
export interface Shut {
  readonly gate: Gate;
  /** With names and numbers, for people. */
  readonly text: string;
  /** How long it has to be shut before it counts, in ms: what a restart alone may shut passes by itself. */
  readonly persistenceMs: number;
}

/** One upgraded instance as it was and as it is. */
export interface Upgraded {
  readonly name: string;
  readonly askedMsAgo: number;
  /** Since all of its pods were first seen ready in the release; `undefined`: not yet. */
  readonly readyMsAgo: number | undefined;
  readonly baseline: ObservationCounts;
  /** `undefined`: its cluster gave no answer, which says nothing about a release. */
  readonly observation: InstanceObservation | undefined;
}

export interface GateFacts {
  readonly version: string;
  readonly upgraded: readonly Upgraded[];
  /** How long after a look Argo CD looks at an application again at most, in ms. */
  readonly resyncMs: number;
}

/** Pulling an image to a new node takes minutes; what takes longer hangs. In ms. */
export const READY_MS = 10 * 60_000;
/** Real controllers answer a canary in 56 ms at the median and in a second at worst, under moves; in ms. */
const CANARY_MS = 30_000;
/** What a resync may be late by on a healthy instance: one look that was missed, in ms. */
export const LATE_MS = 60_000;
/** So many applications are looked at one after another, fewer may all be at once. */
const MANY = 20;
/** What redis and repo-server lose when they start again is back by then, in ms. */
const SETTLING_MS = 60_000;
const MARGIN = 0.01;
/** A single application more is a user's doing as easily as a release's. */
const LEAST = 2;

type Ask = (facts: GateFacts) => string | undefined;

/** Each gate with what shuts it, in words; those that name pods and instances stand by themselves, shares have to last. */
const RULES: Readonly<Record<Gate, { readonly persistenceMs: number; readonly ask: Ask }>> = {
  CRASHING: { persistenceMs: 0, ask: each(({ observation }) => listed(observation?.crashes)) },
  OUT_OF_MEMORY: { persistenceMs: 0, ask: each(({ observation }) => listed(observation?.outOfMemory)) },
  NOT_READY: { persistenceMs: 0, ask: each(whyNotReady) },
  CANARY_SLOW: { persistenceMs: 0, ask: each(whySlow) },
  FROZEN: { persistenceMs: 0, ask: each(whyFrozen) },
  PRUNED: {
    persistenceMs: 0,
    ask: each(({ observation }) =>
      (observation?.pruned ?? 0) > 0 ? `it deleted what Git still holds of ${observation?.pruned} applications` : undefined,
    ),
  },
  CANNOT_COMPARE: {
    persistenceMs: SETTLING_MS,
    ask: (facts) => whyMore(facts, { now: ({ faulty }) => faulty, before: ({ faulty }) => faulty, what: "cannot be compared" }),
  },
  STRAYED: {
    persistenceMs: SETTLING_MS,
    ask: (facts) =>
      whyMore(facts, {
        now: ({ strayed, resynced }) => strayed + resynced,
        before: ({ strayed }) => strayed,
        what: "differ from what the release before made of the same revision",
      }),
  },
  FEWER_COMPARISONS: { persistenceMs: SETTLING_MS, ask: whyFewerComparisons },
};

/** The first gate that is shut, in the order of {@link GATES}; `undefined`: all are open. */
export function shutGate(facts: GateFacts): Shut | undefined {
  for (const gate of GATES) {
    const { persistenceMs, ask } = RULES[gate];
    const text = ask(facts);
    if (text !== undefined) return { gate, text, persistenceMs };
  }
  return undefined;
}

function each(ask: (one: Upgraded, facts: GateFacts) => string | undefined): Ask {
  return (facts) => {
    for (const one of facts.upgraded) {
      const text = ask(one, facts);
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

/** Argo CD's own probes stay green while it looks at nothing (argoproj/argo-cd#29476): only its applications show that. */
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
  const isMore = all > 0 && here - was >= LEAST && here / all > (of === 0 ? 0 : was / of) + MARGIN;
  return isMore ? `${here} of ${all} applications ${what}, before it were ${was} of ${of}` : undefined;
}

function whyFewerComparisons({ upgraded, resyncMs }: GateFacts): string | undefined {
  const settled = upgraded.flatMap(({ observation, baseline, readyMsAgo }) =>
    observation === undefined || readyMsAgo === undefined || readyMsAgo <= resyncMs + LATE_MS ? [] : [{ observation, baseline }],
  );
  const [here, all] = [sum(settled, ({ observation }) => observation.fresh), sum(settled, ({ observation }) => observation.applications)];
  const [was, of] = [sum(settled, ({ baseline }) => baseline.fresh), sum(settled, ({ baseline }) => baseline.applications)];
  const isFewer = all - here >= LEAST && of > 0 && here / all < was / of / 2;
  return isFewer ? `${here} of ${all} applications are compared in time, before it were ${was} of ${of}` : undefined;
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}
