import type { PlannedMove } from "../../domain/plan.ts";

/** How many moves may be under way at once. */
export interface Concurrency {
  readonly voluntary: number;
  /** Of what has to leave an instance that drains. */
  readonly forced: number;
  readonly perInstance: number;
  readonly perCluster: number;
  /** For moves off an overloaded instance `voluntary` and `perInstance` are multiplied by this. */
  readonly hotFactor: number;
}

const DEFAULT_CONCURRENCY: Concurrency = { voluntary: 20, forced: 20, perInstance: 2, perCluster: 1, hotFactor: 4 };

export interface Progress {
  /** Steps of the plan that were not started yet, in order. */
  readonly waiting: readonly PlannedMove[];
  /** Of this plan and all others. */
  readonly underWay: readonly PlannedMove[];
  /** How many of this plan's moves were verified; none of them failed. */
  readonly verified: number;
  /** Managed clusters of each unit. */
  readonly clustersOf: (move: PlannedMove) => readonly string[];
}

/**
 * Which of a plan's moves start now. The first goes alone; when it was verified two may be under way, then four, and so on: a
 * plan that is wrong shows it while little depends on it. Steps start in order, so that room that an earlier step makes is
 * there; a step whose instance or managed cluster is busy holds up those after it that touch the same, and no others.
 */
export function nextStarts(
  { waiting, underWay, verified, clustersOf }: Progress,
  limits: Concurrency = DEFAULT_CONCURRENCY,
): readonly PlannedMove[] {
  const busy = tally(underWay.flatMap((move) => touches(move, clustersOf)));
  const counts = { voluntary: underWay.filter(isVoluntary).length, forced: underWay.filter((move) => !isVoluntary(move)).length };
  const slow = 2 ** Math.min(20, Math.floor(Math.log2(verified + 1)));
  let running = underWay.length;
  return waiting.filter((move) => {
    const kind = isVoluntary(move) ? "voluntary" : "forced";
    const touched = touches(move, clustersOf);
    const factor = move.reason === "HOT" ? limits.hotFactor : 1;
    const isFree = touched.every((thing) => (busy.get(thing) ?? 0) < (isCluster(thing) ? limits.perCluster : limits.perInstance * factor));
    // Also a step that waits keeps its place: what comes later must not take it.
    for (const thing of touched) busy.set(thing, (busy.get(thing) ?? 0) + 1);
    if (!isFree || counts[kind] >= limits[kind] * factor || running >= slow) return false;
    counts[kind] += 1;
    running += 1;
    return true;
  });
}

function isVoluntary({ reason }: PlannedMove): boolean {
  return reason !== "FORCED";
}

function touches(move: PlannedMove, clustersOf: Progress["clustersOf"]): readonly string[] {
  const instances = [move.from, move.to].flatMap((id) => (id === undefined ? [] : [`instance ${id}`]));
  return [...instances, ...clustersOf(move).map((name) => `cluster ${name}`)];
}

function isCluster(thing: string): boolean {
  return thing.startsWith("cluster ");
}

function tally(things: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1);
  return counts;
}
