import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setCpuShare } from "../hack/dev-cluster/process-node/control.ts";
import type { HealthReportView } from "../src/api/routes/health.ts";
import type { DecisionView, InstanceView, WorkspaceView } from "../src/api/schema.ts";
import { GoneError } from "../src/domain/errors.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { restartFirst } from "./control-plane.ts";
import { callHarness } from "./harness-client.ts";
import { type Movable, openMovable } from "./moves-world.ts";
import { IS_LONG, openWorkspace, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "frozen-home";
const PODS: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const DEADLINE_MS = 20 * 60_000;
/** A component that hangs is reported within two minutes and restarted at once. The rest is for busy machines. */
const REPORTED_MS = 5 * 60_000;
/** Time between two restarts, as short as the configuration allows. A fleet restarts one component in twice that time. */
const RESTART_APART_MS = 60_000;
const REPLACED_MS = REPORTED_MS + 2 * RESTART_APART_MS;
const CONTROLLER = "argocd-application-controller";
const COMPONENTS = [CONTROLLER, "argocd-repo-server", "argocd-redis"] as const;

interface Pod extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A pod may be replaced at that moment. */
function unlessGone(error: unknown): void {
  if (!(error instanceof GoneError)) throw error;
}

/** Of health, stories here configure only how soon one restart may follow another. */
describe.runIf(IS_LONG)("a component of an instance that is stopped, killed or frozen works again by itself", () => {
  let world: World;
  let movable: Movable;
  let instance: InstanceView;

  beforeAll(async () => {
    world = openWorld(90 * 60_000);
    await restartFirst(world, { roles: ["all"] });
    movable = await openMovable(world, NAMESPACE, ["dev"]);
    const name = await movable.owner();
    instance = movable.instances.find((each) => each.name === name) as InstanceView;
    await well();
  }, DEADLINE_MS);
  afterAll(async () => {
    await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
    await restartFirst(world, {});
  }, DEADLINE_MS);

  const read = () => world.rest.get<HealthReportView>(`/v1/health/${instance.name}`);
  const well = () => until(`${instance.name} healthy`, read, ({ state }) => state === "healthy", DEADLINE_MS);
  const podsOf = async (component: string): Promise<readonly Pod[]> => {
    const at = { namespace: instance.namespace, labelSelector: `app.kubernetes.io/name=${component}` };
    return (await world.kube.listPage<Pod>(PODS, at, world.signal)).items;
  };
  const isReady = ({ status }: Pod) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
  const replaced = (component: string, old: readonly Pod[]) =>
    until(
      `another pod of ${component}`,
      () => podsOf(component),
      (found) => found.length > 0 && found.every((pod) => isReady(pod) && !old.some(({ metadata }) => metadata.uid === pod.metadata.uid)),
      REPLACED_MS,
    );
  const deploys = async (text: string): Promise<void> => {
    await movable.push("dev", text);
    await movable.arrived("dev", text);
  };
  const restarts = async (): Promise<readonly string[]> => {
    const query = { kind: "health", subject: instance.id, verdict: "RESTART" };
    const { items } = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", query);
    return items.map(({ rule }) => rule ?? "");
  };
  const freeze = async (component: string): Promise<readonly Pod[]> => {
    const pods = await podsOf(component);
    for (const { metadata } of pods) await setCpuShare(world.kube, { namespace: instance.namespace, name: metadata.name }, 0, world.signal);
    return pods;
  };
  /** It has to be reported and restarted without a person, and a later push has to arrive. */
  const freezeAndSee = async (component: string, cause: string): Promise<void> => {
    const [before, began] = [await restarts(), performance.now()];
    const seconds = () => Math.round((performance.now() - began) / 1_000);
    const pods = await freeze(component);
    await until(`${instance.name} stalled`, read, (found) => found.state === "stalled" && found.cause === cause, REPORTED_MS);
    const reported = seconds();
    await replaced(component, pods);
    const ready = seconds();
    await deploys(`after ${component} stood still`);
    report(`frozen: ${component} reported after ${reported} s, replaced after ${ready} s, the next push arrived after ${seconds()} s`);
    expect((await restarts()).length).toBe(before.length + 1);
    await well();
  };

  it("a controller that hangs, with the default configuration", () => freezeAndSee(CONTROLLER, "controller-stopped"), DEADLINE_MS);

  it(
    "a repo-server and a redis that hang",
    async () => {
      await restartFirst(world, { roles: ["all"], health: { restartApartMs: RESTART_APART_MS, emptyAfter: 0 } });
      await freezeAndSee("argocd-repo-server", "repo-server");
      await freezeAndSee("argocd-redis", "redis");
    },
    2 * DEADLINE_MS,
  );

  it(
    "a workspace that was placed on an instance as it hung is served by another one, and so are later ones",
    async () => {
      await restartFirst(world, { roles: ["all"] });
      await well();
      const others = movable.instances.filter(({ name, state }) => name !== instance.name && state === "ACTIVE");
      const cordon = async (cordoned: boolean): Promise<void> => {
        for (const { name } of others) await world.rest.put(`/v1/instances/${name}/cordon`, { cordoned, reason: "a story" });
      };
      const ownerOf = async (namespace: string): Promise<string | undefined> =>
        (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((each) => each.namespace === namespace)?.units[0]?.instance ??
        undefined;
      const [caught, later] = [await openWorkspace(world, "frozen-caught"), await openWorkspace(world, "frozen-later")];
      await cordon(true);
      await freeze(CONTROLLER);
      const began = performance.now();
      const seconds = () => Math.round((performance.now() - began) / 1_000);
      await caught.apply("dev", { repository: NAMESPACE, path: "dev" });
      await until(
        "its instance",
        () => ownerOf("frozen-caught"),
        (name) => name === instance.name,
      );
      await cordon(false);
      // Its replacement hangs too: no restart helps.
      const deployed = async () => {
        await freeze(CONTROLLER).catch(unlessGone);
        return caught.read("dev");
      };
      await until("it is deployed by another one", deployed, (found) => found?.status?.sync?.status === "Synced", 2 * REPORTED_MS);
      const moved = seconds();
      expect(others.map(({ name }) => name)).toContain(await ownerOf("frozen-caught"));
      await later.apply("dev", { repository: NAMESPACE, path: "dev" });
      await later.settled("dev");
      report(
        `frozen: what came to an instance as it stopped was deployed by another after ${moved} s, what came later after ${seconds() - moved} s`,
      );
      expect(others.map(({ name }) => name)).toContain(await ownerOf("frozen-later"));
      const reported = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", { workspace: "frozen-caught" });
      expect(JSON.stringify(reported.items)).toContain("never compared it with Git");

      for (const { metadata } of await podsOf(CONTROLLER))
        await setCpuShare(world.kube, { namespace: instance.namespace, name: metadata.name }, 1, world.signal);
      await well();
      for (const { namespace } of [caught, later])
        await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    },
    DEADLINE_MS,
  );

  it.each(COMPONENTS)(
    "%s whose process is killed, and whose pod is deleted",
    async (component) => {
      let began = performance.now();
      const seconds = () => Math.round((performance.now() - began) / 1_000);
      await callHarness(world.harness, "killContainer", { namespace: instance.namespace, container: component });
      await deploys(`after ${component} was killed`);
      report(`frozen: a push behind the kill of ${component} arrived after ${seconds()} s`);
      began = performance.now();
      const pods = await podsOf(component);
      for (const { metadata } of pods) await world.kube.delete(PODS, { ...metadata, namespace: instance.namespace }, {}, world.signal);
      await replaced(component, pods);
      await deploys(`after ${component} was stopped`);
      report(`frozen: a push behind the deletion of ${component}'s pod arrived after ${seconds()} s`);
      await well();
    },
    DEADLINE_MS,
  );
});
