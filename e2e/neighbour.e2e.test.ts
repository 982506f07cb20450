import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allReady, sumOf } from "./control-plane.ts";
import { callHarness } from "./harness-client.ts";
import { inSeconds } from "./in-seconds.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import {
  configMapFile,
  type DeploymentResource,
  IS_LONG,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type Workspace,
} from "./world.ts";

/** Deployments that the noisy workspace creates at once. */
const BURST = IS_LONG ? 300 : 60;
/** Deployments that the neighbour creates one after the other while nobody else does anything. */
const QUIET = 3;
/** A limit that holds nothing back. */
const UNPACED = { unfinishedApplications: 0 };
/** Timeout until the whole burst is deployed, or gone. */
const CLEAR_MS = IS_LONG ? 900_000 : 600_000;

const namesOf = (round: string): readonly string[] => Array.from({ length: BURST }, (_, index) => `${round}-${index}`);
const filesOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(name, {})]));

describe("a workspace that creates very many deployments at once", () => {
  const world = openWorld();
  const { kube, signal, harness } = world;
  let pools: PoolsWorld;
  let noisy: Workspace;
  let neighbour: Workspace;

  beforeAll(async () => {
    pools = openPools(world);
    const quiet = Array.from({ length: QUIET + 1 }, (_, index) => `quiet-${index}`);
    await world.git.commit("noisy", filesOf(["first", ...namesOf("paced"), ...namesOf("unpaced")]));
    await world.git.commit("neighbour", filesOf([...quiet, "paced", "unpaced"]));
    const quotas = { workspaces: { ...(pools.document["workspaces"] as object), quota: { deployments: 1_000 } } };
    await pools.declare(pools.withPool({ name: "pace", instances: { min: 1, max: 1 } }, quotas));
    await pools.instance("pace-1", "active", (found) => found?.state === "ACTIVE");
    [noisy, neighbour] = [await openWorkspace(world, "pace-noisy"), await openWorkspace(world, "pace-neighbour")];
    // What only a workspace's first deployment needs is not measured here.
    await timeOf(noisy, "first", "noisy");
    await timeOf(neighbour, "quiet-0", "neighbour");
  });
  afterAll(async () => {
    if (IS_LONG) await restart();
    const names = [noisy, neighbour].map(({ namespace }) => ({ namespace: "", name: namespace }));
    for (const name of names) await kube.delete(TYPES.namespace, name, {}, signal);
    for (const name of names)
      await until(
        `${name.name} gone`,
        () => kube.get(TYPES.namespace, name, signal),
        (found) => found === undefined,
        CLEAR_MS,
      );
    await pools.restore();
  });

  /** Restarts every control plane process, with other limits if any are given. */
  async function restart(limits?: Readonly<Record<string, number>>): Promise<void> {
    for (const index of harness.argosyUrls.keys()) {
      await callHarness(harness, "killArgosy", { index });
      await callHarness(harness, "startArgosy", { index, ...(limits === undefined ? {} : { limits }) });
    }
    await allReady(world);
  }

  /** Milliseconds from a user's change until that user reads Synced and Healthy. */
  async function timeOf(workspace: Workspace, name: string, repository: string): Promise<number> {
    const startedAt = performance.now();
    await workspace.apply(name, { repository, path: name });
    await until(`${workspace.namespace}/${name} deployed`, () => workspace.read(name), isDeployed, CLEAR_MS);
    return performance.now() - startedAt;
  }

  /** Deployments of the burst that are not Synced and Healthy yet. */
  async function outstanding(round: string): Promise<number> {
    const { items } = await kube.listPage<DeploymentResource>(TYPES.deployment, { namespace: noisy.namespace }, signal);
    return BURST - items.filter((resource) => resource.metadata.name.startsWith(`${round}-`) && isDeployed(resource)).length;
  }

  /** Measures one deployment of the neighbour during the burst, and how much of the burst is left by then. Waits for the rest. */
  async function besideBurst(round: "paced" | "unpaced", quietMs: number) {
    const startedAt = performance.now();
    await Promise.all(namesOf(round).map((name) => noisy.apply(name, { repository: "noisy", path: name })));
    const ms = await timeOf(neighbour, round, "neighbour");
    const left = await outstanding(round);
    const held = await sumOf(world, "argosy_reconciler_paced_applications", (line) => line.includes('"pace-1"') && line.includes('"held"'));
    report(
      `neighbour: ${round}: ${inSeconds(ms)} beside ${BURST}, ${(ms / quietMs).toFixed(1)} × its quiet ${inSeconds(quietMs)}; ` +
        `${left} of the burst outstanding then, ${held} of them held back`,
    );
    await until(
      "the whole burst deployed",
      () => outstanding(round),
      (count) => count === 0,
      CLEAR_MS,
    );
    report(`neighbour: ${round}: the whole burst deployed after ${inSeconds(performance.now() - startedAt)}`);
    return { left, held };
  }

  it("does not delay its neighbour: one deployment is Synced while much of the burst is not", async () => {
    const quiet: number[] = [];
    for (let index = 1; index <= QUIET; index += 1) quiet.push(await timeOf(neighbour, `quiet-${index}`, "neighbour"));
    const quietMs = quiet.sort((a, b) => a - b)[Math.floor(QUIET / 2)] ?? 0;
    const paced = await besideBurst("paced", quietMs);
    expect(paced.left).toBeGreaterThan(BURST / 4);
    expect(paced.held).toBeGreaterThan(0);
    // For comparison only: the checks are made already.
    if (!IS_LONG) return;
    await restart(UNPACED);
    expect((await besideBurst("unpaced", quietMs)).held).toBe(0);
  });
});

function isDeployed(resource: DeploymentResource | undefined): boolean {
  return resource?.status?.sync?.status === "Synced" && resource.status.health?.status === "Healthy";
}
