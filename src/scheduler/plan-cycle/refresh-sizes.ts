import { type PoolSizes, type Sizing, USUAL_SCALING } from "../../domain/capacity.ts";
import type { Millis } from "../../domain/clock.ts";
import { countText } from "../../domain/count-text.ts";
import type { Decision } from "../../domain/decision.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { addLoad, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { forecastPeak } from "../capacity/demand.ts";
import { planSize, SIZING, type SizeFacts, type SizePlan } from "../capacity/plan-size.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";
import { COUNTED } from "../load/planning-load.ts";
import { percent } from "../percent.ts";
import { type ClassState, freezeAt, type PlanningFacts } from "../plan/assemble.ts";
import { sharesOf } from "../plan/shares-of.ts";
import { WHOLE } from "../policy.ts";
import { totalMean } from "../rebalancing/mean-loads.ts";

export interface SizingDeps {
  readonly store: Pick<Store, "decisions">;
  /** How slowly pools shrink; absent: as the configuration has it where it says nothing. */
  readonly scaling?: { readonly spareMs: number; readonly restMs: number } | undefined;
  readonly log: Log;
}

export interface SizedPools {
  readonly state: ClassState;
  /** The instance that is not needed any more, and why: it is to be emptied once the state is recorded. */
  readonly emptied: { readonly instance: InstanceId; readonly reason: string } | undefined;
}

/**
 * Decides how many instances the pools of a class are to have whose size is not declared, by what the class takes and is expected to take. The provisioner
 * makes what is missing; what is too much is emptied first. Says in the journal what has changed, and since when more are needed than may be.
 */
export async function refreshSizes(
  { store, scaling = USUAL_SCALING, log }: SizingDeps,
  state: ClassState,
  { facts, at, metrics }: { readonly facts: PlanningFacts; readonly at: Millis; readonly metrics: MetricsVerdict },
  signal: AbortSignal,
): Promise<SizedPools> {
  const { scaled = [] } = facts;
  if (scaled.length === 0) return { state: { ...state, sizes: undefined, sizing: undefined }, emptied: undefined };
  const distrust = metrics.kind === "distrusted" ? metrics.rule : undefined;
  if (distrust !== undefined && distrust !== "JUMP") return { state, emptied: undefined };
  const plan = decideSize(facts, state, { at, isJump: distrust === "JUMP", scaling });
  const sizing = sizingOf(plan, state.sizing, at);
  const next: ClassState = { ...state, sizes: keptSizes(state.sizes ?? {}, facts), sizing };
  if (plan.kind === "keep") {
    if (sizing.shortSince === at) {
      const reason = `${needText(sizing)}, ${WHY_NO_MORE[plan.why ?? "CEILING"]}`;
      log.warn({ class: facts.class, reason }, "A class needs more instances than it gets");
      await store.decisions.append([decisionOf(facts.class, "AT_CEILING", { at, sizing, reason })], signal);
    }
    return { state: next, emptied: undefined };
  }
  const { pool, before, after } = plan;
  // It was decided, and is not there yet.
  if (plan.kind === "grow" && next.sizes?.[pool]?.instances === after) return { state: next, emptied: undefined };
  const reason =
    plan.kind === "grow"
      ? needText(sizing)
      : `one fewer does for two days: ${percent(sizing.later)} in ${sizing.dimension} at most are expected`;
  log.info({ class: facts.class, pool, before, after, reason }, "Changing the size of a pool");
  const verdict = plan.kind === "grow" ? "GROWN" : "SHRUNK";
  await store.decisions.append([decisionOf(facts.class, verdict, { at, sizing, reason, pool, before, after })], signal);
  return {
    state: { ...next, sizes: { ...next.sizes, [pool]: { instances: after, at, reason } } },
    emptied: plan.kind === "shrink" ? { instance: plan.instance, reason: `its pool does with ${countText(after, "instance")}` } : undefined,
  };
}

const WHY_NO_MORE = { FAILING: "and an instance of its pools failed", CEILING: "and its pools may have no more" } as const;

