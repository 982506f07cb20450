import type { Millis } from "../domain/clock.ts";
import type { Component, HealthCause, InstanceVerdict } from "../domain/health.ts";
import type { Filler } from "./filler.ts";
import type { Quarantine } from "./quarantine/entries.ts";
import type { Filled } from "./quarantine/schema.ts";

/**
 * Steps of the ladder. Argosy takes RESTART and SHED itself, DRAIN where restarts have not helped, and QUARANTINE where
 * `planQuarantine` allows it. Every other step is advice, which a person has to take.
 */
export const REMEDIES = ["RESTART", "SHED", "RAISE", "QUARANTINE", "DRAIN"] as const;
export type RemedyStep = (typeof REMEDIES)[number];

export interface Remedy {
  readonly step: RemedyStep;
  readonly component: Component | undefined;
  readonly isAdvice: boolean;
  readonly text: string;
  /** The quarantine that begins with this step. */
  readonly quarantine?: Omit<Quarantine, "at">;
}

export interface StepTaken {
  readonly step: RemedyStep;
  readonly cause: HealthCause;
  readonly isAdvice: boolean;
  readonly at: Millis;
}

export interface RemedyFacts {
  readonly now: Millis;
  readonly verdict: InstanceVerdict;
  /** Steps taken for the instance within the last day, with the cause of each. */
  readonly taken: readonly StepTaken[];
  /**
   * After so many restarts for one cause within an hour, a component that is stuck once more has its instance
   * drained. 0: only a person drains it.
   */
  readonly emptyAfter: number;
  /**
   * Since when the instance has been in its state. Restarts before that do not count: a person who ends a drain wants
   * it helped anew.
   */
  readonly stateSince: Millis;
  /** Other ACTIVE instances of its class. */
  readonly others: number;
  /**
   * How long a restarted component is given to work again, in ms. It is also the least time between two restarts of
   * an instance.
   */
  readonly apartMs: number;
  /**
   * The rest of the fleet. `restarts`: of other instances, within twice `apartMs`. `emptied`: other instances whose
   * drain was ordered within an hour. `instances`: how many instances the fleet has.
   */
  readonly fleet: { readonly restarts: number; readonly emptied: number; readonly instances: number };
  /** Namespace of the workspace that takes most of the instance. */
  readonly noisiest: string | undefined;
  /** The unit that fills the disk or the memory of the instance's repo-server. Absent: none stands out, or nothing is filled. */
  readonly filler: NamedFiller | undefined;
  /** Whether the scheduler gives the instance more of what it has run out of, or says why it does not. Absent: it does not. */
  readonly isRaised?: boolean;
}

/** A unit that fills a repo-server, with the namespace of its workspace. */
export interface NamedFiller extends Filler {
  readonly namespace: string;
}

const MINUTE_MS = 60_000;
/** Largest number of restarts of an instance in a day. One that needs more is not helped by them. */
const RESTARTS_A_DAY = 6;
export const DAY_MS = 24 * 60 * MINUTE_MS;
/**
 * When many instances fail at once, the cause is not in them, and restarts do not help. So at most one instance in
 * twenty (`FLEET_SHARE`), and always one, is restarted within `FLEET_WINDOW` times the time between two restarts. The
 * same share limits drains.
 */
export const FLEET_WINDOW = 2;
const FLEET_SHARE = 0.05;
/**
 * For how long a restart counts when the component is stuck again, and the order of a drain counts for the whole
 * fleet, in ms.
 */
export const STICKS_MS = 60 * MINUTE_MS;

/** For how long the advice to isolate a unit is not repeated, in ms. */
const ADVISED_MS = 10 * MINUTE_MS;

/** A ladder: its steps in order, and how long after the beginning of the verdict each is due. */
const OVERLOADED: readonly (readonly [RemedyStep, afterMs: number])[] = [
  ["SHED", 0],
  ["RAISE", 10 * MINUTE_MS],
  ["QUARANTINE", 20 * MINUTE_MS],
  ["DRAIN", 60 * MINUTE_MS],
];
/** The ladder for what no restart helps, or where none is allowed. */
const NOT_HELPED: readonly (readonly [RemedyStep, afterMs: number])[] = [
  ["RAISE", 10 * MINUTE_MS],
  ["DRAIN", 20 * MINUTE_MS],
];

/** Neither a restart nor waiting gives a component more memory or disk: a person is advised at once to raise its resources, unless that is done anyway. */
const USED_UP: typeof NOT_HELPED = [
  ["RAISE", 0],
  ["DRAIN", 60 * MINUTE_MS],
];

/**
 * Decides which step to take for an instance now, by its verdict; `undefined`: none.
 *
 * - Overloaded: shed load; after a while advise more resources, then an instance of its own for the noisiest workspace,
 *   then a drain.
 * - Short of memory or disk, whatever its state: advise more at once, unless the scheduler gives it, and a drain later. Where its repo-server was
 *   ended for that twice, and one workspace has filled it, that workspace gets an instance of its own at once.
 * - Stalled in one component: restart that component. If it is stuck again after enough restarts, drain the instance.
 *   Where neither is allowed, as for a failed instance below.
 * - Failed, or stalled in no component that is known: advise more resources, then a drain.
 * - Any other verdict (slow, Git, one workspace's own trouble, unknown): nothing.
 *
 * Each step of a ladder is taken once for as long as the verdict lasts. Restarts and drains keep to limits of the
 * instance and of the fleet.
 */
