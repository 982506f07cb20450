import type { RunOutcome } from "../run.ts";
import { runSeed } from "../run.ts";
import { loadScenario, scenarioNames } from "../scenarios/load.ts";
import type { Scenario } from "../scenarios/schema.ts";

/** Seeds that once found something: they are always run. Rows of track-record.md. */
const KNOWN_SEEDS: Readonly<Record<string, readonly number[]>> = {
  anything: [50383, 51134, 61086],
  burst: [142],
  "database-fail-over": [124],
  "failing-syncs": [400152, 400547],
  "instance-loss": [139, 141],
  "lost-answers": [1, 4, 21, 110, 153, 173, 213, 243],
  "lost-calls": [117, 173],
  "move-crashes": [106],
  "move-ended-namespaces": [40153],
  "move-fail-over": [107],
  "move-redirect": [8, 27, 48, 72],
  "tenant-chaos": [24],
  "worker-crashes": [5, 167],
};

/** The share of all seeds that one of several workers runs: those with its remainder. */
export interface Share {
  readonly of: number;
  readonly remainder: number;
  /** No run is begun after this time, in ms of the machine. */
  readonly forMs: number;
}

export interface Tally {
  readonly runs: number;
  readonly simulatedMs: number;
  readonly failed: readonly RunOutcome[];
}

/** Runs scenario after scenario, seed after seed, until the time is over; known seeds come first. Scenarios with an open finding are left out. */
export async function runSeeds({ of, remainder, forMs }: Share): Promise<Tally> {
  const startedAt = performance.now();
  const failed: RunOutcome[] = [];
  let [runs, simulatedMs] = [0, 0];
  const run = async (name: string, seed: number): Promise<void> => {
    const outcome = await runSeed({ scenario: loadScenario(name), seed });
    runs += 1;
    simulatedMs += outcome.simulatedMs;
    if (outcome.violations.length > 0) failed.push(outcome);
  };
  const known = Object.entries(KNOWN_SEEDS).flatMap(([name, seeds]) => seeds.map((seed) => ({ name, seed })));
  for (const [index, { name, seed }] of known.entries()) if (index % of === remainder) await run(name, seed);
  const settled = scenarioNames()
    .map(loadScenario)
    .filter(({ open }) => open === undefined);
  const hasTime = (): boolean => performance.now() - startedAt < forMs;
  const isDue = ({ commitRuns }: Scenario, round: number): boolean => round * of + remainder < commitRuns || hasTime();
  for (let round = 0; settled.some((each) => isDue(each, round)); round += 1)
    for (const each of settled) if (isDue(each, round)) await run(each.name, 100 + round * of + remainder);
  return { runs, simulatedMs, failed };
}

/** The outcome for a person, with the command that repeats each failed run. */
export function renderTally(share: Share, { runs, simulatedMs, failed }: Tally): string {
  const lines = failed.map(
    ({ scenario, seed, violations: [first] }) =>
      `npm run simulate -- --scenario ${scenario} --seed ${seed}   ${first?.property}: ${first?.text} (at ${Math.round((first?.at ?? 0) / 1_000)} s)`,
  );
  const hours = (simulatedMs / 3_600_000).toFixed(1);
  return [
    `simulation, share ${share.remainder + 1} of ${share.of}: ${runs} runs, ${hours} simulated hours, ${failed.length} failed`,
    ...lines,
  ].join("\n");
}

/**
 * A commit runs a fixed number of seeds of each scenario: whether it is green must not depend on how fast the machine is. A long run goes on
 * for as long as it may.
 */
export function seedsOfShare(remainder: number, of: number, isLong: boolean): Share {
  return { of, remainder, forMs: isLong ? 60 * 60_000 : 0 };
}