/** What is measured is not followed through a jump. A launch is one too, and too many instances cost less than too few; giving one up can wait. */
function decideSize(
  facts: PlanningFacts,
  state: ClassState,
  { at, isJump, scaling }: { readonly at: Millis; readonly isJump: boolean; readonly scaling: NonNullable<SizingDeps["scaling"]> },
): SizePlan {
  const found = factsOf(facts, isJump ? { ...state, meanLoads: {} } : state, at);
  return planSize({ ...found, ...scaling, isFrozen: found.isFrozen || isJump });
}

function factsOf(facts: PlanningFacts, state: ClassState, at: Millis): Omit<SizeFacts, "spareMs" | "restMs"> {
  const { least, present } = presentDemand(facts, state);
  const expected = (untilMs: number): LoadVector => forecastPeak(state.demand, least, { at, untilMs, present });
  const shares = sharesOf(facts.instances, facts.units, ({ unit }) => unit.owner);
  return {
    pools: (facts.scaled ?? []).map(({ name, instances: { min, max }, capacity }) => ({ name, min, max, capacity })),
    instances: facts.instances.map(({ id, name, pool, state: own, capacity }) => ({
      ...{ id, name, pool, state: own, capacity, share: shares.get(id)?.share ?? 0 },
    })),
    sizes: state.sizes ?? {},
    soon: expected(SIZING.soonMs),
    later: expected(SIZING.laterMs),
    spareSince: state.sizing?.spareSince,
    isFrozen: freezeAt(facts.freezes, at) !== undefined,
    at,
  };
}

/**
 * `least`: what plans count; units that wait for their first instance are among it. Of what is measured, CPU and Git requests, that is the mean of a day, so the
 * last half hour counts where it is more. `present` is that half hour.
 */
function presentDemand(
  { units, instances }: PlanningFacts,
  { meanLoads = {} }: ClassState,
): { readonly least: LoadVector; readonly present: LoadVector } {
  const planned = units.reduce((sum, { unit }) => addLoad(sum, unit.load), ZERO_LOAD);
  const entries = instances.some((one) => one.entries === "per-workspace") ? units.length : 0;
  const measured = totalMean(meanLoads);
  const counted = loadVector((dimension) => planned[dimension] + (dimension === "clusterEntries" ? entries : 0));
  const present = loadVector((dimension) => (COUNTED.includes(dimension) ? counted : measured)[dimension]);
  return { least: loadVector((dimension) => Math.max(counted[dimension], present[dimension])), present };
}

function sizingOf(plan: SizePlan, before: Sizing | undefined, at: Millis): Sizing {
  const isShort = plan.kind === "keep" && plan.why !== undefined;
  return {
    ...{ at, ...plan.evidence },
    spareSince: plan.kind === "keep" ? plan.spareSince : undefined,
    shortSince: isShort ? (before?.shortSince ?? at) : undefined,
  };
}

/** Sizes of pools that are still sized by load. */
function keptSizes(sizes: PoolSizes, { scaled = [] }: PlanningFacts): PoolSizes {
  const names = new Set(scaled.map(({ name }) => name));
  return Object.fromEntries(Object.entries(sizes).filter(([name]) => names.has(name)));
}

/** Beyond this much of the rest there is no rest to speak of. */
const NOTHING_LEFT = 10 * WHOLE;

function needText({ soon, withoutOne, dimension }: Sizing): string {
  const failed = withoutOne > NOTHING_LEFT ? "and nothing is left if one instance failed" : `${percent(withoutOne)} if one instance failed`;
  return `${percent(soon)} in ${dimension} are expected within a day, ${failed}`;
}

function decisionOf(
  className: string,
  verdict: "GROWN" | "SHRUNK" | "AT_CEILING",
  { at, sizing, ...facts }: { readonly at: Millis; readonly sizing: Sizing; readonly reason: string; readonly [fact: string]: unknown },
): Decision {
  const { dimension, soon, later, withoutOne } = sizing;
  const details = { class: className, dimension, soon, later, withoutOne, ...facts };
  return { at, subject: className, kind: "plan", verdict, rule: "FORECAST", details };
}
