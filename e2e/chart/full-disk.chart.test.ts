import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingForRealNode } from "../../hack/dev-cluster/real-node/requirements.ts";
import { ROLES } from "../../src/domain/role.ts";
import { IS_LONG, until } from "../world.ts";
import { imageOfCheckout } from "./argosy-image.ts";
import { type AttackWorld, openAttack } from "./attack-world.ts";
import { CHART, type ChartCluster, imageValues, RELEASE, startChartCluster } from "./chart-cluster.ts";

const { signal } = new AbortController();
const missing = missingForRealNode();
const skip = IS_LONG ? missing && `${missing.why}. ${missing.remedy}` : "only long runs fill disks (ARGOSY_LONG=1)";
const found = skip === undefined ? await imageOfCheckout(signal) : { skip };
if ("skip" in found) process.stdout.write(`chart: the attack on a disk is not tried: ${found.skip}\n`);

const MINUTE_MS = 60_000;
/** How long what is awaited may take, in ms. Far more than it takes. */
const DEADLINE_MS = 20 * MINUTE_MS;
/** Two cores suffice for two instances beside it. */
const SMALL = {
  replicas: 1,
  workloads: Object.fromEntries(ROLES.map((role) => [role, { resources: { requests: { cpu: "20m" }, limits: { memory: "1Gi" } } }])),
};
/** What checkouts of a repo-server may take. Those of the tenant take several times as much. */
const DISK = "200Mi";
const ATTACK = { repositories: 8, bytes: 40 * 2 ** 20, everyMs: 5_000 };
const say = (text: string): void => void process.stdout.write(`chart: ${text}\n`);

describe.skipIf("skip" in found)("a tenant whose repositories do not fit on the disk of a shared repo-server", () => {
  let cluster: ChartCluster;
  let world: AttackWorld;
  let attack: { end(): Promise<void> } | undefined;
  const values = (quarantines: number): string => {
    if ("skip" in found) throw new Error(found.skip);
    const config = { apiCluster: { singleServer: true }, health: { periodMs: 5_000, quarantines } };
    const resources = {
      controller: { memory: "1Gi", cpu: "2" },
      repoServer: { memory: "1Gi", cpu: "1", disk: DISK },
      redis: { memory: "128Mi", cpu: "100m" },
    };
    const pool = { instances: { min: 1, max: 2 }, resources };
    return cluster.valuesFile(`values-${quarantines}`, { ...SMALL, image: imageValues(found.image), config }, { pool });
  };
  const helm = async (...args: readonly string[]): Promise<void> => {
    expect(await cluster.helm([...args, "--wait", "--timeout", "8m"])).toMatchObject({ code: 0 });
  };
  beforeAll(async () => {
    if ("skip" in found) return;
    cluster = await startChartCluster({ nodes: 1, images: [found.image] }, signal);
    world = openAttack(cluster, ATTACK, signal);
    await helm("install", RELEASE, CHART, "--values", values(0));
    await world.prepare();
  });
  afterAll(async () => {
    await attack?.end();
    await cluster?.stop();
  });

  it("has it evicted for its neighbours too, again and again, while nobody is isolated", async () => {
    say(`quiet: ${(await world.pushFor(MINUTE_MS / 2)).text}`);
    attack = await world.beginAttack();
    say(`under the attack: ${(await world.pushFor(3 * MINUTE_MS)).text}`);
    const { neighbour } = await world.holders();
    const ended = await until(
      "three evictions",
      () => world.evicted(neighbour),
      (pods) => pods.length >= 3,
      DEADLINE_MS,
    );
    say(`${ended.length} repo-servers ended: ${ended.map(({ status }) => status?.phase).join(", ")}`);
  });

  it("lives on an instance of its own soon after that is allowed, and its neighbours have peace", async () => {
    await helm("upgrade", RELEASE, CHART, "--values", values(1));
    const began = performance.now();
    const apart = await until("two instances", world.holders, ({ tenant, neighbour }) => tenant !== neighbour, DEADLINE_MS);
    say(`isolated ${((performance.now() - began) / 1000).toFixed(0)} s after that was allowed`);
    await until(
      "its instance closed to others",
      async () => (await world.instances()).find(({ name }) => name === apart.tenant)?.state,
      (state) => state === "CORDONED",
      DEADLINE_MS,
    );
    const before = (await world.evicted(apart.neighbour)).length;
    say(`afterwards: ${(await world.pushFor(3 * MINUTE_MS)).text}`);
    const after = (await world.evicted(apart.neighbour)).length;
    say(`repo-servers of the neighbour's instance that ended since: ${after - before}`);
    // What was cloned before the move may fill the disk once more.
    expect(after).toBeLessThanOrEqual(before + 1);
    await until(
      "an eviction on its own instance",
      () => world.evicted(apart.tenant),
      (pods) => pods.length > 0,
      DEADLINE_MS,
    );
  });
});
