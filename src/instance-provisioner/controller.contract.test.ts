import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Instance } from "../domain/instance.ts";
import { FIELD_MANAGER } from "../domain/names.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import {
  DEFINITIONS,
  DEPLOYMENTS,
  INSTANCE_APPLICATIONS,
  INSTANCE_NAMESPACES,
  instanceTypeOf,
  PODS,
  QUOTAS,
  STATEFUL_SETS,
} from "./adapters/kubernetes/types.ts";
import { LEAVING } from "./pool-plan.ts";
import { aFleet, aPool, CAPACITY } from "./testing/instances.ts";
import { placeUnit } from "./testing/place-unit.ts";
import { startWorld, type World } from "./testing/world.ts";

type Quota = KubeObject & { readonly spec: { readonly hard: Readonly<Record<string, string>> } };
interface StatefulSet extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}
interface Container {
  readonly resources: { readonly limits: Readonly<Record<string, string>> };
}
const SECRETS = instanceTypeOf("Secret");
const CONFIG_MAPS = instanceTypeOf("ConfigMap");
const redisSecret = { namespace: "argosy-standard-1", name: "argocd-redis" };
const fleetOf = (min: number, max: number) => aFleet({ pools: [aPool({ instances: { min, max } })] });

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const read = (type: Parameters<World["hands"]["get"]>[0], at: { readonly namespace: string; readonly name: string }) =>
  world.hands.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(type, at, world.signal);
const journalOf = async ({ id }: Instance) =>
  (await world.store.decisions.list({ subject: id }, 100, world.signal)).map((one) => one.verdict).toReversed();
const first = async (): Promise<Instance> => {
  const [instance] = await world.instances();
  if (instance === undefined) throw new Error("there is no instance");
  return instance;
};

