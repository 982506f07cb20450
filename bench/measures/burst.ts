import type { Figure } from "../figures.ts";
import { clearBare, writeBare } from "../limits/bare-client.ts";
import { inFlight } from "../load.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { median, noiseOf } from "../statistics.ts";
import { type Cost, readCost, total } from "../world/argosy-cost.ts";
import { BARE_NAMESPACE } from "../world/open-world.ts";
import { AT_ONCE, type Deployment, deploymentKey, isReported, isThere } from "../world/users.ts";

const REPEATS = 3;

/** Deployments per second. */
interface Rates {
  /** Until the last Application existed. */
  readonly present: number;
  /** Until the last user's status said Synced. */
  readonly reported: number;
  readonly bare: number;
  /** From the first request to the last status, per deployment. */
  readonly cpuMs: number;
  readonly requests: number;
  readonly statements: number;
}

/** Creates many as fast as their users can, 32 requests at once, in many workspaces and in one. */
export const burst: Measure = {
  name: "P1b",
  about: "a burst of creations, in 100 workspaces and in one; limit: a client that writes resource, Application and status itself",
  engines: BOTH,
  async run(bench) {
    const { progress, quiet, workspaces } = bench;
    const figures: Figure[] = [];
    for (const [where, namespaces] of [
      ["100 workspaces", workspaces],
      ["one workspace", [quiet.one]],
    ] as const) {
      const rates: Rates[] = [];
      for (let repeat = 1; repeat <= REPEATS; repeat += 1) {
        progress.detail(`${where}, ${repeat} of ${REPEATS}`);
        rates.push(await burstOnce(bench, namespaces));
      }
      figures.push(...figuresOf(where, rates));
    }
    return figures;
  },
};

async function burstOnce(bench: Bench, namespaces: readonly string[]): Promise<Rates> {
  const { world, options, signal } = bench;
  const { users, client, repoUrl } = world;
  const fresh = (): readonly Deployment[] =>
    Array.from({ length: options.burst }, (_, index) => users.next(namespaces[index % namespaces.length] ?? ""));
  const wanted = fresh();
  const before = await readCost(world.fleet);
  const startedAt = performance.now();
  const rateAt = (at: readonly number[]): number => (1000 * wanted.length) / (Math.max(...at) - startedAt);
  const present = Promise.all(wanted.map(({ path }) => users.applications.until(path, isThere)));
  const reported = Promise.all(wanted.map((deployment) => users.deployments.until(deploymentKey(deployment), isReported)));
  await Promise.all([inFlight(wanted, AT_ONCE, (deployment) => users.create(deployment)), present, reported]);
  const ours = {
    present: rateAt(await present),
    reported: rateAt(await reported),
    ...costOf(wanted.length, before, await readCost(world.fleet)),
  };
  const status = users.deployments.get(deploymentKey(wanted[0] as Deployment))?.status;
  bench.progress.say(`    present ${ours.present.toFixed(1)}/s, reported ${ours.reported.toFixed(1)}/s`);
  await users.clear(wanted);
  bench.progress.say(`    cleared after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  const bare = await writeBare(fresh(), { client, repoUrl, status, namespace: BARE_NAMESPACE, signal });
  await clearBare([...namespaces, BARE_NAMESPACE], { client, signal });
  bench.progress.say(`    bare ${bare.toFixed(1)}/s`);
  return { ...ours, bare };
}

function costOf(count: number, before: Cost, after: Cost): Pick<Rates, "cpuMs" | "requests" | "statements"> {
  return {
    cpuMs: (1000 * (after.cpuSeconds - before.cpuSeconds)) / count,
    requests: (total(after.requests) - total(before.requests)) / count,
    statements: (total(after.statements) - total(before.statements)) / count,
  };
}

function figuresOf(where: string, rates: readonly Rates[]): readonly Figure[] {
  const limit = { what: "bare client", value: median(rates.map(({ bare }) => bare)) };
  const common = { measure: "P1b", unit: "/s", better: "higher", limit, samples: rates.length } as const;
  const figure = (what: string, pick: (rate: Rates) => number): Figure => ({
    ...common,
    what: `${what}, ${where}`,
    value: median(rates.map(pick)),
    noise: noiseOf(rates.map((rate) => pick(rate) / rate.bare)),
  });
  const cost = (what: string, unit: string, pick: (rate: Rates) => number): Figure => ({
    ...{ measure: "P1b", better: "lower", what: `${what} for each deployment, ${where}`, unit, samples: rates.length },
    ...{ value: median(rates.map(pick)), noise: noiseOf(rates.map(pick)) },
  });
  return [
    { ...figure("burst → all Applications present", ({ present }) => present), goal: { of: "ratio", sense: "at least", bound: 0.5 } },
    figure("burst → all users' statuses Synced", ({ reported }) => reported),
    cost("CPU of Argosy", "ms", ({ cpuMs }) => cpuMs),
    cost("requests to Kubernetes", "", ({ requests }) => requests),
    cost("statements", "", ({ statements }) => statements),
  ];
}
