import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setCpuShare } from "../hack/dev-cluster/process-node/control.ts";
import type { DecisionView, InstanceView, WorkspaceView } from "../src/api/schema.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { argosy } from "./command-line.ts";
import { allowMore, forbidMore } from "./quota.ts";
import { configMapFile, findApplication, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const NAMESPACE = "watchdog-team";
const QUOTA = "no-applications";
/** A minute, and what a busy machine needs to read it. */
const REPORTED_MS = 60_000;
const DEADLINE_MS = 10 * 60_000;

describe("the watchdog", () => {
  let world: World;
  let workspace: Workspace;
  beforeAll(async () => {
    world = openWorld();
    workspace = await openWorkspace(world, NAMESPACE);
    await world.git.commit("watchdog", { "dev/config.yaml": configMapFile("watched", { step: "one" }) });
    await world.git.commit("watchdog", { "twin/config.yaml": configMapFile("twin", { step: "one" }) });
    for (const name of ["dev", "twin"]) await workspace.apply(name, { repository: "watchdog", path: name });
    for (const name of ["dev", "twin"]) await workspace.settled(name);
  }, DEADLINE_MS);
  afterAll(async () => {
    const { metadata } = await applicationOf("dev");
    await allowMore(world, { namespace: metadata.namespace ?? "", name: QUOTA });
    await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
  });

  const applicationOf = async (name: string): Promise<KubeObject> => {
    const found = await findApplication(world, NAMESPACE, name);
    if (found === undefined) throw new Error("its Application was there a moment ago");
    return found;
  };
  /** What was reported about an Application, or about an instance. */
  const entriesOf = async (about: string): Promise<readonly (readonly [string, unknown])[]> => {
    const { items } = await world.rest.get<{ readonly items: readonly DecisionView[] }>("/v1/decisions", { kind: "ownership" });
    const own = items.filter(({ details }) => String(details["key"]).split(" ").includes(about));
    return own.map(({ verdict, rule }) => [verdict, rule] as const);
  };
  const reported = async (of: string, entry: readonly [string, string], timeoutMs: number): Promise<number> => {
    const began = performance.now();
    await until(
      `${entry.join(" ")} in the journal`,
      () => entriesOf(of),
      (all) => JSON.stringify(all[0]) === JSON.stringify(entry),
      timeoutMs,
    );
    return performance.now() - began;
  };
  /** The instance that serves the workspace, or the other one. */
  const instanceOf = async (isOwner: boolean): Promise<InstanceView> => {
    const { units } = (await world.rest.all<WorkspaceView>("/v1/workspaces")).find((one) => one.namespace === NAMESPACE) ?? { units: [] };
    const instances = await world.rest.all<InstanceView>("/v1/instances");
    const found = instances.find(({ name, state }) => (name === units[0]?.instance) === isOwner && state === "ACTIVE");
    if (found === undefined) throw new Error("there are two instances");
    return found;
  };
  const checked = async (): Promise<string> => (await argosy(world, "doctor")).out;

  // Each waits for a few checks, half a minute apart, and does not disturb the others.
  it.concurrent(
    "reports a second owner that was created by hand, and says when it is gone",
    async () => {
      const application = await applicationOf("twin");
      const other = await instanceOf(false);
      // It has none of Argosy's labels or annotations, so only the watchdog reads it.
      const metadata = { name: application.metadata.name, namespace: `argosy-${other.name}` };
      const { spec } = application as KubeObject & { readonly spec: unknown };
      await world.kube.create(
        TYPES.application,
        { ...application, metadata, spec, status: undefined } as unknown as KubeObject,
        world.signal,
      );
      const tookMs = await reported(application.metadata.name, ["TWO_OWNERS", "WATCHDOG"], REPORTED_MS);
      report(`watchdog: a second owner reported after ${Math.round(tookMs)} ms`);
      expect(await checked()).toContain("TWO_OWNERS");
      await world.kube.delete(TYPES.application, metadata, {}, world.signal);
      await reported(application.metadata.name, ["CLEARED", "TWO_OWNERS"], 2 * REPORTED_MS);
      expect(await checked()).not.toContain("TWO_OWNERS");
    },
    DEADLINE_MS,
  );

  it.concurrent(
    "reports an Application that was deleted and cannot be restored, and says when it is back (P3)",
    async () => {
      const application = await applicationOf("dev");
      const namespace = application.metadata.namespace ?? "";
      await forbidMore(world, { namespace, name: QUOTA }, "count/applications.argoproj.io");
      await world.kube.delete(TYPES.application, { namespace, name: application.metadata.name }, {}, world.signal);
      const tookMs = await reported(application.metadata.name, ["NO_OWNER", "WATCHDOG"], REPORTED_MS);
      report(`watchdog: a missing owner reported after ${Math.round(tookMs)} ms`);
      await allowMore(world, { namespace, name: QUOTA });
      await workspace.annotate("dev", { "argosy.dev/refreshed-at": "now" });
      await reported(application.metadata.name, ["CLEARED", "NO_OWNER"], 3 * REPORTED_MS);
      expect(await workspace.configMap("watched")).toBeDefined();
    },
    DEADLINE_MS,
  );

  it.concurrent(
    "reports a controller that hangs, and says when it goes on",
    async () => {
      const { id, name } = await instanceOf(false);
      const pod = { namespace: `argosy-${name}`, name: "argocd-application-controller-0" };
      await setCpuShare(world.kube, pod, 0, world.signal);
      try {
        const tookMs = await reported(id, ["FROZEN", "WATCHDOG"], REPORTED_MS);
        report(`watchdog: a controller that stands still reported after ${Math.round(tookMs)} ms`);
        expect(await checked()).toContain(`${name} does not answer`);
      } finally {
        // Later stories need it.
        await setCpuShare(world.kube, pod, 1, world.signal);
      }
      await reported(id, ["CLEARED", "FROZEN"], 2 * REPORTED_MS);
    },
    DEADLINE_MS,
  );
});
