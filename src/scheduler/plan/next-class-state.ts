import type { Millis } from "../../domain/clock.ts";
import { complete, type Resumable } from "../../domain/resumable.ts";
import { nextDemand, withDemand } from "../capacity/demand.ts";
import { FIRST_WEIGHTS, nextCpuWeights } from "../load/cpu-weights.ts";
import { farFrom, METRICS_LIMITS, totalOf } from "../load/judge-metrics.ts";
import { nextOverloaded } from "../load/next-overloaded.ts";
import { nextReference } from "../load/next-reference.ts";
import { nextMeanLoads, totalMean } from "../rebalancing/mean-loads.ts";
import { type ClassState, negligibleOf, type PlanningFacts, presentLoadsInTurns, reportsOf } from "./assemble.ts";
import { openBookInTurns } from "./book.ts";
import { DEFAULT_PLANNER_POLICY, type PlannerPolicy } from "./planner-policy.ts";
import type { PlanSnapshot } from "./snapshot.ts";

const REFIT_MS = 24 * 60 * 60_000;

/**
 * What is remembered for the next plan. While metrics are not trusted, nothing that rests on them is learnt. Overloads alone are also
 * followed through a jump, because an overload may have caused it.
 */
export function nextClassState(facts: PlanningFacts, snapshot: PlanSnapshot): ClassState {
  return complete(nextClassStateInTurns(facts, snapshot));
}

/** The same, with pauses. */
export function* nextClassStateInTurns(facts: PlanningFacts, snapshot: PlanSnapshot): Resumable<ClassState> {
  const { state, instanceLoads } = facts;
  const { at, metrics } = snapshot;
  const isTrusted = metrics.kind === "trusted";
  const isPresent = isTrusted || metrics.rule === "JUMP";
  const reference = nextReference(state.reference, metrics, { total: totalOf(reportsOf(facts)), at, negligible: negligibleOf(facts) });
  const isDue = isTrusted && (state.fittedAt === undefined || at - state.fittedAt >= REFIT_MS);
  const meanLoads = isTrusted ? nextMeanLoads(state.meanLoads ?? {}, instanceLoads) : state.meanLoads;
  return {
    ...(reference === undefined ? {} : { reference }),
    ...(isDue ? refit(state, instanceLoads, at) : keptFit(state)),
    aboveSince: isTrusted ? Object.fromEntries(yield* nextAboveInTurns(snapshot)) : state.aboveSince,
    ...{
      promises: state.promises,
      measured: state.measured,
      sizes: state.sizes,
      sizing: state.sizing,
      full: state.full,
      limits: state.limits,
    },
    meanLoads,
    ...((facts.scaled ?? []).length === 0 ? {} : learnDemand(facts, snapshot, { ...state, reference, meanLoads })),
    overloadedSince: isPresent ? nextOverloaded(yield* presentLoadsInTurns(facts), at) : {},
  };
}

/**
 * The hours of a jump are kept beside the history until its level is believed: a quiet weekend would be forgotten otherwise, and be a jump again a week later. They
 * are dropped where the level does not last.
 */
function learnDemand(
  facts: PlanningFacts,
  { at, metrics }: PlanSnapshot,
  { reference, meanLoads, demand, doubted }: ClassState,
): Pick<ClassState, "demand" | "doubted"> {
  const total = totalOf(reportsOf(facts));
  const rival = facts.state.reference?.rival?.total;
  const lasting = rival !== undefined && farFrom(rival, total, negligibleOf(facts)) === undefined ? doubted : undefined;
  if (metrics.kind === "trusted") return { demand: nextDemand(withDemand(demand, lasting), totalMean(meanLoads ?? {}), at) };
  if (metrics.rule !== "JUMP") return { demand, doubted };
  const hours = nextDemand(lasting, total, at);
  return reference?.rival === undefined ? { demand: withDemand(demand, hours) } : { demand, doubted: hours };
}

function refit(
  { weights = FIRST_WEIGHTS }: ClassState,
  loads: PlanningFacts["instanceLoads"],
  at: Millis,
): Pick<ClassState, "weights" | "fittedAt"> {
  const fresh = loads.filter((load) => at - load.at <= METRICS_LIMITS.staleMs);
  const seen = fresh.flatMap(({ instanceId, observation }) =>
    observation === undefined ? [] : [{ instance: instanceId, ...observation }],
  );
  return { weights: nextCpuWeights(weights, seen), fittedAt: at };
}

function keptFit({ weights, fittedAt }: ClassState): Pick<ClassState, "weights" | "fittedAt"> {
  return { ...(weights === undefined ? {} : { weights }), ...(fittedAt === undefined ? {} : { fittedAt }) };
}

/**
 * Since when each instance has been above the bound; the snapshot has what was known before. Called with every new set of samples: an
 * instance that is not above the bound in one of them starts anew.
 */
export function nextAbove(snapshot: PlanSnapshot, policy?: PlannerPolicy): ReadonlyMap<string, Millis> {
  return complete(nextAboveInTurns(snapshot, policy));
}

/** The same, with pauses. */
function* nextAboveInTurns(snapshot: PlanSnapshot, policy: PlannerPolicy = DEFAULT_PLANNER_POLICY): Resumable<ReadonlyMap<string, Millis>> {
  const book = yield* openBookInTurns(snapshot, policy);
  const above = book.candidates.filter((_, candidate) => book.share(candidate) > book.limits.bound);
  return new Map(above.map(({ id, aboveSince }) => [id, aboveSince ?? snapshot.at]));
}