describe("a declared pool", () => {
  it("gets its instances; they become active, with every step in the journal", async () => {
    await world.startProvisioner();
    await world.declare();
    await world.untilStates("ACTIVE", "ACTIVE");
    const instances = await world.instances();
    expect(instances.map((one) => one.namespace)).toEqual(["argosy-standard-1", "argosy-standard-2"]);
    for (const instance of instances) {
      expect(await journalOf(instance)).toEqual(["REQUESTED", "CREATING", "WARMING", "ACTIVE"]);
      expect(instance).toMatchObject({
        reason: "all its pods are ready",
        attempt: 0,
        appliedHash: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      expect((await read(INSTANCE_NAMESPACES, { namespace: "", name: instance.namespace }))?.metadata.labels).toMatchObject({
        "argosy.dev/instance": instance.id,
      });
    }
    expect((await read(DEFINITIONS, { namespace: "", name: "applications.argoproj.io" }))?.metadata.annotations).toEqual({
      "argosy.dev/argo-cd-version": "3.5.7",
    });
  });

  it("is written once: further resyncs write nothing", async () => {
    await world.startProvisioner();
    await world.declare();
    await world.untilStates("ACTIVE", "ACTIVE");
    const observeAgain = async (): Promise<number> => {
      const before = world.server.requests().length;
      let ticks = 0;
      await world.until("two resyncs are over", () => ++ticks > 300);
      return world.server
        .requests()
        .slice(before)
        .filter((request) => request.method === "PATCH" && !request.url.includes("/status")).length;
    };
    await observeAgain();
    expect(await observeAgain()).toBe(0);
  });

  it("is not written by the process that takes it over, unless an object was edited meanwhile", async () => {
    const written = (from: number): readonly string[] =>
      world.server
        .requests()
        .slice(from)
        .filter(({ method, url }) => method === "PATCH" && url.includes("fieldManager"))
        .map(({ url }) => /[^/]+\/[^/?]+(?=\?)/.exec(url)?.[0] ?? url);
    const passMinutes = async (minutes: number): Promise<void> => {
      const untilMs = world.clock.monotonicMs() + minutes * 60_000;
      await world.until(`${minutes} minutes have passed`, () => world.clock.monotonicMs() >= untilMs);
    };
    const before = await world.startProvisioner();
    await world.declare();
    await world.untilStates("ACTIVE", "ACTIVE");
    await passMinutes(3);
    await before.stop();
    const [standing, edited] = await world.instances();
    expect([standing?.leftHash, edited?.leftHash]).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    const at = { namespace: edited?.namespace ?? "", name: "argocd-cm" };
    await world.hands.mergePatch(CONFIG_MAPS, at, { data: { "application.resourceTrackingMethod": "label" } }, world.signal);
    const from = world.server.requests().length;
    await world.startProvisioner();
    await world.until(
      "the edit was taken back",
      async () => (await read(CONFIG_MAPS, at))?.data?.["application.resourceTrackingMethod"] !== "label",
    );
    await passMinutes(3);
    expect(written(from).filter((url) => url.includes(standing?.name ?? "?"))).toEqual([]);
    expect(written(from).length).toBeGreaterThan(0);
    expect((await world.instances())[1]?.leftHash).toBe(edited?.leftHash);
  });

  it("costs sweeps nothing for each instance that is as declared, until its row, the fleet or an object changes", async () => {
    let reads = 0;
    await world.startProvisioner((port) => {
      if (!("readInstance" in port)) return port;
      const { readInstance } = port as unknown as World["store"]["fleet"];
      const counting: typeof readInstance = (...args) => {
        reads += 1;
        return readInstance(...args);
      };
      return { ...port, readInstance: counting };
    });
    await world.declare();
    await world.untilStates("ACTIVE", "ACTIVE");
    const passMinutes = async (minutes: number): Promise<number> => {
      const [before, untilMs] = [reads, world.clock.monotonicMs() + minutes * 60_000];
      await world.until(`${minutes} minutes have passed`, () => world.clock.monotonicMs() >= untilMs);
      return reads - before;
    };
    await passMinutes(2);
    expect(await passMinutes(3)).toBe(0);
    expect(await passMinutes(11)).toBeGreaterThanOrEqual(2);
    await passMinutes(1);
    const [instance] = await world.instances();
    if (instance === undefined) throw new Error("two instances were there");
    const at = { namespace: instance.namespace, name: "argocd-cm" };
    await world.hands.mergePatch(CONFIG_MAPS, at, { data: { "application.resourceTrackingMethod": "label" } }, world.signal);
    await world.until(
      "the edit was taken back",
      async () => (await read(CONFIG_MAPS, at))?.data?.["application.resourceTrackingMethod"] !== "label",
    );
    await passMinutes(2);
    const before = reads;
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 2, max: 3 } })] }));
    await world.until("both were reconciled for the new declaration", () => reads >= before + 2);
  });

  it("loses its empty surplus, with namespace and secrets, and never an instance that holds a unit", async () => {
    await world.startProvisioner();
    await world.declare(fleetOf(3, 3));
    await world.untilStates("ACTIVE", "ACTIVE", "ACTIVE");
    const [, , last] = await world.instances();
    if (last === undefined) throw new Error("three instances were there");
    await placeUnit(world, last.id);
    await world.declare(fleetOf(1, 1));
    await world.untilStates("RETIRED", "RETIRED", "ACTIVE");
    expect(await read(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-1" })).toBeUndefined();
    expect(await read(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-3" })).toBeDefined();
    await world.declare(fleetOf(2, 2));
    await world.untilStates("RETIRED", "RETIRED", "ACTIVE", "ACTIVE");
    expect((await world.instances()).at(-1)?.name).toBe("standard-4");
  });

  it("cordons surplus that still holds units, says that it waits, and retires it once it is empty", async () => {
    await world.startProvisioner();
    await world.declare(fleetOf(2, 2));
    await world.untilStates("ACTIVE", "ACTIVE");
    const [one, two] = await world.instances();
    if (one === undefined || two === undefined) throw new Error("two instances were there");
    const units = [await placeUnit(world, one.id), await placeUnit(world, two.id), await placeUnit(world, two.id)];
    await world.declare(fleetOf(1, 1));
    await world.untilStates("CORDONED", "ACTIVE");
    expect((await first()).reason).toBe(LEAVING.surplus.waiting);
    await expect(placeUnit(world, one.id)).rejects.toThrow("could not be placed: full");
    await world.declare(fleetOf(1, 2));
    await world.untilStates("ACTIVE", "ACTIVE");
    await world.declare(fleetOf(1, 1));
    await world.untilStates("CORDONED", "ACTIVE");
    await units[0]?.remove();
    await world.untilStates("RETIRED", "ACTIVE");
    expect(await journalOf(one)).toEqual([
      ...["REQUESTED", "CREATING", "WARMING", "ACTIVE", "CORDONED", "ACTIVE", "CORDONED", "DRAINING", "RETIRED"],
    ]);
  });

  it("keeps an instance that gets a unit between the count and the order to drain, and drains another", async () => {
    let afterCount: (() => Promise<unknown>) | undefined;
    const through = <Port extends object>(port: Port): Port => {
      if (!("countUnits" in port)) return port;
      const { countUnits } = port as unknown as World["store"]["fleet"];
      const racing = async (signal: AbortSignal) => {
        const units = await countUnits(signal);
        const run = afterCount;
        afterCount = undefined;
        await run?.();
        return units;
      };
      return { ...port, countUnits: racing };
    };
    await world.startProvisioner(through);
    await world.declare(fleetOf(2, 2));
    await world.untilStates("ACTIVE", "ACTIVE");
    const newest = (await world.instances()).at(-1);
    if (newest === undefined) throw new Error("two instances were there");
    afterCount = () => placeUnit(world, newest.id);
    await world.declare(fleetOf(1, 1));
    await world.untilStates("RETIRED", "ACTIVE");
    expect(await journalOf(newest)).toEqual(["REQUESTED", "CREATING", "WARMING", "ACTIVE"]);
  });

  it("is left alone when fleet.yaml leaves it out, until it is pruned", async () => {
    await world.startProvisioner();
    await world.declare(fleetOf(2, 2));
    await world.untilStates("ACTIVE", "ACTIVE");
    await placeUnit(world, (await first()).id);
    await world.declare(aFleet({ pools: [] }));
    let ticks = 0;
    await world.until("several resyncs are over", () => ++ticks > 200);
    await world.untilStates("ACTIVE", "ACTIVE");
    await world.store.fleet.prunePools("test", world.signal);
    await world.untilStates("CORDONED", "RETIRED");
    expect((await first()).reason).toBe(LEAVING.removed.waiting);
    expect(await read(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-1" })).toBeDefined();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("ACTIVE", "RETIRED");
  });

  it("keeps an instance whose namespace still holds an Application with a finalizer", async () => {
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("ACTIVE");
    const application = {
      apiVersion: "argoproj.io/v1alpha1",
      kind: "Application",
      metadata: { name: "left", namespace: "argosy-standard-1", finalizers: ["resources-finalizer.argocd.argoproj.io"] },
    };
    await world.hands.create(INSTANCE_APPLICATIONS, application, world.signal);
    await world.declare(fleetOf(0, 0));
    await world.until("its reason names what is left", async () =>
      (await first()).reason.includes("still holds 1 Application with a finalizer"),
    );
    let ticks = 0;
    await world.until("several resyncs are over", () => ++ticks > 200);
    expect((await journalOf(await first())).slice(-2)).toEqual(["DRAINING", "WAITING"]);
    expect(await read(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-1" })).toBeDefined();
    await world.hands.mergePatch(
      INSTANCE_APPLICATIONS,
      { namespace: "argosy-standard-1", name: "left" },
      { metadata: { finalizers: null } },
      world.signal,
    );
    await world.untilStates("RETIRED");
  });

  it("gives its instances a new capacity and new settings", async () => {
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("ACTIVE");
    const { engine } = aPool();
    const capacity = { ...CAPACITY, milliCpu: 4000 };
    await world.declare(
      aFleet({ pools: [aPool({ instances: { min: 1, max: 1 }, capacity, engine: { ...engine, statusProcessors: 40 } })] }),
    );
    await world.until("the row and the settings follow", async () => {
      const settings = await read(CONFIG_MAPS, { namespace: "argosy-standard-1", name: "argocd-cmd-params-cm" });
      return (await first()).capacity.milliCpu === 4000 && settings?.data?.["controller.status.processors"] === "40";
    });
    await world.until("the journal says so", async () => (await journalOf(await first())).includes("REAPPLIED"));
  });

  it("gets a smaller quota only once its pods are smaller", async () => {
    const quota = { namespace: "argosy-standard-1", name: "argosy-instance" };
    const use = (memory: string) =>
      world.hands.mergePatch(QUOTAS, { ...quota, subresource: "status" }, { status: { used: { "limits.memory": memory } } }, world.signal);
    const hard = async () => (await world.hands.get<Quota>(QUOTAS, quota, world.signal))?.spec.hard;
    const allowed = async () => (await hard())?.["limits.memory"];
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("ACTIVE");
    expect(await allowed()).toBe("10752Mi");
    await use("5376Mi");
    await world.hands.mergePatch(QUOTAS, quota, { spec: { hard: { pods: "99" } } }, world.signal);
    await world.until("the quota is restored, and its use was seen", async () => (await hard())?.["pods"] === "6");
    const { resources } = aPool();
    const smaller = { ...resources, repoServer: { ...resources.repoServer, memory: "512Mi" } };
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 1, max: 1 }, resources: smaller })] }));
    await world.until("the journal says so", async () => (await journalOf(await first())).includes("REAPPLIED"));
    expect(await allowed()).toBe("10752Mi");
    await use("4864Mi");
    await world.until("the quota follows", async () => (await allowed()) === "9728Mi");
  });
});

