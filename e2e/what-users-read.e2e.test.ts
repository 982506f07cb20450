import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { NOT_YOURS } from "../src/workspace/status/engine-sentences.ts";
import { inSeconds } from "./in-seconds.ts";
import {
  conditionOf,
  configMapFile,
  type DeploymentResource,
  findApplication,
  openWorkspace,
  openWorld,
  report,
  until,
  type World,
} from "./world.ts";

const DEPLOYMENTS: ResourceType = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };
const EVENTS: ResourceType = { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true };

interface Event extends KubeObject {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count?: number;
}

type Health = { readonly kind: string; readonly name: string; readonly health?: { readonly status: string; readonly message?: string } };

const resourcesOf = (resource: DeploymentResource | undefined) => (resource?.status?.resources ?? []) as readonly Health[];

/** A Deployment whose pod never gets ready, which its controller reports after a second. */
function neverReady(name: string): string {
  const labels = { app: name };
  const metadata = { labels, annotations: { "dev.argosy/ready": "false" } };
  const template = { metadata, spec: { containers: [{ name: "web", image: "example.com/web" }] } };
  const spec = { replicas: 1, progressDeadlineSeconds: 1, selector: { matchLabels: labels }, template };
  return JSON.stringify({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec });
}

function serviceFile(name: string, port: number): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Service", metadata: { name }, spec: { selector: { app: name }, ports: [{ port }] } });
}

describe("what users read", () => {
  let world: World;
  beforeAll(() => {
    world = openWorld();
  });

  const eventsAbout = async (namespace: string, name: string) => {
    const { items } = await world.kube.listPage<Event>(EVENTS, { namespace }, world.signal);
    return items.filter(({ involvedObject }) => involvedObject.kind === "GitOpsDeployment" && involvedObject.name === name);
  };

  it("of one broken object among three: which one, and why, in status.resources, in Ready and in an Event", async () => {
    const namespace = "read-broken";
    const workspace = await openWorkspace(world, namespace);
    await world.git.commit(namespace, {
      "dev/web.yaml": neverReady("web"),
      "dev/front.yaml": serviceFile("web", 80),
      "dev/settings.yaml": configMapFile("settings", { colour: "green" }),
    });
    const since = performance.now();
    await workspace.apply("shop", { repository: namespace, path: "dev" });
    const why = /Deployment "web" exceeded its progress deadline/;
    const broken = await until(
      "the deployment Degraded, and what is",
      () => workspace.read("shop"),
      (found) => conditionOf(found, "Ready")?.reason === "Degraded" && why.test(conditionOf(found, "Ready")?.message ?? ""),
    );
    report(`a broken object is named ${inSeconds(performance.now() - since)} after it was applied, a second of which is its own deadline`);
    expect(conditionOf(broken, "Ready")?.message).toBe('Deployment web is Degraded: Deployment "web" exceeded its progress deadline');
    expect(resourcesOf(broken).map(({ kind, name, health }) => [kind, name, health])).toEqual([
      ["ConfigMap", "settings", undefined],
      ["Service", "web", { status: "Healthy" }],
      ["Deployment", "web", { status: "Degraded", message: 'Deployment "web" exceeded its progress deadline' }],
    ]);
    const events = await until(
      "an Event that names it",
      () => eventsAbout(namespace, "shop"),
      (all) => all.some(({ type, reason, message }) => type === "Warning" && reason === "Degraded" && why.test(message)),
    );
    expect(events.length).toBeLessThan(5);
  });

  it("of a sync that fails and is retried: one Event with the error, however often, and one when it succeeds", async () => {
    const namespace = "read-failing";
    const workspace = await openWorkspace(world, namespace);
    await world.git.commit(namespace, {
      "dev/front.yaml": serviceFile("front", 99_999),
      "dev/settings.yaml": configMapFile("settings", {}),
    });
    await workspace.apply("shop", { repository: namespace, path: "dev" });
    const warned = async () => (await eventsAbout(namespace, "shop")).filter(({ type }) => type === "Warning");
    const [warning] = await until("a Warning about the sync", warned, (all) => all.some(({ message }) => message.includes("99999")));
    expect(warning).toMatchObject({ reason: "SyncFailed", message: conditionOf(await workspace.read("shop"), "Ready")?.message });
    await until(
      "the sync tried again twice",
      () => workspace.read("shop"),
      (found) => ((found?.status as { operationState?: { retryCount?: number } })?.operationState?.retryCount ?? 0) >= 2,
    );
    expect((await warned()).map(({ count }) => count)).toEqual([1]);
    await world.git.commit(namespace, { "dev/front.yaml": serviceFile("front", 80) });
    await workspace.annotate("shop", { "argosy.dev/refreshed-at": "mended" });
    await workspace.settled("shop");
    const normal = async () => (await eventsAbout(namespace, "shop")).filter(({ type }) => type === "Normal");
    // As soon as nothing is wrong any more: by then the failed sync has ended, and the next one may still be under way.
    const [mended, ...more] = await until("that it is mended", normal, (all) => all.length > 0);
    expect([["OutOfSync", "Synced"].includes(mended?.reason ?? ""), more]).toEqual([true, []]);
  });

  it("while a part of Argo CD is away: that nothing is wrong with the deployment, and nothing about the part", async () => {
    const namespace = "read-outage";
    const workspace = await openWorkspace(world, namespace);
    await world.git.commit(namespace, { "dev/settings.yaml": configMapFile("settings", { step: "one" }) });
    await workspace.apply("shop", { repository: namespace, path: "dev" });
    await workspace.settled("shop");
    const at = { namespace: (await findApplication(world, namespace, "shop"))?.metadata.namespace ?? "", name: "argocd-repo-server" };
    const run = (replicas: number) => world.kube.mergePatch<KubeObject>(DEPLOYMENTS, at, { spec: { replicas } }, world.signal);
    const isAway = async (): Promise<boolean> => {
      const found = await world.kube.get<KubeObject & { readonly status?: { readonly readyReplicas?: number } }>(
        DEPLOYMENTS,
        at,
        world.signal,
      );
      return (found?.status?.readyReplicas ?? 0) === 0;
    };
    const revision = await world.git.commit(namespace, { "dev/settings.yaml": configMapFile("settings", { step: "two" }) });
    let asked = 0;
    const away = await until(
      "the reported outage",
      async () => {
        // Again each time, because the instance's provisioner restores it.
        await run(0);
        // Asked of a part that is just going, a sync would begin and be ended in the middle, which its user reads.
        if (!(await isAway())) return undefined;
        asked += 1;
        if (asked % 20 === 1) await workspace.annotate("shop", { "argosy.dev/refreshed-at": `away ${asked}` });
        return workspace.read("shop");
      },
      (found) => conditionOf(found, "ComparisonError")?.status === "True",
    );
    await run(1);
    expect(away?.status?.conditions?.map(({ type, status, reason, message }) => [type, status, reason, message]).sort()).toEqual([
      ["ComparisonError", "True", "ComparisonError", NOT_YOURS],
      ["Ready", "False", "Reconciling", NOT_YOURS],
      ["Reconciling", "True", "Reconciling", NOT_YOURS],
    ]);
    await until(
      "it deployed once the part is back, which nobody asks for",
      () => workspace.read("shop"),
      (found) => conditionOf(found, "Ready")?.status === "True" && found?.status?.sync?.revision === revision,
    );
    expect((await eventsAbout(namespace, "shop")).filter(({ type }) => type === "Warning")).toEqual([]);
  });
});
