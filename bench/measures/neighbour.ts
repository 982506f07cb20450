import { openKube } from "../../hack/fleet/connect.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { Figure } from "../figures.ts";
import { bareApplication, clearBare, writeBare } from "../limits/bare-client.ts";
import { inFlight } from "../load.ts";
import { type Bench, BOTH, type Measure } from "../measure.ts";
import { median, noiseOf, percentile } from "../statistics.ts";
import { APPLICATIONS, BARE_DEPLOYMENTS } from "../world/kinds.ts";
import { BARE_NAMESPACE } from "../world/open-world.ts";
import { type Deployment, deploymentKey, deploymentObject, isThere, type Users } from "../world/users.ts";
import { type Creation, createOurs, createUntil, createWhile } from "./beside.ts";

const QUIET = 30;
const ROUNDS = 3;

/**
 * One workspace creates many at once. Meanwhile another one creates one after the other, over its own connections.
 * The limit has no manager: a client writes the same burst by itself, while the other workspace writes its resource
 * and its Application.
 */
export const neighbour: Measure = {
  name: "P9",
  about: "one workspace creates many at once, another creates one; limit: two writes beside a client that writes the same burst",
  engines: BOTH,
  async run(bench) {
    const { world, progress, quiet } = bench;
    const client = openKube(world.kubeconfig);
    try {
      const users = world.users.through(client);
      const made: Deployment[] = [];
      const alone = await createWhile(
        () => createOurs(users, quiet.other, made),
        (count) => count < QUIET,
      );
      const rounds: Round[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        progress.detail(`${round} of ${ROUNDS}`);
        rounds.push({ ours: await besideBurst(bench, users, made), bare: await besideBareBurst(bench, client) });
      }
      await world.users.clear(made);
      return figuresOf(alone, rounds, bench.options.noise);
    } finally {
      await client.close();
    }
  },
};

interface Round {
  readonly ours: readonly Creation[];
  readonly bare: readonly Creation[];
}

async function besideBurst({ world, options, quiet }: Bench, users: Users, made: Deployment[]): Promise<readonly Creation[]> {
  const noisy = Array.from({ length: options.noise }, () => users.next(quiet.one));
  const burst = Promise.all([
    inFlight(noisy, noisy.length, (deployment) => world.users.create(deployment)),
    ...noisy.map(({ path }) => world.users.applications.until(path, isThere)),
  ]);
  const samples = await createUntil(burst, () => createOurs(users, quiet.other, made));
  await world.users.clear(noisy);
  return samples;
}

async function besideBareBurst({ world, options, quiet, standing, signal }: Bench, client: KubeClient): Promise<readonly Creation[]> {
  const { users, repoUrl } = world;
  const noisy = Array.from({ length: options.noise }, () => users.next(quiet.one));
  const status = standing[0] && users.deployments.get(deploymentKey(standing[0]))?.status;
  const burst = writeBare(noisy, { client: world.client, repoUrl, status, namespace: BARE_NAMESPACE, signal });
  const samples = await createUntil(burst, async () => {
    const deployment = users.next(quiet.other);
    const startedAt = performance.now();
    await client.create(BARE_DEPLOYMENTS, deploymentObject(BARE_DEPLOYMENTS, { ...deployment, repoUrl }), signal);
    const takenMs = performance.now() - startedAt;
    await client.create(APPLICATIONS, bareApplication(deployment, { repoUrl, namespace: BARE_NAMESPACE }), signal);
    return { takenMs, presentMs: performance.now() - startedAt };
  });
  await clearBare([quiet.one, quiet.other, BARE_NAMESPACE], { client: world.client, signal });
  return samples;
}

function figuresOf(alone: readonly Creation[], rounds: readonly Round[], noise: number): readonly Figure[] {
  const loud = rounds.flatMap(({ ours }) => ours);
  const bare = rounds.flatMap((round) => round.bare);
  const figure = (what: string, pick: (creation: Creation) => number, limit: readonly Creation[], limitIs: string): Figure => {
    const [values, limits] = [loud.map(pick), limit.map(pick)];
    return {
      ...{ measure: "P9", unit: "ms", better: "lower", what, value: median(values), p99: percentile(values, 0.99), samples: loud.length },
      noise: noiseOf(rounds.map(({ ours }) => median(ours.map(pick)))),
      limit: { what: limitIs, value: median(limits), p99: percentile(limits, 0.99) },
    };
  };
  return [
    {
      ...figure(`created → present, beside ${noise} of a neighbour`, ({ presentMs }) => presentMs, bare, "beside a bare client's"),
      goal: { of: "ratio", sense: "at most", bound: 3 },
    },
    figure("of which until the API server took it", ({ takenMs }) => takenMs, bare, "beside a bare client's"),
    figure("the same, held against a quiet day", ({ presentMs }) => presentMs, alone, "quiet"),
  ];
}