describe("an instance that is given more than its pool declares", () => {
  const workload = { namespace: "argosy-standard-1", name: "argocd-application-controller" };
  const memory = async () => {
    const found = await world.hands.get<StatefulSet>(STATEFUL_SETS, workload, world.signal);
    return found?.spec.template.spec.containers[0]?.resources.limits["memory"];
  };
  const give = async () => {
    const { id, revision, state, reason, cause, attempt } = await first();
    const raised = { amounts: { "controller.memory": "6Gi" }, at: world.clock.now(), before: {} };
    await world.store.fleet.changeInstance({ id, revision, state, reason, cause, attempt, raised, decision: undefined }, world.signal);
  };
  beforeEach(async () => {
    await world.startProvisioner();
    const resources = { ...aPool().resources, max: { controller: { memory: "8Gi" } } };
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 1, max: 1 }, resources })] }));
    await world.untilStates("ACTIVE");
  });

  it("has its workload written anew, and keeps that once its pods are ready", async () => {
    expect(await memory()).toBe("4Gi");
    await give();
    await world.until("it is seen to run", async () => (await first()).raised?.before === undefined);
    expect(await memory()).toBe("6Gi");
    expect((await first()).raised).toMatchObject({ amounts: { "controller.memory": "6Gi" } });
    expect((await journalOf(await first())).at(-1)).toBe("RUNNING");
  });

  it("has what it had again where its pods do not get ready", async () => {
    world.letPodsStart(false);
    await give();
    await world.until("it is written", async () => (await memory()) === "6Gi");
    await world.until("it is taken back", async () => (await memory()) === "4Gi", 5_000);
    expect((await first()).raised).toMatchObject({ amounts: {}, refused: { amount: "controller.memory" } });
    expect(await journalOf(await first())).toContain("LOWERED");
  });
});

