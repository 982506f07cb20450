import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { setCpuShare } from "../hack/dev-cluster/process-node/control.ts";
import type { HealthReportView } from "../src/api/routes/health.ts";
import type { DecisionView, InstanceView } from "../src/api/schema.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { argosy } from "./command-line.ts";
import { restartFirst } from "./control-plane.ts";
import { callHarness } from "./harness-client.ts";
import { type Movable, mayWrite, openMovable } from "./moves-world.ts";
import { configMapFile, IS_LONG, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACES = ["health-fine", "health-broken"];
const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const CANARY = "health-canary";
const DEADLINE_MS = 15 * 60_000;
/**
 * How long each cause has to last before it counts, as in the rules. A rate covers the minute before, and a probe is
 * made every five seconds.
 */
const PERSISTENCE_MS = { "controller-stopped": 30_000, "repo-server": 60_000, redis: 60_000, git: 120_000 } as const;
const REPORTED_MS = 60_000;
/** Something slow is reported for five minutes longer, and a fleet needs time after its start. */
const WELL_MS = 10 * 60_000;
/** Extra time for busy machines. */
const SLACK_MS = 120_000;
const RESTART_APART_MS = 60_000;
/** Time between two components: the fleet's budget allows one restart in twice that time, and the next pod takes a while. */
const REPLACED_MS = 2 * RESTART_APART_MS + SLACK_MS;

/** Time for workspaces to leave by fail-over, one after the other. */
const EMPTIED_MS = 5 * 60_000;

describe.runIf(IS_LONG)("the health of instances", () => {
  let world: World;
  let fine: Movable;
  let instance: InstanceView;
  /** Pods that were stopped, by uid. */
  const stopped = new Set<string | undefined>();
  const stories = [CANARY, ...NAMESPACES];

  const healthWith = (over: object): Readonly<Record<string, unknown>> => ({
    ...{ periodMs: 5_000, graceMs: 5_000, overloadMs: 60_000, restartApartMs: RESTART_APART_MS },
    canary: { repository: world.git.url(CANARY), revision: "main" },
    ...over,
  });
  beforeAll(async () => {
    world = openWorld(60 * 60_000);
    await world.git.commit(CANARY, { "canary.yaml": configMapFile("canary", {}) });
    await restartFirst(world, { roles: ["all"], health: healthWith({ emptyAfter: 0 }) });
    fine = await openMovable(world, NAMESPACES[0] ?? "", ["dev"]);
    const name = await fine.owner();
    instance = fine.instances.find((each) => each.name === name) as InstanceView;
  }, DEADLINE_MS);
  // Each story begins with a healthy instance, whatever the story before has left.
  beforeEach(async () => {
    await callHarness(world.harness, "delayGit", { repositories: stories, delayMs: 0 });
    await judged("healthy", "none", WELL_MS);
  }, DEADLINE_MS);
  afterAll(async () => {
    await callHarness(world.harness, "delayGit", { repositories: stories, delayMs: 0 });
    // A drained instance gets no remedy, so what later stories deploy there would never be compared.
    for (const component of ["argocd-application-controller", "argocd-repo-server", "argocd-redis"])
      for (const { metadata } of await podsOf(component))
        if (stopped.has(metadata.uid)) await world.kube.delete(PODS, { ...metadata, namespace: instance.namespace }, {}, world.signal);
    for (const { name, state } of await world.rest.all<InstanceView>("/v1/instances"))
      if (state === "DRAINING") await world.rest.put(`/v1/instances/${name}/cordon`, { cordoned: false, reason: "the story is over" });
    for (const name of NAMESPACES) await world.kube.delete(TYPES.namespace, { namespace: "", name }, {}, world.signal);
    await restartFirst(world, {});
  }, DEADLINE_MS);

  const read = () => world.rest.get<HealthReportView>(`/v1/health/${instance.name}`);
  const judged = (state: string, cause: string, timeoutMs = 2 * REPORTED_MS + SLACK_MS) =>
    until(`${instance.name} ${state} for ${cause}`, read, (found) => found.state === state && found.cause === cause, timeoutMs);
  /** How long it takes from now until this is reported. */
  const reported = async (state: string, cause: keyof typeof PERSISTENCE_MS): Promise<HealthReportView> => {
    const began = performance.now();
    const found = await judged(state, cause);
    const tookMs = performance.now() - began;
    report(`health: ${cause} reported after ${Math.round(tookMs / 1_000)} s, ${PERSISTENCE_MS[cause] / 1_000} s of them to be believed`);
    expect(tookMs).toBeLessThan(PERSISTENCE_MS[cause] + REPORTED_MS + SLACK_MS);
    expect(found.evidence.some(({ value }) => value !== null)).toBe(true);
    return found;
  };
  const podsOf = async (component: string): Promise<readonly KubeObject[]> => {
    const at = { namespace: instance.namespace, labelSelector: `app.kubernetes.io/name=${component}` };
    return (await world.kube.listPage<KubeObject>(PODS, at, world.signal)).items;
  };
  const steps = async (): Promise<readonly string[]> => {
    const { items } = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", {
      kind: "health",
      subject: instance.id,
    });
    return items.map(({ verdict, rule }) => `${verdict} ${rule}`);
  };
  /** Freezes the processes of a component. */
  const stop = async (component: string): Promise<readonly KubeObject[]> => {
    const pods = await podsOf(component);
    for (const { metadata } of pods) stopped.add(metadata.uid);
    for (const { metadata } of pods) await setCpuShare(world.kube, { namespace: instance.namespace, name: metadata.name }, 0, world.signal);
    return pods;
  };
  /** They have to be reported and replaced. */
  const stopAndSee = async (component: string, cause: "controller-stopped" | "repo-server" | "redis"): Promise<void> => {
    const pods = await stop(component);
    await reported("stalled", cause);
    const old = new Set(pods.map(({ metadata }) => metadata.uid));
    await until(
      `another pod of ${component}`,
      () => podsOf(component),
      (found) => found.length > 0 && found.every(({ metadata }) => !old.has(metadata.uid)),
      REPLACED_MS,
    );
    expect(await steps()).toContain(`RESTART ${cause.toUpperCase()}`);
    await judged("healthy", "none", WELL_MS);
  };

  it(
    "reports a controller that hangs, and restarts it",
    () => stopAndSee("argocd-application-controller", "controller-stopped"),
    DEADLINE_MS,
  );

  it("reports a repo-server that hangs, and restarts it", () => stopAndSee("argocd-repo-server", "repo-server"), DEADLINE_MS);

  it("reports a redis that hangs, which nothing else shows, and restarts it", () => stopAndSee("argocd-redis", "redis"), DEADLINE_MS);

  it(
    "reports a Git host that answers after five seconds, and restarts nothing",
    async () => {
      const before = await steps();
      await callHarness(world.harness, "delayGit", { repositories: stories, delayMs: 5_000 });
      await reported("degraded", "git");
      await callHarness(world.harness, "delayGit", { repositories: stories, delayMs: 0 });
      await judged("healthy", "none", WELL_MS);
      expect((await steps()).filter((step) => step.startsWith("RESTART"))).toEqual(before.filter((step) => step.startsWith("RESTART")));
    },
    DEADLINE_MS,
  );

  it(
    "reports a workspace that cannot be compared as its own trouble: the instance is healthy, and nobody moves",
    async () => {
      const broken = await openMovable(world, NAMESPACES[1] ?? "", ["dev"]);
      const name = await broken.owner();
      instance = broken.instances.find((each) => each.name === name) as InstanceView;
      // It may be another instance than in the stories before, and Git was slow for both.
      await judged("healthy", "none", WELL_MS);
      const [owners, before] = [[await fine.owner(), name], await steps()];
      try {
        await broken.workspace.apply("dev", { repository: "no-such-repository", path: "dev" });
        const found = await judged("healthy", "workspace");
        expect(found.evidence).toContainEqual(expect.objectContaining({ signal: "troubledUnits", value: 1 }));
        expect((await argosy(world, "health", instance.name)).out).toContain("is healthy (workspace)");
        expect([await fine.owner(), await broken.owner()]).toEqual(owners);
        expect((await steps()).filter((step) => !before.includes(step))).toEqual(["HEALTHY WORKSPACE"]);
      } finally {
        await broken.workspace.apply("dev", { repository: NAMESPACES[1] ?? "", path: "dev" });
      }
    },
    DEADLINE_MS,
  );

  it(
    "drains an instance whose controller is stuck again: its workspaces leave with a proof that its old account may not write",
    async () => {
      const [from, uids] = [await fine.owner(), await fine.uids()];
      instance = fine.instances.find((each) => each.name === from) as InstanceView;
      // One restart within the hour. The first story has made that, if it ran.
      if (!(await steps()).includes("RESTART CONTROLLER-STOPPED")) await stopAndSee("argocd-application-controller", "controller-stopped");
      await judged("healthy", "none", WELL_MS);
      await restartFirst(world, { roles: ["all"], health: healthWith({ emptyAfter: 1 }) });
      const old = fine.accounts[fine.instances.indexOf(instance)] ?? "";
      expect(await mayWrite(world, NAMESPACES[0] ?? "", old)).toBe(true);
      const began = performance.now();
      await stop("argocd-application-controller");
      const timeout = PERSISTENCE_MS["controller-stopped"] + REPORTED_MS + SLACK_MS + EMPTIED_MS;
      const to = await until("another owner", fine.owner, (found) => found !== from, timeout);
      expect(await mayWrite(world, NAMESPACES[0] ?? "", old)).toBe(false);
      await fine.push("dev", "after it stuck again");
      await fine.arrived("dev", "after it stuck again");
      report(
        `health: stuck again, emptied by fail-over, ${Math.round((performance.now() - began) / 1_000)} s to the next push through ${to}`,
      );
      expect(await fine.uids()).toEqual(uids);
      expect(await steps()).toContain("DRAIN CONTROLLER-STOPPED");
      const said = (await world.rest.all<InstanceView>("/v1/instances")).find(({ name }) => name === from);
      expect(said).toMatchObject({ state: "DRAINING", reason: expect.stringContaining("drained by health, by fail-over") });
    },
    DEADLINE_MS,
  );
});
