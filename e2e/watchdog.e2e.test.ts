import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DecisionView, InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { argosy } from "./command-line.ts";
import { configMapFile, findApplication, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const NAMESPACE = "watchdog-team";
const QUOTAS: ResourceType = { group: "", version: "v1", plural: "resourcequotas", kind: "ResourceQuota", namespaced: true };
const QUOTA = "no-applications";
/** Within a minute, and what a shared machine takes for reading it. */
const REPORTED_MS = 60_000;
const DEADLINE_MS = 10 * 60_000;

describe("the watchdog", () => {
  let world: World;
  let workspace: Workspace;
  let application: KubeObject;
  beforeAll(async () => {
    world = openWorld();
    workspace = await openWorkspace(world, NAMESPACE);
    await world.git.commit("watchdog", { "dev/config.yaml": configMapFile("watched", { step: "one" }) });
    await workspace.apply("app", { repository: "watchdog", path: "dev" });
    await workspace.settled("app");
    const found = await findApplication(world, NAMESPACE, "app");
    if (found === undefined) throw new Error("its Application was there a moment ago");
    application = found;
  }, DEADLINE_MS);
  afterAll(async () => {
    await world.kube.delete(QUOTAS, { namespace: application.metadata.namespace ?? "", name: QUOTA }, {}, world.signal);
    await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
  });

  const entries = async (): Promise<readonly (readonly [string, unknown])[]> => {
    const { items } = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", { kind: "ownership" });
    const own = items.filter(({ details }) => String(details["key"]).includes(application.metadata.name));
    return own.map(({ verdict, rule }) => [verdict, rule] as const);
  };
  const reported = async (what: string, entry: readonly [string, string], patienceMs: number): Promise<number> => {
    const began = performance.now();
    await until(what, entries, (all) => JSON.stringify(all[0]) === JSON.stringify(entry), patienceMs);
    return performance.now() - began;
  };
  const checked = async (): Promise<string> => (await argosy(world, "doctor")).out;

  it(
    "reports a second owner that was planted by hand, and says when it is gone",
    async () => {
      const { units } = (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((one) => one.namespace === NAMESPACE) ?? { units: [] };
      const instances = await world.rest.all<InstanceView>("/v1/instances");
      const other = instances.find(({ name, state }) => name !== units[0]?.instance && state === "ACTIVE");
      // Neither labels nor marks of ours: nobody but the watchdog looks at it.
      const metadata = { name: application.metadata.name, namespace: `argosy-${other?.name}` };
      const { spec } = application as KubeObject & { readonly spec: unknown };
      await world.kube.create(
        TYPES.application,
        { ...application, metadata, spec, status: undefined } as unknown as KubeObject,
        world.signal,
      );
      const tookMs = await reported("the second owner in the journal", ["TWO_OWNERS", "WATCHDOG"], REPORTED_MS);
      report(`watchdog: a second owner reported after ${Math.round(tookMs)} ms`);
      expect(await checked()).toContain("TWO_OWNERS");
      await world.kube.delete(TYPES.application, metadata, {}, world.signal);
      await reported("its end in the journal", ["CLEARED", "TWO_OWNERS"], 2 * REPORTED_MS);
      expect(await checked()).not.toContain("TWO_OWNERS");
    },
    DEADLINE_MS,
  );

  it(
    "reports an Application that was deleted behind everybody's back and cannot be put back, and says when it stands again (P3)",
    async () => {
      const namespace = application.metadata.namespace ?? "";
      const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: QUOTA, namespace } };
      const hard = { "count/applications.argoproj.io": "0" };
      await world.kube.create(QUOTAS, { ...quota, spec: { hard } } as unknown as KubeObject, world.signal);
      await until(
        "the quota in force",
        () =>
          world.kube.get<KubeObject & { readonly status?: { readonly hard?: unknown } }>(QUOTAS, { namespace, name: QUOTA }, world.signal),
        (found) => found?.status?.hard !== undefined,
      );
      await world.kube.delete(TYPES.application, { namespace, name: application.metadata.name }, {}, world.signal);
      const tookMs = await reported("the missing owner in the journal", ["NO_OWNER", "WATCHDOG"], REPORTED_MS);
      report(`watchdog: a missing owner reported after ${Math.round(tookMs)} ms`);
      await world.kube.delete(QUOTAS, { namespace, name: QUOTA }, {}, world.signal);
      await workspace.annotate("app", { "argosy.dev/refreshed-at": "now" });
      await reported("its end in the journal", ["CLEARED", "NO_OWNER"], 3 * REPORTED_MS);
      expect(await workspace.configMap("watched")).toBeDefined();
    },
    DEADLINE_MS,
  );
});
