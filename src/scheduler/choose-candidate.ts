/** The instances that one unit can choose from, each known by its index. */
export interface CandidateSet {
  /** How many instances there are. */
  readonly size: number;
  /** Whether the instance may take the unit and stays within the bound with it. */
  admits(candidate: number, bound: number): boolean;
  /** Utilisation of the instance in its fullest dimension with the unit on it, in parts per million. */
  shareWith(candidate: number): number;
  /** Breaks ties between equally loaded instances: a hash of unit and instance. */
  tie(candidate: number): string;
}

export interface Choice {
  readonly candidate: number;
  /** The bound it stays within. */
  readonly bound: number;
  /** Its place in the walk, from 0; -1 if no candidate of the walk was within the bound and the least loaded instance was taken. */
  readonly rank: number;
}

/**
 * The rule of placement. Bounds are tried from tight to loose. Under each, the first candidate of the ring's walk that
 * stays within it is taken; where none does, the least loaded of all instances that do. `undefined`: nothing fits.
 *
 * Least loaded comes before the next looser bound, because a preference is worth less than balance: a unit that is away from
 * its preferred instance costs nothing, an instance that is too full costs a move later.
 */
export function chooseCandidate(candidateSet: CandidateSet, walk: readonly number[], bounds: readonly number[]): Choice | undefined {
  for (const bound of bounds) {
    const rank = walk.findIndex((candidate) => candidateSet.admits(candidate, bound));
    const candidate = rank < 0 ? leastLoaded(candidateSet, bound) : walk[rank];
    if (candidate !== undefined) return { candidate, bound, rank };
  }
  return undefined;
}

function leastLoaded(candidateSet: CandidateSet, bound: number): number | undefined {
  let best: readonly number[] = [];
  let least = Number.POSITIVE_INFINITY;
  for (let candidate = 0; candidate < candidateSet.size; candidate += 1) {
    const share = candidateSet.shareWith(candidate);
    if (share > least || !candidateSet.admits(candidate, bound)) continue;
    best = share < least ? [candidate] : [...best, candidate];
    least = share;
  }
  return best.length < 2 ? best[0] : byTie(candidateSet, best);
}

function byTie(candidateSet: CandidateSet, candidates: readonly number[]): number | undefined {
  return candidates.map((candidate) => ({ candidate, tie: candidateSet.tie(candidate) })).sort((a, b) => (a.tie < b.tie ? -1 : 1))[0]
    ?.candidate;
}
