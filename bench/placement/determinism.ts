import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { millis } from "../../src/domain/clock.ts";
import { loadVector } from "../../src/domain/load.ts";
import { complete } from "../../src/domain/resumable.ts";
import type { Rng } from "../../src/domain/rng.ts";
import { createSeededRng } from "../../src/runtime/rng.ts";
import { hashesInTurns, planMoves } from "../../src/scheduler/plan/plan-moves.ts";
import type { PlanSnapshot } from "../../src/scheduler/plan/snapshot.ts";
import { createRingMemo } from "../../src/scheduler/ring-memo.ts";
import { UNLIMITED_POLICY } from "./events.ts";
import { afterMoves, gaussian, makeFleet, START, snapshotOf } from "./fleets.ts";

export interface Determinism {
  readonly shuffles: number;
  readonly moves: number;
  /** The number of different hashes among plans made from the same rows in different orders. */
  readonly hashes: number;
  /** Whether another process makes the same plan. */
  readonly isSameElsewhere: boolean;
  readonly planHash: string;
}

const ringOf = createRingMemo()("determinism");
const hashOf = (snapshot: PlanSnapshot): string =>
  complete(hashesInTurns(snapshot, planMoves(snapshot, { policy: UNLIMITED_POLICY, ringOf }))).planHash;

/** Plans once for each of many orders of the same rows, and once in another process. */
export function runDeterminism(shuffles: number): Determinism {
  const snapshot = busySnapshot();
  const planHash = hashOf(snapshot);
  const rng = createSeededRng("shuffles");
  const hashes = new Set([planHash]);
  for (let each = 0; each < shuffles; each += 1)
    hashes.add(hashOf({ ...snapshot, candidates: shuffled(snapshot.candidates, rng), units: shuffled(snapshot.units, rng) }));
  const { stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { encoding: "utf8" });
  const { moves } = planMoves(snapshot, { policy: UNLIMITED_POLICY, ringOf });
  return { shuffles, moves: moves.length, hashes: hashes.size, isSameElsewhere: stdout.trim() === planHash, planHash };
}

/** A fleet in which everything happens at once: loads have drifted, one instance drains, one is overloaded, one is new. */
function busySnapshot(): PlanSnapshot {
  const fleet = makeFleet({ tail: "zipf", workspaces: 2_000, instances: 20, utilisation: { applications: 0.65, milliCpu: 0.6 }, seed: 1 });
  const held = afterMoves(fleet.units, planMoves(snapshotOf(fleet), { policy: UNLIMITED_POLICY, ringOf }).moves);
  const rng = createSeededRng("drift");
  const units = held.map((unit) => {
    const factor = Math.exp(0.2 * gaussian(rng));
    return { ...unit, load: loadVector((dimension) => Math.round(unit.load[dimension] * factor)) };
  });
  const candidates = fleet.candidates.map((candidate, index) => ({
    ...candidate,
    aboveSince: millis(START - UNLIMITED_POLICY.persistMs),
    state: index === 3 ? ("DRAINING" as const) : candidate.state,
    isOverloaded: index === 5,
    isFilling: index === 7,
  }));
  return snapshotOf({ candidates, units: units.filter(({ owner }) => owner !== candidates[7]?.id) });
}

function shuffled<T>(rows: readonly T[], rng: Rng): readonly T[] {
  const copy = [...rows];
  for (let index = copy.length - 1; index > 0; index -= 1) {
    const other = Math.floor(rng.next() * (index + 1));
    [copy[index], copy[other]] = [copy[other] as T, copy[index] as T];
  }
  return copy;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${hashOf(busySnapshot())}\n`);
