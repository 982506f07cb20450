import { LOAD_DIMENSIONS } from "../../domain/load.ts";
import { type Resumable, visitInTurns } from "../../domain/resumable.ts";
import { boundAt, shareOf } from "../utilisation.ts";
import type { AffinityGroup } from "./affinity-groups.ts";
import { NOTHING, NOWHERE, openLedger } from "./ledger.ts";
import type { PlannerPolicy } from "./planner-policy.ts";
import type { PlanCandidate } from "./snapshot.ts";

/** Bounds on dominant utilisation, ppm. Above `bound` an instance is too full; one that sheds goes down to `shedTo`. */
export interface Limits {
  readonly mean: number;
  /** The dimension the mean is highest in. */
  readonly scarce: number;
  readonly tight: number;
  readonly bound: number;
  readonly shedTo: number;
  readonly hard: number;
  /** Load of the mean group, in the order of LOAD_DIMENSIONS. */
  readonly meanUnit: readonly number[];
}

export interface Occupancy {
  readonly candidates: readonly PlanCandidate[];
  readonly capacities: readonly (readonly number[])[];
  readonly groups: readonly AffinityGroup[];
  /** Where the units of each group are. */
  readonly where: readonly (readonly number[])[];
}

/**
 * The mean is what ACTIVE instances would carry if they carried everything. A unit that waits and that no instance could hold
 * even alone is left out: it would raise the bound of all others and be placed nowhere.
 *
 * `shedTo` keeps its distance from `bound` also where both are held by the activity threshold or the hard limit: an instance
 * that was left at exactly the bound would be above it again with the next fluctuation.
 */
export function* limitsInTurns({ candidates, capacities, groups, where }: Occupancy, { placement }: PlannerPolicy): Resumable<Limits> {
  const active = candidates.flatMap(({ state }, candidate) => (state === "ACTIVE" ? [candidate] : []));
  const empty = openLedger(capacities);
  const isCounted = ({ index, load }: AffinityGroup): boolean =>
    where[index]?.some((candidate) => candidate !== NOWHERE) === true ||
    active.some((candidate) => empty.fits(candidate, load, placement.hardLimit));
  const [counted, all] = [LOAD_DIMENSIONS.map(() => 0), LOAD_DIMENSIONS.map(() => 0)];
  yield* visitInTurns(groups, (group) => {
    addTo(all, group.load);
    if (isCounted(group)) addTo(counted, group.load);
  });
  const means = LOAD_DIMENSIONS.map((_, d) =>
    shareOf(
      counted[d] as number,
      sumOf(
        active.map((candidate) => capacities[candidate] ?? NOTHING),
        d,
      ),
    ),
  );
  const mean = Math.max(...means);
  const tight = boundAt(mean, placement.tight, placement);
  const bound = boundAt(mean, placement.loose, placement);
  const shedTo = Math.min(tight, Math.max(mean, Math.floor((bound * placement.tight) / placement.loose)));
  const meanUnit = all.map((amount) => amount / Math.max(1, groups.length));
  return { mean, scarce: means.indexOf(mean), tight, bound, shedTo, hard: placement.hardLimit, meanUnit };
}

function addTo(sums: number[], amounts: readonly number[]): void {
  for (let d = 0; d < sums.length; d += 1) sums[d] = (sums[d] as number) + (amounts[d] as number);
}

function sumOf(rows: readonly (readonly number[])[], d: number): number {
  let sum = 0;
  for (const row of rows) sum += row[d] as number;
  return sum;
}

/** How long an instance has to be above the bound before it sheds units, in ms; less if it is beyond the hard limit too. */
export function persistenceOf(share: number, { hard }: Limits, { persistMs, persistFullMs }: PlannerPolicy): number {
  return share > hard ? Math.min(persistMs, persistFullMs) : persistMs;
}
