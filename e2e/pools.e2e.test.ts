import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { InstanceOrderView } from "../src/api/routes/instances.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { answerOf, argosy } from "./command-line.ts";
import { openPools, type PoolsWorld, releaseTagged } from "./pools-world.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, TYPES, until, type World } from "./world.ts";

const CONTROLLER = "argocd-application-controller";
const REPO_SERVER = "argocd-repo-server";
const REDIS = "argocd-redis";
const ONE = { min: 1, max: 1 };

describe("pools that change", () => {
  let world: World;
  let pools: PoolsWorld;
  beforeAll(() => {
    world = openWorld();
    pools = openPools(world);
  });
  afterAll(() => pools.restore());

  const isActive = (found: { readonly state: string } | undefined): boolean => found?.state === "ACTIVE";
  const configMapOf = (name: string, map: string) =>
    world.kube.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
      TYPES.configMap,
      { namespace: `argosy-${name}`, name: map },
      world.signal,
    );

  it("are read back as the document that declares them; declaring that again changes nothing", async () => {
    const directory = mkdtempSync(join(tmpdir(), "argosy-fleet-"));
    for (const format of ["yaml", "json"]) {
      const shown = await argosy(world, "get", "fleet", "-o", format);
      expect(shown).toMatchObject({ err: "", code: 0 });
      const file = join(directory, `fleet.${format}`);
      writeFileSync(file, shown.out);
      expect(await argosy(world, "apply", "-f", file)).toMatchObject({ out: expect.stringMatching(/^fleet unchanged \(.*\)$/), code: 0 });
    }
    rmSync(directory, { recursive: true });
  });

  it("grow from two instances to three and shrink again, and nothing of the third is left", async () => {
    const resized = (size: number) => ({
      ...pools.document,
      pools: pools.document.pools.map((pool) => ({ ...pool, instances: { min: size, max: size } })),
    });
    await pools.declare(resized(3));
    const third = await pools.instance("standard-3", "active", isActive);
    if (third === undefined) throw new Error("it was there a moment ago");
    expect([...(await pools.pods("standard-3")).keys()]).toEqual([CONTROLLER, REDIS, REPO_SERVER]);

    await pools.declare(resized(2));
    await pools.instance("standard-3", "retired", (found) => found === undefined);
    await until(
      "its namespace gone",
      () => pools.namespaceOf("standard-3"),
      (found) => found === undefined,
    );
    expect((await pools.instances()).map(({ name, state }) => [name, state])).toEqual([
      ["standard-1", "ACTIVE"],
      ["standard-2", "ACTIVE"],
    ]);
    const story = await pools.journal(third);
    expect(story.filter((verdict) => verdict !== "WAITING")).toEqual(["REQUESTED", "CREATING", "WARMING", "ACTIVE", "DRAINING", "RETIRED"]);
  });

  it.runIf(IS_LONG)("get one more instance by its name, and lose exactly the named one", async () => {
    await pools.declare(pools.withPool({ name: "named", instances: { min: 1, max: 2 } }));
    await pools.instance("named-1", "active", isActive);
    const create = () => answerOf<InstanceOrderView>(world, ["instance", "create", "named-2"]);
    expect(await create()).toMatchObject({ change: "created", min: { before: 1, after: 2 } });
    await pools.instance("named-2", "active", isActive);
    expect(await create()).toMatchObject({ change: "none" });

    const workspace = await openWorkspace(world, "pools-named");
    await world.git.commit("named", { "dev/config.yaml": configMapFile("named", {}) });
    await workspace.apply("app", { repository: "named", path: "dev" });
    await workspace.settled("app");
    const own = async () => (await pools.instances()).filter(({ pool }) => pool === "named");
    const [[holder], [empty]] = [(await own()).filter(({ units }) => units > 0), (await own()).filter(({ units }) => units === 0)];
    if (holder === undefined || empty === undefined) throw new Error("one of the two holds the workspace");
    expect(await argosy(world, "instance", "delete", holder.name)).toMatchObject({
      code: 1,
      err: expect.stringContaining("serves 1 unit"),
    });
    expect(await answerOf(world, ["instance", "delete", empty.name])).toMatchObject({ change: "retired", min: { before: 2, after: 1 } });
    await until(
      "the other alone",
      async () => (await own()).map(({ name, state }) => [name, state]),
      (rows) => JSON.stringify(rows) === JSON.stringify([[holder.name, "ACTIVE"]]),
    );
    await workspace.remove("app");
    await world.kube.delete(TYPES.namespace, { namespace: "", name: "pools-named" }, {}, world.signal);
  });

  it("let an instance that holds a workspace go on serving, say that it waits, and retire it once it is empty", async () => {
    await pools.declare(pools.withPool({ name: "leaving", instances: ONE }));
    await pools.instance("leaving-1", "active", isActive);
    const workspace = await openWorkspace(world, "pools-leaving");
    await world.git.commit("leaving", { "dev/config.yaml": configMapFile("leaving", { step: "one" }) });
    await workspace.apply("app", { repository: "leaving", path: "dev" });
    await workspace.settled("app");
    expect(await pools.instance("leaving-1", "with a unit", (found) => found?.units === 1)).toBeDefined();

    await pools.declare(pools.document, { prune: true });
    const waiting = await pools.instance("leaving-1", "cordoned", (found) => found?.state === "CORDONED");
    expect(waiting?.reason).toBe("its pool was removed from fleet.yaml: it takes no new units and is retired when it holds none");
    const revision = await world.git.commit("leaving", { "dev/config.yaml": configMapFile("leaving", { step: "two" }) });
    await workspace.annotate("app", { "argosy.dev/refreshed-at": "while it waits" });
    await workspace.settled("app", revision);

    await workspace.remove("app");
    await world.kube.delete(TYPES.namespace, { namespace: "", name: "pools-leaving" }, {}, world.signal);
    await pools.instance("leaving-1", "retired", (found) => found === undefined);
    await until(
      "its namespace gone",
      () => pools.namespaceOf("leaving-1"),
      (found) => found === undefined,
    );
  });

  it("bring changed parameters to the pods that read them at their start, and to no others", async () => {
    const declared = { name: "tuned", instances: ONE };
    await pools.declare(pools.withPool(declared));
    await pools.instance("tuned-1", "active", isActive);
    const before = await pools.pods("tuned-1");

    const capacity = { ...(pools.document.pools[0]?.["capacity"] as object), applications: 900 };
    const resources = { ...(pools.document.pools[0]?.["resources"] as object), repoServer: { replicas: 2 } };
    await pools.declare(pools.withPool({ ...declared, capacity, resources }));
    const live = { namespace: "argosy-tuned-1", name: "argocd-cm" };
    await world.kube.mergePatch(TYPES.configMap, live, { data: { "exec.enabled": "true" } }, world.signal);
    await until(
      "the live setting put back",
      () => configMapOf("tuned-1", "argocd-cm"),
      (found) => found?.data?.["exec.enabled"] === "false",
    );
    await pools.instance("tuned-1", "larger", (found) => found?.capacity.applications === 900);
    const grown = await until(
      "a second repo-server",
      () => pools.pods("tuned-1"),
      (found) => found.get(REPO_SERVER)?.length === 2,
    );
    expect(grown.get(CONTROLLER)).toEqual(before.get(CONTROLLER));
    expect(grown.get(REDIS)).toEqual(before.get(REDIS));
    expect(grown.get(REPO_SERVER)).toEqual(expect.arrayContaining([...(before.get(REPO_SERVER) ?? [])]));

    await pools.declare(pools.withPool({ ...declared, capacity, resources, engine: { statusProcessors: 7 } }));
    const tuned = await until(
      "another controller",
      () => pools.pods("tuned-1"),
      (found) => found.get(CONTROLLER)?.length === 1 && found.get(CONTROLLER)?.[0] !== before.get(CONTROLLER)?.[0],
    );
    expect((await configMapOf("tuned-1", "argocd-cmd-params-cm"))?.data?.["controller.status.processors"]).toBe("7");
    expect(tuned.get(REDIS)).toEqual(before.get(REDIS));
    expect(tuned.get(REPO_SERVER)).toEqual(grown.get(REPO_SERVER));
    const [row] = (
      await world.rest.all<{ readonly name: string; readonly state: string; readonly clusterEntries: number | null }>("/v1/instances", {
        usage: true,
      })
    ).filter(({ name }) => name === "tuned-1");
    expect(row).toMatchObject({ state: "ACTIVE", clusterEntries: 1 });
    await pools.restore();
  });

  it("say why an instance cannot be created, and create it once fleet.yaml is corrected", async () => {
    const [release] = pools.document.versions.catalogue;
    if (release === undefined) throw new Error("the fleet declares a release");
    const wrong = (name: string, version: string, change: Partial<typeof release>) =>
      pools.withPool(
        { name, instances: ONE, version },
        { versions: { ...pools.document.versions, catalogue: [release, { ...release, version, ...change }] } },
      );
    await pools.declare(wrong("wrong", "3.5.7-2", { crds: "/nowhere" }));
    const failing = await pools.instance("wrong-1", "with a failed attempt", (found) => found?.reason.includes("attempt") === true);
    expect(failing?.reason).toMatch(/attempt \d of 5 failed: \/nowhere\/application-crd\.yaml cannot be read.*Name a directory/);

    await pools.declare(wrong("wrong", "3.5.7-2", {}));
    const mended = await pools.instance("wrong-1", "active", isActive);
    expect(mended === undefined ? [] : await pools.journal(mended)).toEqual(expect.arrayContaining(["CREATING", "ACTIVE"]));

    const { image } = releaseTagged(release, "3.5.7-3", "v0.0.1");
    await pools.declare(wrong("pulling", "3.5.7-3", { image }));
    const pulling = await pools.instance("pulling-1", "without an image", (found) => found?.reason.includes("cannot be pulled") === true);
    expect(pulling?.reason).toContain(`image ${image} cannot be pulled`);
    expect(pulling === undefined ? [] : await pools.journal(pulling)).toContain("WAITING");
    await pools.restore();
  });

  it("give up visibly where a namespace belongs to somebody else, leave it alone, and recover when it is gone", async () => {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "argosy-taken-1" } };
    await world.kube.apply(TYPES.namespace, namespace, { fieldManager: "user" }, world.signal);
    await pools.declare(pools.withPool({ name: "taken", instances: ONE }));
    const failed = await pools.instance("taken-1", "failed", (found) => found?.state === "FAILED");
    expect(failed?.reason).toBe(
      "namespace argosy-taken-1 is there already and was not made by Argosy: delete it, or rename the pool. It is created as soon as the name is free",
    );
    expect((await pools.namespaceOf("taken-1"))?.metadata.labels?.["argosy.dev/instance"]).toBeUndefined();
    await world.kube.delete(TYPES.namespace, { namespace: "", name: "argosy-taken-1" }, {}, world.signal);
    const recovered = await pools.instance("taken-1", "active", isActive);
    const story = recovered === undefined ? [] : await pools.journal(recovered);
    expect(story.filter((verdict) => verdict !== "WAITING")).toEqual([
      ...["REQUESTED", "CREATING", "FAILED", "REQUESTED", "CREATING", "WARMING", "ACTIVE"],
    ]);
  });
});
