import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../figures.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { median } from "../statistics.ts";
import { readCost } from "../world/argosy-cost.ts";

const CYCLES = 6;
const IN_A_CYCLE = 200;
/** Memory is read a few times after each cycle and the least value counts: the rest is garbage that is not collected yet. */
const READINGS = 4;
const BETWEEN_MS = 500;

/** Whether created and deleted deployments leave something behind in Argosy's memory. */
export const memory: Measure = {
  name: "P5m",
  about: `memory over ${CYCLES} cycles of creating and deleting ${IN_A_CYCLE} deployments`,
  engines: BOTH,
  async run(bench) {
    const { users } = bench.world;
    const readings: Reading[] = [];
    for (let cycle = 1; cycle <= CYCLES; cycle += 1) {
      bench.progress.detail(`${cycle} of ${CYCLES}`);
      const made = Array.from({ length: IN_A_CYCLE }, (_, index) => users.next(bench.workspaces[index % bench.workspaces.length] ?? ""));
      await users.settle(made);
      await users.clear(made);
      readings.push(await leastMemory(bench));
    }
    bench.progress.say(`    heap after each cycle, MiB: ${readings.map(({ heapMiB }) => heapMiB.toFixed(1)).join(", ")}`);
    return figuresOf(readings);
  },
};

interface Reading {
  readonly heapMiB: number;
  readonly residentMiB: number;
}

async function leastMemory({ world, signal }: Bench): Promise<Reading> {
  const readings: Reading[] = [];
  for (let reading = 0; reading < READINGS; reading += 1) {
    await sleep(BETWEEN_MS, undefined, { signal });
    readings.push(await readCost(world.fleet));
  }
  return {
    heapMiB: Math.min(...readings.map(({ heapMiB }) => heapMiB)),
    residentMiB: Math.min(...readings.map(({ residentMiB }) => residentMiB)),
  };
}

function figuresOf(readings: readonly Reading[]): readonly Figure[] {
  const half = Math.floor(readings.length / 2);
  const growth = (pick: (reading: Reading) => number): number =>
    (median(readings.slice(half).map(pick)) - median(readings.slice(0, half).map(pick))) / (half * IN_A_CYCLE);
  const common = { measure: "P5m", unit: "KiB", better: "lower", noise: 0, samples: readings.length } as const;
  return [
    { ...common, what: "heap growth per deleted deployment", value: 1024 * growth(({ heapMiB }) => heapMiB) },
    { ...common, what: "growth of resident memory per deleted deployment", value: 1024 * growth(({ residentMiB }) => residentMiB) },
  ];
}
