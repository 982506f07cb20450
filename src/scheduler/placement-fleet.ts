import { contentHash, sha256 } from "../domain/hash.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import { type InstanceState, loadOn } from "../domain/instance.ts";
import { addLoad, LOAD_DIMENSIONS, type LoadVector, ZERO_LOAD } from "../domain/load.ts";
import { complete, type Resumable } from "../domain/resumable.ts";
import { type Candidate, ringNodes } from "./candidate.ts";
import type { CandidateSet } from "./choose-candidate.ts";
import { NO_CONSTRAINTS, type PlacementConstraints, whyNotEligible } from "./eligibility.ts";
import { buildRingInTurns, type HashRing } from "./hash-ring.ts";
import { WHOLE } from "./policy.ts";
import type { RingSource } from "./ring-memo.ts";
import { ceilingOf, shareOf } from "./utilisation.ts";

/** What is so of some instances for one unit only: who is there that it must be apart from. */
export type CandidateMarks = ReadonlyMap<InstanceId, Pick<Candidate, "holds" | "occupied">>;

export const NO_MARKS: CandidateMarks = new Map();

/** The instances of a class at the time of a decision, summed up in the same space however many there are. */
export interface CandidateSummary {
  readonly instances: number;
  readonly byState: Readonly<Partial<Record<InstanceState, number>>>;
  /** Hash of all candidates with all their numbers, by id: two decisions with the same hash were taken on the same facts. */
  readonly hash: string;
}

/** A unit that looks for an instance. */
export interface SeekingUnit {
  readonly id: UnitId;
  readonly load: LoadVector;
  readonly constraints?: PlacementConstraints;
  readonly marks?: CandidateMarks;
}

/**
 * The instances of a class, made ready for many placements one after the other: what follows from them alone is found once, and what a placement changes is
 * changed. Instances are known by their index in order of id.
 */
export interface PlacementFleet {
  readonly size: number;
  readonly ring: HashRing;
  indexOf(id: string): number | undefined;
  /** With what it holds now, and what is so of it for this unit. */
  candidate(index: number, marks?: CandidateMarks): Candidate;
  candidates(marks?: CandidateMarks): readonly Candidate[];
  summary(marks?: CandidateMarks): CandidateSummary;
  /** Mean utilisation of the class in its fullest dimension, in parts per million. Only ACTIVE instances count: the others take no units. */
  mean(): number;
  /**
   * Whether it is plain that no instance has room for a load within a bound, which is at most the hard limit: it asks for more of something than the one
   * with most of that left has. No instance is visited for it.
   */
  isBeyondAll(load: LoadVector): boolean;
  /** Whether the health of some instance is unknown. */
  readonly hasUnknown: boolean;
  /** The instances that a unit can choose from. `takesUnknown`: those whose health is unknown are among them. */
  candidatesFor(unit: SeekingUnit, takesUnknown: boolean): CandidateSet;
  /** Counts a unit that was placed. */
  add(id: InstanceId, load: LoadVector): void;
  /** How often an instance was held against a unit so far: what placements cost. */
  visits(): number;
}

const WIDTH = LOAD_DIMENSIONS.length;
/** Whether an instance takes units that demand nothing: never, if its health is unknown and that does not matter, or yes. */
const [CLOSED, UNKNOWN, OPEN] = [0, 1, 2];

