import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import type { Figure } from "../figures.ts";
import { openLoop } from "../load.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { median, noiseOf } from "../statistics.ts";
import { readCost } from "../world/argosy-cost.ts";

/** Requests a second, and of each round: ten seconds. */
const RATE = 1_000;
const COUNT = 10_000;
const ROUNDS = 3;
/** From how many addresses they come. Each has a limit of its own. */
const ADDRESSES = [1, 100];
/** How many connections each round uses, at most. */
const CONNECTIONS = 200;

interface Round {
  readonly cores: number;
  readonly answers: ReadonlyMap<number, number>;
}

/** What it costs to refuse tokens that nobody knows. The limit is what it costs to answer as many requests that need no token. */
export const wrongTokens: Measure = {
  name: "P14",
  about: "cores that wrong tokens take, 1,000 a second; limit: as many requests for the version, which need no token",
  engines: BOTH,
  isSizeless: true,
  async run(bench) {
    const figures: Figure[] = [];
    for (const addresses of ADDRESSES) {
      const [wrong, open]: [Round[], Round[]] = [[], []];
      for (let round = 1; round <= ROUNDS; round += 1) {
        bench.progress.detail(`from ${countOf(addresses)}, ${round} of ${ROUNDS}`);
        open.push(await send(bench, addresses, { path: "/v1/version" }));
        wrong.push(await send(bench, addresses, { path: "/v1/instances", hasToken: true }));
      }
      const answers = [...(wrong.at(-1)?.answers ?? [])].map(([status, count]) => `${count} × ${status}`);
      bench.progress.say(`    from ${countOf(addresses)}: ${answers.join(", ")}`);
      figures.push(figureOf(addresses, wrong, open));
    }
    return figures;
  },
};

function countOf(addresses: number): string {
  return addresses === 1 ? "one address" : `${addresses} addresses`;
}

/** Sends a round to the first process, and resolves with what all processes took for it. */
async function send(
  { world: { fleet }, signal }: Bench,
  addresses: number,
  { path, hasToken = false }: { readonly path: string; readonly hasToken?: boolean },
): Promise<Round> {
  const agents = Array.from({ length: addresses }, (_, index) => ({
    localAddress: `127.0.${addresses === 1 ? 0 : 1}.${index + 1}`,
    agent: new Agent({ keepAlive: true, maxSockets: CONNECTIONS / addresses }),
  }));
  const url = `${fleet.processes[0]?.url}${path}`;
  const answers = new Map<number, number>();
  const ask = (index: number): Promise<void> => {
    const headers = hasToken ? { authorization: `Bearer argosy_${randomBytes(24).toString("hex")}` } : {};
    const from = agents[index % addresses];
    return new Promise((resolve, reject) => {
      const asked = request(url, { ...from, headers, signal }, (answer) => {
        const { statusCode = 0 } = answer;
        answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
        answer.resume().on("end", resolve).on("error", reject);
      });
      asked.on("error", reject).end();
    });
  };
  try {
    const before = await readCost(fleet);
    await openLoop({ rate: RATE, count: COUNT }, ask, signal);
    const after = await readCost(fleet);
    return { cores: (1_000 * (after.cpuSeconds - before.cpuSeconds)) / (after.at - before.at), answers };
  } finally {
    for (const { agent } of agents) agent.destroy();
  }
}

function figureOf(addresses: number, wrong: readonly Round[], open: readonly Round[]): Figure {
  const cores = (rounds: readonly Round[]) => rounds.map((round) => round.cores);
  return {
    ...{
      measure: "P14",
      what: `wrong tokens, ${RATE} a second from ${countOf(addresses)}`,
      unit: "cores",
    },
    ...{ better: "lower", value: median(cores(wrong)), samples: COUNT * ROUNDS },
    noise: noiseOf(cores(wrong).map((value, index) => value / (cores(open)[index] ?? Number.NaN))),
    limit: { what: "requests without a token", value: median(cores(open)) },
    goal: { of: "ratio", sense: "at most", bound: 2 },
  };
}