describe("an instance that somebody tampers with", () => {
  beforeEach(async () => {
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("ACTIVE");
  });

  it("has a deleted Secret written again, with the same password", async () => {
    const before = await read(SECRETS, redisSecret);
    await world.hands.delete(SECRETS, redisSecret, {}, world.signal);
    await world.until("the Secret is back", async () => (await read(SECRETS, redisSecret)) !== undefined);
    expect((await read(SECRETS, redisSecret))?.data).toEqual(before?.data);
  });

  it("has an edited setting put right", async () => {
    const at = { namespace: "argosy-standard-1", name: "argocd-cm" };
    await world.hands.mergePatch(CONFIG_MAPS, at, { data: { "cluster.inClusterEnabled": "true" } }, world.signal);
    await world.until("the setting is back", async () => (await read(CONFIG_MAPS, at))?.data?.["cluster.inClusterEnabled"] === "false");
  });

  it("has its network policies and its namespace's pod security put right", async () => {
    const policies = instanceTypeOf("NetworkPolicy");
    const at = { namespace: "argosy-standard-1", name: "argocd-default-deny" };
    await world.hands.delete(policies, at, {}, world.signal);
    await world.hands.mergePatch(
      INSTANCE_NAMESPACES,
      { namespace: "", name: "argosy-standard-1" },
      { metadata: { labels: { "pod-security.kubernetes.io/enforce": "privileged" } } },
      world.signal,
    );
    await world.until("both are back", async () => {
      const namespace = await read(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-1" });
      return (
        (await read(policies, at)) !== undefined && namespace?.metadata.labels?.["pod-security.kubernetes.io/enforce"] === "restricted"
      );
    });
  });

  it("keeps fields that others add, without writing again and again", async () => {
    const at = { namespace: "argosy-standard-1", name: "argocd-repo-server" };
    const restart = { spec: { template: { metadata: { annotations: { "kubectl.kubernetes.io/restartedAt": "now" } } } } };
    await world.hands.mergePatch(DEPLOYMENTS, at, restart, world.signal);
    let ticks = 0;
    await world.until("several resyncs are over", () => ++ticks > 200);
    const before = world.server.requests().length;
    await world.until("several more are over", () => ++ticks > 400);
    expect(
      world.server
        .requests()
        .slice(before)
        .filter((request) => request.url.includes(`fieldManager=${FIELD_MANAGER}`)).length,
    ).toBe(0);
    expect(JSON.stringify(await read(DEPLOYMENTS, at))).toContain("restartedAt");
  });
});

describe("a creation that fails", () => {
  it("is tried again, then given up with its reason, until its declaration changes", async () => {
    world.server.faults.fail({ method: "PATCH", path: /resourcequotas/, status: 403, reason: "Forbidden", times: 5 });
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.until("it is given up", async () => (await world.instances()).some((one) => one.state === "FAILED"), 2_000);
    const failed = await first();
    expect(failed).toMatchObject({ attempt: 5, reason: expect.stringContaining("given up after 5 attempts") });
    expect(failed.reason).toContain("injected fault");
    expect(await journalOf(failed)).toEqual(["REQUESTED", "CREATING", "CREATING", "CREATING", "CREATING", "CREATING", "FAILED"]);
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 1, max: 1 }, engine: { ...aPool().engine, statusProcessors: 5 } })] }));
    await world.untilStates("ACTIVE");
    expect((await first()).id).toBe(failed.id);
  });

  it("begins again at once when its declaration changes between two attempts, CRDs included", async () => {
    world.server.faults.fail({ method: "PATCH", path: /customresourcedefinitions/, status: 403, reason: "Forbidden", times: 4 });
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.until("the fourth attempt failed", async () => (await first().catch(() => undefined))?.attempt === 4, 2_000);
    const { versions } = aFleet();
    const catalogue = versions.catalogue.map((one) => ({ ...one, crds: "/mended" }));
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 1, max: 1 } })], versions: { ...versions, catalogue } }));
    await world.untilStates("ACTIVE");
    expect((await journalOf(await first())).slice(-4)).toEqual(["REQUESTED", "CREATING", "WARMING", "ACTIVE"]);
    expect(await read(DEFINITIONS, { namespace: "", name: "applications.argoproj.io" })).toBeDefined();
  });

  it("writes the CRDs that its earlier attempts could not write", async () => {
    world.server.faults.fail({ method: "PATCH", path: /customresourcedefinitions/, status: 403, reason: "Forbidden", times: 5 });
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.until("it is given up", async () => (await first().catch(() => undefined))?.state === "FAILED", 2_000);
    await world.until("it is active", async () => (await first()).state === "ACTIVE", 10_000);
    expect(await read(DEFINITIONS, { namespace: "", name: "applications.argoproj.io" })).toBeDefined();
  });

  it("is tried again by itself when its time in FAILED is over", async () => {
    world.server.faults.fail({ method: "PATCH", path: /resourcequotas/, status: 403, reason: "Forbidden", times: 5 });
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.until("it is given up", async () => (await first().catch(() => undefined))?.state === "FAILED", 2_000);
    await world.until("it is active", async () => (await first()).state === "ACTIVE", 10_000);
  });

  it("says which pods do not become ready", async () => {
    world.letPodsStart(false);
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.until("an attempt failed", async () => (await first().catch(() => undefined))?.attempt === 1, 10_000);
    expect((await first()).reason).toContain("argocd-application-controller: its latest change has not been taken up yet");
    world.letPodsStart(true);
    await world.untilStates("ACTIVE");
  });

  it("names an image that cannot be pulled, and is given up when that lasts", async () => {
    world.letPodsStart(false);
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("WARMING");
    const labels = { "app.kubernetes.io/name": "argocd-repo-server" };
    const at = { namespace: "argosy-standard-1", name: "argocd-repo-server-1" };
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...at, labels },
      spec: { containers: [{ image: "images.example/argocd:v9" }] },
    };
    await world.hands.create(PODS, pod, world.signal);
    const status = { containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] };
    await world.hands.mergePatch(PODS, { ...at, subresource: "status" }, { status }, world.signal);
    const trouble = "argocd-repo-server: image images.example/argocd:v9 cannot be pulled";
    await world.until("its reason says so", async () => (await first()).reason === `waiting for its pods: ${trouble}`);
    await world.until("it is given up", async () => (await first()).state === "FAILED", 10_000);
    expect((await first()).reason).toMatch(/^given up after 5 attempts: .*image images\.example\/argocd:v9 cannot be pulled/);
    expect((await first()).reason).toContain("at once when fleet.yaml changes for it");
    const attempts = (await journalOf(await first())).filter((verdict) => verdict !== "WAITING");
    expect(attempts.slice(0, 5)).toEqual(["REQUESTED", "CREATING", "WARMING", "CREATING", "WARMING"]);
    expect(attempts.at(-1)).toBe("FAILED");
  });

  it("does not take over a namespace that exists already", async () => {
    await world.hands.create(
      INSTANCE_NAMESPACES,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "argosy-standard-1" } },
      world.signal,
    );
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("FAILED");
    expect((await first()).reason).toContain("was not made by Argosy");
    expect((await read(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-1" }))?.metadata.labels).toBeUndefined();
    await world.hands.delete(INSTANCE_NAMESPACES, { namespace: "", name: "argosy-standard-1" }, {}, world.signal);
    await world.untilStates("ACTIVE");
  });

  it("waits for an engine cluster that is not declared yet, for as long as a creation may take", async () => {
    await world.startProvisioner();
    await world.declare(aFleet({ pools: [aPool({ instances: { min: 1, max: 1 }, engineClusters: ["eu-9"] })] }));
    await world.until("it is given up", async () => (await first().catch(() => undefined))?.state === "FAILED", 10_000);
    expect((await first()).reason).toContain("engine cluster eu-9 is not declared or has no credentials");
  });
});

