import { revisionOf } from "../engine/scripted-status.ts";
import type { Figure } from "../figures.ts";
import { bareApplication } from "../limits/bare-client.ts";
import { inFlight, openLoop } from "../load.ts";
import type { Bench, Measure } from "../measure.ts";
import { blocksOf, median, noiseOf, percentile } from "../statistics.ts";
import { APPLICATIONS } from "../world/kinds.ts";
import { BARE_NAMESPACE } from "../world/open-world.ts";
import { AT_ONCE, type Deployment, deploymentKey } from "../world/users.ts";

const SECONDS = 20;
const WARM_UP_SECONDS = 3;
const ALONE = 60;
const RAW = 150;
const BLOCKS = 5;
/** How many Applications of our own are patched: so many that concurrent patches seldom hit the same one. */
const OWN = 64;
const AT_ONCE_PATCHES = 600;
/** The engine's write and the user's status. No manager can do with fewer. */
const WRITES_OF_A_CHANGE = 2;
/**
 * The share of the API server's capacity that is used. With more one would measure the queue in which the engine
 * itself waits.
 */
const PART = 0.5;

/** Counts up over the whole run: a user who sees a later revision has seen the earlier ones too. */
let revision = 0;

/**
 * The engine changes statuses at a fixed rate, whatever happens. Times are counted from the moment at which each
 * change was due. The rate is the requested one, else half of what the API server can do when it only takes the two
 * writes of each change.
 */
export const status: Measure = {
  name: "P2",
  about: "Application status changed → user's status, at a fixed rate over all applications; limit: one raw patch round trip",
  engines: ["scripted"],
  async run(bench) {
    const { options, progress, standing } = bench;
    const raw = await prepareRaw(bench);
    const before = await raw.measure();
    const alone: number[] = [];
    for (let index = 0; index < ALONE; index += 1) {
      const startedAt = performance.now();
      alone.push((await changeStatus(bench, standing[index % standing.length] as Deployment)).reportedAt - startedAt);
    }
    const capacity = await raw.capacity();
    const rate = Math.max(1, Math.min(options.rate, Math.floor((PART * capacity) / WRITES_OF_A_CHANGE)));
    progress.detail(`${rate}/s`);
    const act = async (index: number): Promise<Changed> => changeStatus(bench, standing[index % standing.length] as Deployment);
    await openLoop({ rate, count: WARM_UP_SECONDS * rate }, act, bench.signal);
    const loop = await openLoop({ rate, count: SECONDS * rate }, act, bench.signal);
    const loaded = loop.map(({ intendedAt, result }) => result.reportedAt - intendedAt);
    const taken = loop.map(({ intendedAt, result }) => result.takenAt - intendedAt);
    const rounds = [...before, ...(await raw.measure())];
    await raw.clear();
    return figuresOf({ rate, capacity, alone, loaded, taken, rounds });
  },
};

interface Samples {
  readonly rate: number;
  /** How many patches per second the API server takes when it does nothing else. */
  readonly capacity: number;
  readonly alone: readonly number[];
  readonly loaded: readonly number[];
  readonly taken: readonly number[];
  readonly rounds: readonly number[];
}

function figuresOf({ rate, capacity, alone, loaded, taken, rounds }: Samples): readonly Figure[] {
  const limit = { what: "one raw patch", value: median(rounds), p99: percentile(rounds, 0.99) };
  const figure = (what: string, samples: readonly number[]): Figure => ({
    ...{ measure: "P2", unit: "ms", better: "lower", what, limit, value: median(samples), p99: percentile(samples, 0.99) },
    noise: noiseOf(blocksOf(samples, BLOCKS).map(median)),
    samples: samples.length,
  });
  return [
    { ...figure("status changed → user's status, at a rate", loaded), goal: { of: "ratio", sense: "at most", bound: 10 } },
    figure("of which until the API server took the engine's change", taken),
    figure("status changed → user's status, one after the other", alone),
    {
      ...{ measure: "P2", unit: "/s", better: "higher", what: "the rate: two raw patches each, of all that the API server takes" },
      ...{ value: rate, noise: 0, limit: { what: "raw patches, 32 at once", value: capacity } },
    },
  ];
}

interface Changed {
  /** When the API server had accepted the change. */
  readonly takenAt: number;
  /** When the user's status showed it, or a later one. */
  readonly reportedAt: number;
}

/** Changes the status of a deployment's Application as an engine does, and waits until its user sees it. */
export async function changeStatus({ world, signal }: Pick<Bench, "world" | "signal">, deployment: Deployment): Promise<Changed> {
  const { users, client } = world;
  const application = users.applications.get(deployment.path);
  if (application === undefined) throw new Error(`there is no Application of ${deploymentKey(deployment)}`);
  revision += 1;
  const wanted = revisionOf(revision);
  const reported = users.deployments.until(deploymentKey(deployment), (seen) => seen !== undefined && seen.revision >= wanted);
  const taken = client.mergePatch(APPLICATIONS, application, { status: { sync: { revision: wanted } } }, signal);
  const [reportedAt, takenAt] = await Promise.all([reported, taken.then(() => performance.now())]);
  return { reportedAt, takenAt };
}

/** A few Applications like ours that only this measurement uses. */
async function prepareRaw({ world, standing, signal }: Bench) {
  const { client, users, repoUrl } = world;
  const like = users.applications.get(standing[0]?.path ?? "");
  const { status: present } = (like && (await client.get(APPLICATIONS, like, signal))) as unknown as { readonly status: unknown };
  const own = Array.from({ length: OWN }, () => bareApplication(users.next("raw"), { repoUrl, namespace: BARE_NAMESPACE }));
  for (const application of own) await client.create(APPLICATIONS, { ...application, status: present } as typeof application, signal);
  const at = (index: number) => ({ namespace: BARE_NAMESPACE, name: own[index % own.length]?.metadata.name ?? "" });
  return {
    async measure(): Promise<readonly number[]> {
      const rounds: number[] = [];
      for (let index = 0; index < RAW; index += 1) {
        const startedAt = performance.now();
        await client.mergePatch(APPLICATIONS, at(index), { status: { sync: { revision: revisionOf(index) } } }, signal);
        rounds.push(performance.now() - startedAt);
      }
      return rounds;
    },
    async capacity(): Promise<number> {
      const startedAt = performance.now();
      await inFlight([...Array(AT_ONCE_PATCHES).keys()], AT_ONCE, (index) =>
        client.mergePatch(APPLICATIONS, at(index), { status: { sync: { revision: revisionOf(RAW + index) } } }, signal),
      );
      return (1000 * AT_ONCE_PATCHES) / (performance.now() - startedAt);
    },
    clear: () => inFlight([...own.keys()], AT_ONCE, (index) => client.delete(APPLICATIONS, at(index), {}, signal)),
  };
}
