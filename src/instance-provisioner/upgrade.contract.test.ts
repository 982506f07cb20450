import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeObject, ResourceType } from "../runtime/kube/resource.ts";
import { DEFINITIONS, DEPLOYMENTS, STATEFUL_SETS } from "./adapters/kubernetes/types.ts";
import { CONTROLLER, REDIS, REPO_SERVER } from "./manifests/names.ts";
import { aFleet, aPool } from "./testing/instances.ts";
import { startWorld, type World } from "./testing/world.ts";

const NAMESPACE = "argosy-standard-1";
const WORKLOADS = [
  [DEPLOYMENTS, REDIS],
  [DEPLOYMENTS, REPO_SERVER],
  [STATEFUL_SETS, CONTROLLER],
] as const;

type Workload = KubeObject & {
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } } };
};

describe("an instance that is being upgraded", () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
    const [old, fresh] = aFleet().versions.catalogue;
    if (old === undefined || fresh === undefined) throw new Error("the fleet has two releases");
    const versions = { default: old.version, floor: "3.5.1", catalogue: [old, { ...fresh, redisImage: "images.example/redis:9" }] };
    await world.startProvisioner();
    await world.declare(aFleet({ versions, pools: [aPool({ instances: { min: 1, max: 1 } })] }));
    await world.untilStates("ACTIVE");
  });
  afterEach(() => world.close());

  const instance = async () => {
    const [found] = await world.instances();
    if (found === undefined) throw new Error("there is no instance");
    return found;
  };
  const order = async (desiredVersion: string) => {
    const { id, revision, state, reason, attempt } = await instance();
    await world.store.fleet.changeInstance(
      { id, revision, state, reason, cause: undefined, attempt, desiredVersion, decision: undefined },
      world.signal,
    );
  };
  /** The image tags that redis, repo-server and the controller are to run. */
  const tags = async () => {
    const found = await Promise.all(
      WORKLOADS.map(([type, name]) => world.hands.get<Workload>(type, { namespace: NAMESPACE, name }, world.signal)),
    );
    return found.map((one) => one?.spec?.template?.spec?.containers?.[0]?.image?.split(":").at(-1)).join(" ");
  };
  const become = (wanted: string) => world.until(`images are ${wanted}`, async () => (await tags()) === wanted);
  const makeReady = async (type: ResourceType, name: string) => {
    const generation = (await world.hands.get<Workload>(type, { namespace: NAMESPACE, name }, world.signal))?.metadata.generation;
    const status = { observedGeneration: generation, replicas: 1, readyReplicas: 1, updatedReplicas: 1 };
    await world.hands.mergePatch(type, { namespace: NAMESPACE, name, subresource: "status" }, { status }, world.signal);
  };

  it("gets CRDs first, then redis, repo-server and the controller, each once the one before runs", async () => {
    world.letPodsStart(false);
    await order("3.5.7");
    await become("9 v3.5.6 v3.5.6");
    const definition = await world.hands.get<KubeObject>(DEFINITIONS, { namespace: "", name: "applications.argoproj.io" }, world.signal);
    expect(definition?.metadata.annotations).toEqual({ "argosy.dev/argo-cd-version": "3.5.7" });
    // However long that takes: redis does not run yet.
    for (let runs = 0; runs < 20; runs += 1) await world.clock.advance(2_000);
    expect(await tags()).toBe("9 v3.5.6 v3.5.6");
    await makeReady(DEPLOYMENTS, REDIS);
    await become("9 v3.5.7 v3.5.6");
    expect(await instance()).toMatchObject({ version: "3.5.6", desiredVersion: "3.5.7", state: "ACTIVE" });
    await makeReady(DEPLOYMENTS, REPO_SERVER);
    await become("9 v3.5.7 v3.5.7");
    expect((await instance()).version).toBe("3.5.6");
    await makeReady(STATEFUL_SETS, CONTROLLER);
    await world.until("its row says so", async () => (await instance()).version === "3.5.7");
    const [entry] = await world.store.decisions.list({ subject: (await instance()).id, verdict: "UPGRADED" }, 1, world.signal);
    expect(entry).toMatchObject({ details: { version: "3.5.7" } });
  });

  it("gets all of its old release back at once when the upgrade is called off half-way", async () => {
    world.letPodsStart(false);
    await order("3.5.7");
    await become("9 v3.5.6 v3.5.6");
    await makeReady(DEPLOYMENTS, REDIS);
    await become("9 v3.5.7 v3.5.6");
    await order("3.5.6");
    await become("8.2.3 v3.5.6 v3.5.6");
    expect(await instance()).toMatchObject({ version: "3.5.6", desiredVersion: "3.5.6", state: "ACTIVE" });
    const definition = await world.hands.get<KubeObject>(DEFINITIONS, { namespace: "", name: "applications.argoproj.io" }, world.signal);
    expect(definition?.metadata.annotations).toEqual({ "argosy.dev/argo-cd-version": "3.5.7" });
  });
});