/** Makes a class's instances ready, with pauses. `hardLimit`: how full an instance may be at most, in parts per million. */
export function* openPlacementFleetInTurns(
  given: readonly Candidate[],
  hardLimit: number,
  ringOf: RingSource = buildRingInTurns,
): Resumable<PlacementFleet> {
  const candidates = given.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const ring = yield* ringOf(ringNodes(candidates));
  const index = new Map<string, number>(candidates.map(({ id }, at) => [id, at]));
  const capacity = Float64Array.from(candidates.flatMap((each) => amountsOf(each.capacity)));
  const load = Float64Array.from(candidates.flatMap((each) => amountsOf(each.load)));
  /** What one unit takes of each dimension besides its load. */
  const extra = Float64Array.from(candidates.flatMap((each) => amountsOf(loadOn(each, ZERO_LOAD))));
  const open = candidates.map((each) => {
    if (whyNotEligible(NO_CONSTRAINTS, each) === undefined) return OPEN;
    return whyNotEligible(NO_CONSTRAINTS, each, true) === undefined ? UNKNOWN : CLOSED;
  });
  const [held, borne] = [new Float64Array(WIDTH), new Float64Array(WIDTH)];
  for (const [at, { state }] of candidates.entries()) {
    if (state !== "ACTIVE") continue;
    for (let d = 0; d < WIDTH; d += 1) {
      held[d] = (held[d] as number) + (load[at * WIDTH + d] as number);
      borne[d] = (borne[d] as number) + (capacity[at * WIDTH + d] as number);
    }
  }
  const mostLeft = leftOf(candidates, hardLimit);
  const hashes: (string | undefined)[] = candidates.map(() => undefined);
  const byState = countStates(candidates);
  let whole: string | undefined;
  let visited = 0;

  const withMarks = (candidate: Candidate, marks: CandidateMarks): Candidate => {
    const mark = marks.get(candidate.id);
    return mark === undefined ? candidate : { ...candidate, ...mark };
  };
  const hashAt = (at: number): string => {
    const known = hashes[at] ?? contentHash(candidates[at]);
    hashes[at] = known;
    return known;
  };
  const hash = (marks: CandidateMarks): string => {
    if (marks.size === 0) {
      whole ??= contentHash(candidates.map((_, at) => hashAt(at)));
      return whole;
    }
    return contentHash(candidates.map((each, at) => (marks.has(each.id) ? contentHash(withMarks(each, marks)) : hashAt(at))));
  };
  const fits = (at: number, more: readonly number[], bound: number): boolean => {
    for (let d = at * WIDTH, of = 0; of < WIDTH; d += 1, of += 1) {
      const after = (load[d] as number) + (more[of] as number) + (extra[d] as number);
      if (after > Math.floor((Math.max(0, capacity[d] as number) * bound) / WHOLE)) return false;
    }
    return true;
  };
  return {
    size: candidates.length,
    ring,
    indexOf: (id) => index.get(id),
    candidate: (at, marks = NO_MARKS) => withMarks(candidates[at] as Candidate, marks),
    candidates: (marks = NO_MARKS) => (marks.size === 0 ? [...candidates] : candidates.map((each) => withMarks(each, marks))),
    summary: (marks = NO_MARKS) => ({ instances: candidates.length, byState, hash: hash(marks) }),
    mean: () => Math.max(...LOAD_DIMENSIONS.map((_, d) => shareOf(held[d] as number, borne[d] as number))),
    isBeyondAll: (wanted) => amountsOf(wanted).some((amount, d) => amount > (mostLeft[d] as number)),
    hasUnknown: candidates.some(({ health }) => health === "unknown"),
    candidatesFor({ id, load: wanted, constraints = NO_CONSTRAINTS, marks = NO_MARKS }, takesUnknown) {
      const more = amountsOf(wanted);
      const isPlain = constraints === NO_CONSTRAINTS;
      const isEligible = (at: number): boolean => {
        const candidate = candidates[at] as Candidate;
        if (isPlain) return open[at] === OPEN || (takesUnknown && open[at] === UNKNOWN);
        return whyNotEligible(constraints, withMarks(candidate, marks), takesUnknown) === undefined;
      };
      return {
        size: candidates.length,
        admits: (at, bound) => {
          visited += 1;
          return fits(at, more, bound) && isEligible(at);
        },
        shareWith: (at) => {
          visited += 1;
          let most = 0;
          for (let d = at * WIDTH, of = 0; of < WIDTH; d += 1, of += 1) {
            const share = shareOf((load[d] as number) + (more[of] as number) + (extra[d] as number), capacity[d] as number);
            if (share > most) most = share;
          }
          return most;
        },
        tie: (at) => sha256(`${id}|${candidates[at]?.id}`),
      };
    },
    add(id, placed) {
      const at = index.get(id);
      if (at === undefined) return;
      const candidate = candidates[at] as Candidate;
      const taken = loadOn(candidate, placed);
      candidates[at] = { ...candidate, load: addLoad(candidate.load, taken) };
      for (const [d, amount] of amountsOf(taken).entries()) {
        load[at * WIDTH + d] = (load[at * WIDTH + d] as number) + amount;
        if (candidate.state === "ACTIVE") held[d] = (held[d] as number) + amount;
      }
      hashes[at] = undefined;
      whole = undefined;
    },
    visits: () => visited,
  };
}

/** The same without pauses. */
export function openPlacementFleet(candidates: readonly Candidate[], hardLimit: number, ringOf?: RingSource): PlacementFleet {
  return complete(openPlacementFleetInTurns(candidates, hardLimit, ringOf));
}

/** In each dimension, what the instance has left that has most of it left. It only shrinks while units are placed, so it stays an upper limit. */
function leftOf(candidates: readonly Candidate[], hardLimit: number): readonly number[] {
  const active = candidates.filter(({ state }) => state === "ACTIVE");
  const left = active.map((each) => {
    const [ceiling, after] = [ceilingOf(each.capacity, hardLimit), addLoad(each.load, loadOn(each, ZERO_LOAD))];
    return amountsOf(ceiling).map((amount, d) => amount - (amountsOf(after)[d] as number));
  });
  return LOAD_DIMENSIONS.map((_, d) => Math.max(Number.NEGATIVE_INFINITY, ...left.map((each) => each[d] as number)));
}

/** Of candidates by id. */
export function summaryOf(candidates: readonly Candidate[]): CandidateSummary {
  return { instances: candidates.length, byState: countStates(candidates), hash: contentHash(candidates.map(contentHash)) };
}

function countStates(candidates: readonly Candidate[]): CandidateSummary["byState"] {
  const states = Map.groupBy(candidates, ({ state }) => state);
  return Object.fromEntries([...states].map(([state, all]) => [state, all.length] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function amountsOf(load: LoadVector): readonly number[] {
  const { applications, clusterEntries, cachedResources, milliCpu, gitPerMinute } = load;
  return [applications, clusterEntries, cachedResources, milliCpu, gitPerMinute];
}
