import { type PoolSizes, type Sizing, USUAL_SCALING } from "../../domain/capacity.ts";
import { type Clock, type Millis, millis, rfc3339 } from "../../domain/clock.ts";
import { countText } from "../../domain/count-text.ts";
import type { Decision } from "../../domain/decision.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { type LoadVector, loadVector, sumInTurns, ZERO_LOAD } from "../../domain/load.ts";
import { largestOf, type PeakWindow, peakWindows } from "../../domain/peaks.ts";
import type { Resumable } from "../../domain/resumable.ts";
import { giveTurns } from "../../runtime/give-turns.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { forecastPeak, KNOWN_MS } from "../capacity/demand.ts";
import { capacityOfFull, type FullFacts, nextFull } from "../capacity/next-full.ts";
import { planSize, SIZING, type SizeFacts, type SizePlan } from "../capacity/plan-size.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";
import { COUNTED } from "../load/planning-load.ts";
import { percent } from "../percent.ts";
import { type ClassState, freezeAt, type PlanningFacts } from "../plan/assemble.ts";
import { sharesInTurns } from "../plan/shares-of.ts";
import { WHOLE } from "../policy.ts";
import { totalMean } from "../rebalancing/mean-loads.ts";

export interface SizingDeps {
  readonly clock: Clock;
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

interface Refreshing {
  readonly facts: PlanningFacts;
  readonly at: Millis;
  readonly metrics: MetricsVerdict;
  readonly verdicts: FullFacts["verdicts"];
}

/**
 * Decides how many instances the pools of a class are to have whose size is not declared, by what the class takes and is expected to take. The provisioner
 * makes what is missing; what is too much is emptied first. Says in the journal what has changed, and since when more are needed than may be. While metrics are
 * not trusted only declared peaks change anything: how many instances they ask for depends on no measurement.
 */
export async function refreshSizes(
  { store, scaling = USUAL_SCALING, clock, log }: SizingDeps,
  before: ClassState,
  { facts, at, metrics, verdicts }: Refreshing,
  signal: AbortSignal,
): Promise<SizedPools> {
  const { scaled = [], raisable = [] } = facts;
  if (scaled.length === 0) return { state: { ...before, sizes: undefined, sizing: undefined, full: undefined }, emptied: undefined };
  const state = { ...before, full: nextFull(before.full ?? {}, { ...facts, raisable, verdicts, limits: before.limits ?? {}, at }) };
  const distrust = metrics.kind === "distrusted" ? metrics.rule : undefined;
  const isBlind = distrust !== undefined && distrust !== "JUMP";
  const peaks = peaksOf(facts, at);
  const work = decideSizeInTurns(facts, state, { at, isJump: distrust === "JUMP", isBlind, peaks, scaling });
  const plan = await giveTurns(work, clock, signal);
  if (isBlind && plan.kind !== "grow") return { state, emptied: undefined };
  const sizing = sizingOf(plan, state.sizing, at);
  const next: ClassState = { ...state, sizes: keptSizes(state.sizes ?? {}, facts), sizing: isBlind ? state.sizing : sizing };
  if (plan.kind !== "keep") return recordChange({ store, clock, log }, { plan, facts, next, sizing, peaks }, signal);
  if (sizing.shortSince === at) {
    const reason = `${needText(sizing)}, ${WHY_NO_MORE[plan.why ?? "CEILING"]}`;
    log.warn({ class: facts.class, reason }, "A class needs more instances than it gets");
    await store.decisions.append([decisionOf(facts.class, "AT_CEILING", { at, sizing, reason, rule: FORECAST })], signal);
  }
  return { state: next, emptied: undefined };
}

interface Change {
  readonly plan: Exclude<SizePlan, { kind: "keep" }>;
  readonly facts: PlanningFacts;
  readonly next: ClassState;
  readonly sizing: Sizing;
  readonly peaks: readonly PoolPeak[];
}

async function recordChange(
  { store, log }: SizingDeps,
  { plan, facts, next, sizing, peaks }: Change,
  signal: AbortSignal,
): Promise<SizedPools> {
  const { pool, before, after } = plan;
  const { at } = sizing;
  // It was decided, and is not there yet.
  if (plan.kind === "grow" && next.sizes?.[pool]?.instances === after) return { state: next, emptied: undefined };
  const counting = peaks.filter(({ from, until }) => until > at && from <= at + SIZING.soonMs);
  const reason =
    plan.kind === "grow"
      ? `${growText(plan, sizing, counting)}${fullText(facts, next)}`
      : `one fewer does for two days: ${percent(sizing.later)} in ${sizing.dimension} at most are expected`;
  log.info({ class: facts.class, pool, before, after, reason }, "Changing the size of a pool");
  const verdict = plan.kind === "grow" ? "GROWN" : "SHRUNK";
  const evidence = { at, sizing, reason, rule: plan.kind === "grow" && plan.isForPeak ? PEAK : FORECAST };
  await store.decisions.append([decisionOf(facts.class, verdict, { ...evidence, pool, before, after })], signal);
  return {
    state: { ...next, sizes: { ...next.sizes, [pool]: { instances: after, at, reason } } },
    emptied: plan.kind === "shrink" ? { instance: plan.instance, reason: `its pool does with ${countText(after, "instance")}` } : undefined,
  };
}

/** A window of a peak, and the pool that declares it. */
interface PoolPeak extends PeakWindow {
  readonly pool: string;
}

/** All that a forecast for a day asks about. */
function peaksOf({ scaled = [] }: PlanningFacts, at: Millis): readonly PoolPeak[] {
  const span = { from: millis(at - KNOWN_MS), until: millis(at + SIZING.laterMs) };
  return scaled.flatMap(({ name, instances: { peaks = [] } }) =>
    peaks.flatMap((peak) => peakWindows(peak, span).map((window) => ({ ...window, pool: name }))),
  );
}

/** What a pool's peaks ask for that are not over and begin within so many ms. */
function askedFor(peaks: readonly PoolPeak[], name: string, { at, aheadMs }: { readonly at: Millis; readonly aheadMs: number }): number {
  const own = peaks.filter(({ pool, from, until }) => pool === name && until > at && from <= at + aheadMs);
  return largestOf(own, "instances")?.peak.instances ?? 0;
}

const WHY_NO_MORE = { FAILING: "and an instance of its pools failed", CEILING: "and its pools may have no more" } as const;

/** What is measured is not followed through a jump. A launch is one too, and too many instances cost less than too few; giving one up can wait. */
function* decideSizeInTurns(
  facts: PlanningFacts,
  state: ClassState,
  { at, isJump, isBlind, peaks, scaling }: Deciding,
): Resumable<SizePlan> {
  const found = yield* factsOf(facts, isJump ? { ...state, meanLoads: {} } : state, { at, peaks });
  const loads = isBlind ? { soon: ZERO_LOAD, later: ZERO_LOAD } : {};
  return planSize({ ...found, ...loads, ...scaling, isFrozen: found.isFrozen || isJump || isBlind });
}

interface Deciding {
  readonly at: Millis;
  readonly isJump: boolean;
  /** Nothing that is measured counts. */
  readonly isBlind: boolean;
  readonly peaks: readonly PoolPeak[];
  readonly scaling: NonNullable<SizingDeps["scaling"]>;
}

function* factsOf(
  facts: PlanningFacts,
  state: ClassState,
  { at, peaks }: Pick<Deciding, "at" | "peaks">,
): Resumable<Omit<SizeFacts, "spareMs" | "restMs">> {
  const { least, present } = yield* presentDemand(facts, state);
  const expected = (untilMs: number): LoadVector => forecastPeak(state.demand, least, { at, untilMs, present, peaks });
  const asked = (name: string, aheadMs: number): number => askedFor(peaks, name, { at, aheadMs });
  const shares = yield* sharesInTurns(facts.instances, facts.units, ({ unit }) => unit.owner);
  return {
    pools: (facts.scaled ?? []).map(({ name, instances: { min, max }, capacity }) => ({
      ...{ name, min, max, capacity, peak: { soon: asked(name, SIZING.soonMs), later: asked(name, SIZING.laterMs) } },
    })),
    instances: facts.instances.map(({ id, name, pool, state: own, capacity }) => ({
      ...{ id, name, pool, state: own, capacity: capacityOfFull(capacity, state.full?.[id]), share: shares.get(id)?.share ?? 0 },
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
function* presentDemand(
  { units, instances }: PlanningFacts,
  { meanLoads = {} }: ClassState,
): Resumable<{ readonly least: LoadVector; readonly present: LoadVector }> {
  const planned = yield* sumInTurns(units, ({ unit }) => unit.load);
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

/** Why a pool grows: what is expected, and which declared peak has a part in that. */
function growText({ pool, isForPeak }: Extract<SizePlan, { kind: "grow" }>, sizing: Sizing, peaks: readonly PoolPeak[]): string {
  const asked = largestOf(
    peaks.filter((one) => one.pool === pool),
    "instances",
  );
  if (isForPeak && asked !== undefined) return `${peakText(asked)} asks for ${countText(asked.peak.instances ?? 0, "instance")}`;
  const factor = largestOf(peaks, "factor");
  return factor === undefined ? needText(sizing) : `${needText(sizing)}; ${peakText(factor)} asks for ${factor.peak.factor} times as much`;
}

/** Which instances count for no more than they held when they ran out of memory. */
function fullText({ instances }: PlanningFacts, { full = {} }: ClassState): string {
  const names = instances.filter(({ id }) => full[id] !== undefined).map(({ name }) => name);
  return names.length === 0 ? "" : `; ${names.join(", ")} ran out of memory, and ${names.length === 1 ? "counts" : "count"} as full`;
}

function peakText({ peak, from, until }: PeakWindow): string {
  return `peak ${peak.name} (${rfc3339(from)} to ${rfc3339(until)})`;
}

function needText({ soon, withoutOne, dimension }: Sizing): string {
  const failed = withoutOne > NOTHING_LEFT ? "and nothing is left if one instance failed" : `${percent(withoutOne)} if one instance failed`;
  return `${percent(soon)} in ${dimension} are expected within a day, ${failed}`;
}

function decisionOf(className: string, verdict: "GROWN" | "SHRUNK" | "AT_CEILING", { at, sizing, rule, ...facts }: Evidence): Decision {
  const { dimension, soon, later, withoutOne } = sizing;
  // For a declared peak no measurement counts.
  const measured = rule === PEAK ? {} : { dimension, soon, later, withoutOne };
  return { at, subject: className, kind: "plan", verdict, rule, details: { class: className, ...measured, ...facts } };
}

const [FORECAST, PEAK] = ["FORECAST", "PEAK"];

interface Evidence {
  readonly at: Millis;
  readonly sizing: Sizing;
  readonly rule: string;
  readonly reason: string;
  readonly [fact: string]: unknown;
}