export function nextRemedy(facts: RemedyFacts): Remedy | undefined {
  const { verdict } = facts;
  if (verdict.state === "overloaded") return nextOf(OVERLOADED, facts);
  if (verdict.cause === "memory" || verdict.cause === "disk") return isolate(facts) ?? nextOf(USED_UP, facts);
  if (verdict.state !== "stalled" && verdict.state !== "failed") return undefined;
  // What has failed is restarted by its cluster already: another restart would not help.
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

/**
 * What a repo-server was ended for using up more than once lately: its disk or its memory. `undefined`: neither. Once may be what everybody has filled in
 * weeks, or whoever's work was under way by chance. After it the disk is empty and the counters of fetches begin again, so that the second
 * time shows who fills it now.
 */
export function filledOf({ state, cause, component }: Pick<InstanceVerdict, "state" | "cause" | "component">): Filled | undefined {
  if (state !== "failed" || component !== "repo-server") return undefined;
  return cause === "disk" || cause === "memory" ? cause : undefined;
}

/**
 * The step QUARANTINE for the unit that fills the repo-server. It is taken once an hour at most, and was only advice every ten minutes: the
 * verdict lasts as long as the unit stays, and what spoke against it may end.
 */
function isolate({ now, verdict, taken, filler }: RemedyFacts): Remedy | undefined {
  if (filler === undefined || filledOf(verdict) === undefined) return undefined;
  const before = taken.filter(({ step, cause }) => step === "QUARANTINE" && cause === verdict.cause);
  if (before.some(({ isAdvice, at }) => now - at < (isAdvice ? ADVISED_MS : STICKS_MS))) return undefined;
  const share = Math.round(filler.share * 100);
  const why =
    verdict.cause === "memory"
      ? `${share} % of what was under way when its repo-server ended was of its repositories`
      : `${share} % of the time of all fetches went to its repositories`;
  const text = `${textOf("QUARANTINE", verdict, filler.namespace)}, because ${why}`;
  return { step: "QUARANTINE", component: undefined, isAdvice: true, text };
}

/**
 * Whether the component is stuck once more after `emptyAfter` restarts for the same cause. Within `apartMs` of the last
 * restart it may still be starting, unless the verdict began after that restart: then it was well in between.
 */
function sticksAgain({ now, apartMs, verdict, taken, emptyAfter, stateSince }: RemedyFacts): boolean {
  const from = Math.max(now - STICKS_MS + 1, stateSince);
  const restarts = taken.filter(({ step, cause, at }) => step === "RESTART" && cause === verdict.cause && at >= from);
  const last = Math.max(...restarts.map(({ at }) => at));
  return emptyAfter > 0 && restarts.length >= emptyAfter && (verdict.since > last || now - last >= apartMs);
}

/** Whether the instance may be drained: another one of its class serves, and few enough of the fleet are being drained. */
function mayEmpty({ others, fleet }: RemedyFacts): boolean {
  return others > 0 && fleet.emptied < mostAtOnce(fleet.instances);
}

/** Whether a component may be restarted, by the limits of the instance and of the fleet. */
function mayRestart({ now, taken, fleet, apartMs }: RemedyFacts): boolean {
  const restarts = taken.filter(({ step }) => step === "RESTART");
  if (restarts.length >= RESTARTS_A_DAY || restarts.some(({ at }) => now - at < apartMs)) return false;
  return fleet.restarts < mostAtOnce(fleet.instances);
}

/** How many instances of the fleet may be restarted, or drained, at once. */
function mostAtOnce(instances: number): number {
  return Math.max(1, Math.floor(instances * FLEET_SHARE));
}

/** The first step of a ladder that is due and was not taken since the verdict began. */
function nextOf(ladder: typeof OVERLOADED, { now, verdict, taken, noisiest, isRaised }: RemedyFacts): Remedy | undefined {
  const since = taken.filter(({ at }) => at >= verdict.since).map(({ step }) => step);
  const isLeft = (step: RemedyStep): boolean => since.includes(step) || (step === "RAISE" && isRaised === true);
  const step = ladder.find(([each, afterMs]) => now - verdict.since >= afterMs && !isLeft(each))?.[0];
  if (step === undefined) return undefined;
  return { step, component: undefined, isAdvice: step !== "SHED", text: textOf(step, verdict, noisiest) };
}

function textOf(step: RemedyStep, { component, cause }: InstanceVerdict, noisiest: string | undefined): string {
  switch (step) {
    case "RESTART":
      return "restart what is stuck";
    case "SHED":
      return "let plans move what is too much for it: cool-downs and the jump guard are waived, the budget is four-fold";
    case "RAISE":
      return cause === "disk"
        ? "raise the disk of its repo-server in fleet.yaml (pools[].resources.repoServer.disk)"
        : `raise the resources of its ${component ?? "controller"} in fleet.yaml (pools[].resources)`;
    case "QUARANTINE":
      return `give ${noisiest ?? "the workspace that takes most"} an instance of its own: \`argosy pin\``;
    case "DRAIN":
      return "empty it with `argosy drain`: each unit leaves with a proof of its fence";
    default:
      return step satisfies never;
  }
}
