import { openKube } from "../../hack/fleet/connect.ts";
import type { Figure } from "../figures.ts";
import { inFlight } from "../load.ts";
import type { Bench, Measure } from "../measure.ts";
import { blocksOf, median, noiseOf, percentile } from "../statistics.ts";
import { AT_ONCE, type Deployment, isThere } from "../world/users.ts";
import { type Creation, createOurs, createUntil, createWhile } from "./beside.ts";

/** Samples of a quiet day. The flood is compared with their p99, so there have to be some beyond it. */
const QUIET = 200;
/** The flood is cut into so many parts; their medians are its repeats. */
const PARTS = 5;
/** How many deployments are removed at the same time, each of which is waited for. */
const CLEARED_TOGETHER = 500;

/**
 * One workspace sends a flood, as fast as its user can with 32 requests at once. Meanwhile another one creates one
 * deployment after the other, over its own connections. The limit is the p99 of the same on a quiet day.
 */
export const flood: Measure = {
  name: "P9b",
  about: "one workspace creates thousands at once, another creates one; limit: p99 of the same on a quiet day",
  engines: ["scripted"],
  async run(bench) {
    const { world, quiet, options, progress } = bench;
    const client = openKube(world.kubeconfig);
    try {
      const users = world.users.through(client);
      const made: Deployment[] = [];
      const create = () => createOurs(users, quiet.other, made);
      const alone = await createWhile(create, (count) => count < QUIET);
      const noisy = Array.from({ length: options.flood }, () => users.next(quiet.one));
      const startedAt = performance.now();
      const beside = await createUntil(send(bench, noisy), create);
      progress.say(`    ${options.flood} present after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
      for (let from = 0; from < noisy.length; from += CLEARED_TOGETHER) await world.users.clear(noisy.slice(from, from + CLEARED_TOGETHER));
      await world.users.clear(made);
      return figuresOf(options.flood, alone, beside);
    } finally {
      await client.close();
    }
  },
};

/** Resolves when each deployment of the flood has its Application. */
async function send({ world: { users } }: Bench, noisy: readonly Deployment[]): Promise<void> {
  await inFlight(noisy, AT_ONCE, (deployment) => users.create(deployment));
  for (const { path } of noisy) await users.applications.until(path, isThere);
}

function figuresOf(count: number, alone: readonly Creation[], beside: readonly Creation[]): readonly Figure[] {
  const figure = (what: string, pick: (creation: Creation) => number): Figure => {
    const [quiet, loud] = [alone.map(pick), beside.map(pick)];
    return {
      ...{ measure: "P9b", unit: "ms", better: "lower", what, samples: loud.length },
      ...{ value: median(loud), p99: percentile(loud, 0.99), noise: noiseOf(blocksOf(loud, PARTS).map(median)) },
      limit: { what: "quiet p99", value: percentile(quiet, 0.99) },
    };
  };
  return [
    {
      ...figure(`created → present, beside a flood of ${count}`, ({ presentMs }) => presentMs),
      goal: { of: "ratio", sense: "at most", bound: 2 },
    },
    figure("of which until the API server took it", ({ takenMs }) => takenMs),
  ];
}