describe("CRDs", () => {
  it("never go back to an older release", async () => {
    const at = { namespace: "", name: "applications.argoproj.io" };
    const newer = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: at.name, annotations: { "argosy.dev/argo-cd-version": "3.6.0" } },
    };
    await world.hands.create(DEFINITIONS, newer, world.signal);
    await world.startProvisioner();
    await world.declare(fleetOf(1, 1));
    await world.untilStates("ACTIVE");
    expect((await read(DEFINITIONS, at))?.metadata.annotations).toEqual({ "argosy.dev/argo-cd-version": "3.6.0" });
    expect((await read(DEFINITIONS, { namespace: "", name: "appprojects.argoproj.io" }))?.metadata.annotations).toEqual({
      "argosy.dev/argo-cd-version": "3.5.7",
    });
  });
});

describe("several provisioners at once", () => {
  it("create each instance once", async () => {
    await Promise.all([world.startProvisioner(), world.startProvisioner()]);
    await world.declare();
    await world.untilStates("ACTIVE", "ACTIVE");
    const passwords = await Promise.all(
      ["argosy-standard-1", "argosy-standard-2"].map(
        async (namespace) => (await read(SECRETS, { namespace, name: "argocd-redis" }))?.data?.["auth"],
      ),
    );
    expect(new Set(passwords).size).toBe(2);
  });
});
