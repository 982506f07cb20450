import { setTimeout as sleep } from "node:timers/promises";
import type { Figure } from "../figures.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { median, noiseOf } from "../statistics.ts";
import { type Cost, countedBetween, readCost, total } from "../world/argosy-cost.ts";
import { queryOnce } from "../world/query-once.ts";

const WINDOWS = 4;
/** Time for the last statuses to arrive, in ms. */
const SETTLE_MS = 20_000;
/** How many statements are listed by name. */
const SHOWN = 5;

/** The cost when nothing happens, while the engine compares every application as often as Argo CD does. */
export const idle: Measure = {
  name: "P5",
  about: "idle cost of all Argosy processes: cores, statements a second, memory",
  engines: BOTH,
  async run(bench) {
    const { world, options, progress, signal } = bench;
    await sleep(SETTLE_MS, undefined, { signal });
    const costs: Cost[] = [await readCost(world.fleet)];
    const commits = await countCommits(world.databaseUrl);
    for (let window = 1; window <= WINDOWS; window += 1) {
      progress.detail(`${window} of ${WINDOWS}`);
      await sleep((1000 * options.idleSeconds) / WINDOWS, undefined, { signal });
      costs.push(await readCost(world.fleet));
    }
    const commitsAfter = await countCommits(world.databaseUrl);
    tellStatements(bench, costs);
    return figuresOf(costs, commitsAfter - commits);
  },
};

function figuresOf(costs: readonly Cost[], commits: number): readonly Figure[] {
  const [first, last] = [costs[0] as Cost, costs.at(-1) as Cost];
  const seconds = (last.at - first.at) / 1000;
  const windows = (pick: (cost: Cost) => number): readonly number[] =>
    costs.slice(1).map((cost, index) => (1000 * (pick(cost) - pick(costs[index] as Cost))) / (cost.at - (costs[index] as Cost).at));
  const cpu = windows(({ cpuSeconds }) => cpuSeconds);
  const statements = windows((cost) => total(cost.statements));
  const requests = windows((cost) => total(cost.requests));
  const common = { measure: "P5", better: "lower" } as const;
  return [
    {
      ...{ ...common, what: "idle: CPU", unit: "cores", value: (last.cpuSeconds - first.cpuSeconds) / seconds, noise: noiseOf(cpu) },
      goal: { of: "value", sense: "at most", bound: 0.02 },
    },
    {
      ...{
        ...common,
        what: "idle: statements, as Argosy counts them",
        unit: "/s",
        value: (total(last.statements) - total(first.statements)) / seconds,
      },
      ...{ noise: noiseOf(statements), goal: { of: "value", sense: "at most", bound: 5 } },
    },
    { ...common, what: "idle: transactions, as PostgreSQL counts them", unit: "/s", value: commits / seconds, noise: 0 },
    { ...common, what: "idle: requests to Kubernetes", unit: "/s", value: median(requests), noise: noiseOf(requests) },
    { ...common, what: "resident memory", unit: "MiB", value: last.residentMiB, noise: 0 },
  ];
}

function tellStatements({ progress }: Bench, costs: readonly Cost[]): void {
  const counted = countedBetween((costs[0] as Cost).statements, (costs.at(-1) as Cost).statements);
  progress.say(
    `    idle statements: ${counted
      .slice(0, SHOWN)
      .map(([name, count]) => `${name} ${count}`)
      .join(", ")}`,
  );
}

/** All transactions of the server since its start, of all clients. */
async function countCommits(url: string): Promise<number> {
  const [sum] = await queryOnce<{ readonly n: string }>(
    url,
    "select sum(xact_commit + xact_rollback) as n from pg_stat_database where datname = current_database()",
  );
  return Number(sum?.n ?? 0);
}
