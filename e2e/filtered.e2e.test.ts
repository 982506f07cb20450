import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANNOTATION_LET_IN } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { callHarness } from "./harness-client.ts";
import { askForMove, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const HELD = "filtered-anna";
const MOVED = "filtered-moved";
const CLASS = { region: "local", tier: "filtered", trust: "public" };
const PROJECTS = { group: "argoproj.io", version: "v1alpha1", plural: "appprojects", kind: "AppProject", namespaced: true };
const FILTERED = "filtered-1";

describe("a pool whose instances read the API cluster through a filter", () => {
  let world: World;
  let pools: PoolsWorld;
  let held: Workspace;
  let moved: Movable;
  const opened: Workspace[] = [];

  beforeAll(async () => {
    world = openWorld();
    pools = openPools(world);
    const both = pools.withPool({ name: "filtered", instances: { min: 1, max: 1 }, class: CLASS, entries: "filtered" });
    const [own, ...others] = both.pools;
    await pools.declare({ ...both, pools: [own ?? {}, { ...own, entries: "shared", name: "unfiltered" }, ...others] });
    for (const name of [FILTERED, "unfiltered-1"]) await pools.instance(name, "active", (instance) => instance?.state === "ACTIVE");
  });
  afterAll(async () => {
    for (const { namespace } of opened) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.restore();
  });

  const letIn = async (): Promise<readonly string[]> => {
    const { items } = await world.kube.listPage<KubeObject>(PROJECTS, { namespace: `argosy-${FILTERED}` }, world.signal);
    return items.flatMap(({ metadata }) => metadata.annotations?.[ANNOTATION_LET_IN] ?? []).sort();
  };
  const commit = (files: Readonly<Record<string, string | undefined>>) => world.git.commit(HELD, files);
  const refresh = (text: string) => held.annotate("app", { "argosy.dev/refreshed-at": text });

  it("deploys a workspace once the filter has let its namespace in", async () => {
    await pools.cordon("unfiltered-1", true);
    await commit({ "dev/config.yaml": configMapFile("config", { a: "1" }), "dev/other.yaml": configMapFile("other", { b: "1" }) });
    held = await openWorkspace(world, HELD);
    opened.push(held);
    await held.apply("app", { repository: HELD, path: "dev" });
    await held.settled("app");
    expect(await letIn()).toEqual([HELD]);
  });

  it("puts an edited object back, follows Git, and prunes, also after the filter was killed", async () => {
    const isText = (text: string) => (found: { readonly data?: Readonly<Record<string, string>> } | undefined) =>
      found?.data?.["a"] === text;
    const edit = (a: string) => world.kube.mergePatch(TYPES.configMap, { namespace: HELD, name: "config" }, { data: { a } }, world.signal);
    await edit("edited");
    await until("the object as in Git again", () => held.configMap("config"), isText("1"));
    await callHarness(world.harness, "killContainer", { namespace: `argosy-${FILTERED}`, container: "cluster-filter" });
    await edit("edited again");
    await until("the object as in Git again", () => held.configMap("config"), isText("1"));
    await commit({ "dev/config.yaml": configMapFile("config", { a: "2" }), "dev/other.yaml": undefined });
    await refresh("without");
    await until("the object as it is in Git now", () => held.configMap("config"), isText("2"));
    await until(
      "no other object",
      () => held.configMap("other"),
      (found) => found === undefined,
    );
  });

  it("takes a workspace from an instance with a shared entry by a live move, and gives it back: nothing is deleted, and the next push arrives", async () => {
    await pools.cordon("unfiltered-1", false);
    await pools.cordon(FILTERED, true);
    moved = await openMovable(world, MOVED, ["web"]);
    opened.push(moved.workspace);
    expect(await moved.owner()).toBe("unfiltered-1");
    await pools.cordon(FILTERED, false);
    const uids = await moved.uids();
    for (const to of [FILTERED, "unfiltered-1", FILTERED]) {
      const move = await moveEnded(world, await askForMove(world, moved, to));
      expect([move.phase, move.message]).toEqual(["DONE", ""]);
      report(`to ${to}: gap ${move.gapMs} ms, whole ${move.tookMs} ms`);
      await moved.push("web", `on ${to}`);
      await moved.arrived("web", `on ${to}`);
      expect(await moved.uids()).toEqual(uids);
      expect(await moved.writers()).toBe(1);
      expect(await letIn()).toEqual(to === FILTERED ? [HELD, MOVED].sort() : [HELD]);
    }
  });

  it("cascades, and keeps nothing of what has left", async () => {
    await moved.workspace.remove("web");
    await until(
      "nothing deployed",
      () => moved.workspace.configMap("web"),
      (found) => found === undefined,
    );
  });
});
