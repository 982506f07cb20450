import type { Millis } from "../../domain/clock.ts";
import type { Component, HealthCause, InstanceVerdict } from "../../domain/health.ts";
import type { Quarantine } from "../quarantine/entries.ts";

/** Steps of the ladder. RESTART and SHED are carried out, DRAIN of what sticks again, and QUARANTINE where it may; the others are advice: a person takes them. */
export const REMEDIES = ["RESTART", "SHED", "RAISE", "QUARANTINE", "DRAIN"] as const;
export type RemedyStep = (typeof REMEDIES)[number];

export interface Remedy {
  readonly step: RemedyStep;
  readonly component: Component | undefined;
  readonly isAdvice: boolean;
  readonly text: string;
  /** What is begun by it. */
  readonly quarantine?: Omit<Quarantine, "at">;
}

export interface StepTaken {
  readonly step: RemedyStep;
  readonly cause: HealthCause;
  readonly at: Millis;
}

export interface RemedyFacts {
  readonly now: Millis;
  readonly verdict: InstanceVerdict;
  /** Steps taken for the instance in the last day, and what for. */
  readonly taken: readonly StepTaken[];
  /** So many restarts for one cause within an hour are enough: when it sticks once more, the instance is emptied. 0: a person has it emptied. */
  readonly emptyAfter: number;
  /** Since when the instance has been in its state: whoever takes it back from being emptied wants it to be helped anew. */
  readonly stateSince: Millis;
  /** Instances of its class that serve beside it. */
  readonly others: number;
  /** How long a component that was restarted has to do its work again, in ms. */
  readonly apartMs: number;
  /** Restarts elsewhere in the fleet within twice that time, other instances that were ordered to be emptied within an hour, and how many it has. */
  readonly fleet: { readonly restarts: number; readonly emptied: number; readonly instances: number };
  /** The workspace that takes most of it. */
  readonly noisiest: string | undefined;
}

const MINUTE_MS = 60_000;
/** Restarts of an instance in a day; one that needs more is not helped by them. */
const RESTARTS_A_DAY = 6;
export const DAY_MS = 24 * 60 * MINUTE_MS;
/** What is wrong with many instances at once is not wrong with them: one in twenty, and one at least, within so many times the time between restarts. */
export const FLEET_WINDOW = 2;
const FLEET_SHARE = 0.05;
/** What sticks again within this time sticks again; it is also how long an order to empty an instance counts for the whole fleet. In ms. */
export const STICKS_MS = 60 * MINUTE_MS;

/** When each step is taken after the verdict has begun, in the order of the ladder. */
const OVERLOADED: readonly (readonly [RemedyStep, afterMs: number])[] = [
  ["SHED", 0],
  ["RAISE", 10 * MINUTE_MS],
  ["QUARANTINE", 20 * MINUTE_MS],
  ["DRAIN", 60 * MINUTE_MS],
];
const NOT_HELPED: readonly (readonly [RemedyStep, afterMs: number])[] = [
  ["RAISE", 10 * MINUTE_MS],
  ["DRAIN", 20 * MINUTE_MS],
];

/** What lacks memory is given none by restarts, and no less by waiting. */
const OUT_OF_MEMORY: typeof NOT_HELPED = [
  ["RAISE", 0],
  ["DRAIN", 60 * MINUTE_MS],
];

/**
 * The next step of the ladder for an instance, if one is due: restart what is stuck, empty what sticks again, shed what is too much, then advise to raise
 * resources, to give the noisiest workspace an instance of its own, to drain. What lacks memory is advised to be given more at once. Each once for as long as
 * a verdict lasts; restarts and emptying within budgets of the instance and of the fleet.
 * Nothing is done about what is slow, about one workspace's own trouble, about Git, or about what cannot be told.
 */
export function nextRemedy(facts: RemedyFacts): Remedy | undefined {
  const { verdict } = facts;
  if (verdict.state === "overloaded") return nextOf(OVERLOADED, facts);
  if (verdict.cause === "memory") return nextOf(OUT_OF_MEMORY, facts);
  if (verdict.state !== "stalled" && verdict.state !== "failed") return undefined;
  // A component that begins again and again is restarted by its cluster as it is.
  const component = verdict.state === "failed" ? undefined : verdict.component;
  if (component === undefined) return nextOf(NOT_HELPED, facts);
  if (sticksAgain(facts) && mayEmpty(facts))
    return {
      step: "DRAIN",
      component,
      isAdvice: false,
      text: `empty it: its ${component} is stuck again after ${facts.emptyAfter} restarts`,
    };
  return mayRestart(facts)
    ? { step: "RESTART", component, isAdvice: false, text: `restart its ${component}: ${verdict.text}` }
    : nextOf(NOT_HELPED, facts);
}

/** What was restarted a moment ago may still be starting, unless it had been well in between. */
function sticksAgain({ now, apartMs, verdict, taken, emptyAfter, stateSince }: RemedyFacts): boolean {
  const from = Math.max(now - STICKS_MS + 1, stateSince);
  const restarts = taken.filter(({ step, cause, at }) => step === "RESTART" && cause === verdict.cause && at >= from);
  const last = Math.max(...restarts.map(({ at }) => at));
  return emptyAfter > 0 && restarts.length >= emptyAfter && (verdict.since > last || now - last >= apartMs);
}

function mayEmpty({ others, fleet }: RemedyFacts): boolean {
  return others > 0 && fleet.emptied < mostAtOnce(fleet.instances);
}

function mayRestart({ now, taken, fleet, apartMs }: RemedyFacts): boolean {
  const restarts = taken.filter(({ step }) => step === "RESTART");
  if (restarts.length >= RESTARTS_A_DAY || restarts.some(({ at }) => now - at < apartMs)) return false;
  return fleet.restarts < mostAtOnce(fleet.instances);
}

function mostAtOnce(instances: number): number {
  return Math.max(1, Math.floor(instances * FLEET_SHARE));
}

function nextOf(ladder: typeof OVERLOADED, { now, verdict, taken, noisiest }: RemedyFacts): Remedy | undefined {
  const since = taken.filter(({ at }) => at >= verdict.since).map(({ step }) => step);
  const step = ladder.find(([each, afterMs]) => now - verdict.since >= afterMs && !since.includes(each))?.[0];
  if (step === undefined) return undefined;
  return { step, component: undefined, isAdvice: step !== "SHED", text: textOf(step, verdict, noisiest) };
}

function textOf(step: RemedyStep, { component }: InstanceVerdict, noisiest: string | undefined): string {
  switch (step) {
    case "RESTART":
      return "restart what is stuck";
    case "SHED":
      return "let plans move what is too much for it: cool-downs and the jump guard are waived, the budget is four-fold";
    case "RAISE":
      return `raise the resources of its ${component ?? "controller"} in fleet.yaml (pools[].resources)`;
    case "QUARANTINE":
      return `give ${noisiest ?? "the workspace that takes most"} an instance of its own: \`argosy pin\``;
    case "DRAIN":
      return "empty it with `argosy drain`: each unit leaves with a proof of its fence";
    default:
      return step satisfies never;
  }
}
