import { beforeAll, describe, expect, it } from "vitest";
import { USER_FINALIZER } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { conditionOf, configMapFile, findApplication, openWorkspace, openWorld, TYPES, until, type World } from "./world.ts";

describe("a user's first week", () => {
  let world: World;
  beforeAll(() => {
    world = openWorld();
  });

  it("deploys for three workspaces, each on one of two instances, and can say why", async () => {
    await world.git.commit("shop", { "dev/config.yaml": configMapFile("shop", { colour: "green" }) });
    const names = ["story-anna", "story-ben", "story-cleo"];
    const workspaces = await Promise.all(names.map((name) => openWorkspace(world, name)));
    await Promise.all(workspaces.map((workspace) => workspace.apply("shop", { repository: "shop", path: "dev" })));
    for (const workspace of workspaces) {
      await workspace.settled("shop");
      expect((await workspace.configMap("shop"))?.data).toEqual({ colour: "green" });
      const explanation = await world.rest.get<{
        readonly text: readonly string[];
        readonly workspace: { readonly units: readonly { readonly instance: string }[] };
      }>(`/v1/explain/${workspace.namespace}`);
      expect(["standard-1", "standard-2"]).toContain(explanation.workspace.units[0]?.instance);
      expect(explanation.text.join("\n")).toContain(explanation.workspace.units[0]?.instance);
    }
    const { items } = await world.rest.get<{ readonly items: readonly { readonly name: string; readonly state: string }[] }>(
      "/v1/instances",
    );
    expect(items.map((instance) => [instance.name, instance.state])).toEqual([
      ["standard-1", "ACTIVE"],
      ["standard-2", "ACTIVE"],
    ]);
  });

  it("brings a push to the cluster as soon as the user requests a refresh", async () => {
    const workspace = await openWorkspace(world, "story-push");
    const first = await world.git.commit("push", { "dev/config.yaml": configMapFile("push", { step: "one" }) });
    await workspace.apply("push", { repository: "push", path: "dev" });
    await workspace.settled("push", first);
    const second = await world.git.commit("push", { "dev/config.yaml": configMapFile("push", { step: "two" }) });
    await workspace.annotate("push", { "argosy.dev/refreshed-at": "now" });
    await workspace.settled("push", second);
    expect((await workspace.configMap("push"))?.data).toEqual({ step: "two" });
  });

  it("prunes what a new path or revision no longer has, and applies what it has", async () => {
    const workspace = await openWorkspace(world, "story-update");
    const first = await world.git.commit("update", {
      "dev/config.yaml": configMapFile("only-in-dev", {}),
      "prod/config.yaml": configMapFile("only-in-prod", {}),
    });
    await world.git.commit("update", { "prod/config.yaml": undefined, "prod/other.yaml": configMapFile("newer-in-prod", {}) });
    await workspace.apply("update", { repository: "update", path: "dev" });
    await workspace.settled("update");
    expect(await workspace.configMap("only-in-dev")).toBeDefined();

    await workspace.apply("update", { repository: "update", path: "prod" });
    await until(
      "the new path applied",
      () => workspace.configMap("newer-in-prod"),
      (found) => found !== undefined,
    );
    await until(
      "the old path pruned",
      () => workspace.configMap("only-in-dev"),
      (found) => found === undefined,
    );

    await workspace.apply("update", { repository: "update", path: "prod", targetRevision: first });
    await until(
      "the older revision applied",
      () => workspace.configMap("only-in-prod"),
      (found) => found !== undefined,
    );
    await until(
      "the newer revision pruned",
      () => workspace.configMap("newer-in-prod"),
      (found) => found === undefined,
    );
    await workspace.settled("update", first);
  });

  it("deletes the resource after its objects where it has the finalizer, and at once where it has none", async () => {
    const workspace = await openWorkspace(world, "story-delete");
    await world.git.commit("delete", { "a/config.yaml": configMapFile("kept", {}), "b/config.yaml": configMapFile("left", {}) });
    await workspace.apply("kept", { repository: "delete", path: "a" }, [USER_FINALIZER]);
    await workspace.apply("left", { repository: "delete", path: "b" });
    await workspace.settled("kept");
    await workspace.settled("left");

    await workspace.remove("kept");
    await until(
      "the resource gone",
      () => workspace.read("kept"),
      (resource) => resource === undefined,
    );
    expect(await workspace.configMap("kept")).toBeUndefined();

    await workspace.remove("left");
    expect(await workspace.read("left")).toBeUndefined();
    await until(
      "the deployed object gone",
      () => workspace.configMap("left"),
      (found) => found === undefined,
    );
    await until(
      "the rows gone",
      () => world.rest.get<{ readonly items: readonly unknown[] }>("/v1/applications", { namespace: "story-delete" }),
      ({ items }) => items.length === 0,
    );
  });

  it("treats a deployment that comes back under its name as a new one", async () => {
    const workspace = await openWorkspace(world, "story-again");
    await world.git.commit("again", {
      "one/config.yaml": configMapFile("again", { life: "first" }),
      "two/config.yaml": configMapFile("again", { life: "second" }),
    });
    await workspace.apply("again", { repository: "again", path: "one" });
    await workspace.settled("again");
    const before = await findApplication(world, "story-again", "again");
    await workspace.remove("again");
    await workspace.apply("again", { repository: "again", path: "two" });
    await until(
      "the new deployment's object",
      () => workspace.configMap("again"),
      (found) => found?.data?.["life"] === "second",
    );
    await until(
      "the old deployment's Application gone",
      () => findApplication(world, "story-again", "again"),
      (found) => found !== undefined && found.metadata.name !== before?.metadata.name,
    );
    await workspace.settled("again");
    // A last sync of the old Application may have written its own once more: the new one corrects that.
    const again = await until(
      "the new deployment's object, with nobody left to change it",
      () => workspace.configMap("again"),
      (found) => found?.data?.["life"] === "second",
    );
    expect(again?.data).toEqual({ life: "second" });
  });

  it("shows a condition for a path that does not exist, and recovers when it does", async () => {
    const workspace = await openWorkspace(world, "story-wrong");
    await world.git.commit("wrong", { "right/config.yaml": configMapFile("right", {}) });
    await workspace.apply("wrong", { repository: "wrong", path: "missing" });
    const broken = await until(
      "a ComparisonError",
      () => workspace.read("wrong"),
      (resource) => conditionOf(resource, "ComparisonError")?.status === "True",
    );
    expect(conditionOf(broken, "Ready")?.status).toBe("False");
    expect(JSON.stringify(broken?.status)).not.toMatch(/standard-[12]|argosy-standard/);
    await workspace.apply("wrong", { repository: "wrong", path: "right" });
    const repaired = await workspace.settled("wrong");
    expect(conditionOf(repaired, "Ready")?.status).toBe("True");
    expect(conditionOf(repaired, "ComparisonError")).toMatchObject({ status: "False", reason: "ComparisonErrorResolved" });
  });
});

describe("changes by hand on the cluster", () => {
  let world: World;
  beforeAll(() => {
    world = openWorld();
  });

  it("restores an Application, a project, a cluster entry and an owner binding that somebody deleted or edited", async () => {
    const { kube, signal } = world;
    const workspace = await openWorkspace(world, "story-hands");
    await world.git.commit("hands", { "dev/config.yaml": configMapFile("hands", {}) });
    await workspace.apply("hands", { repository: "hands", path: "dev" });
    await workspace.settled("hands");
    const application = await findApplication(world, "story-hands", "hands");
    const namespace = application?.metadata.namespace ?? "";
    const at = (object: KubeObject | undefined) => ({ namespace, name: object?.metadata.name ?? "" });
    const project = {
      namespace,
      name: (application as { readonly spec?: { readonly project?: string } } | undefined)?.spec?.project ?? "",
    };

    await kube.delete(TYPES.application, at(application), {}, signal);
    await until(
      "the Application again, under a new uid",
      () => kube.get(TYPES.application, at(application), signal),
      (found) => found !== undefined && found.metadata.uid !== application?.metadata.uid,
    );

    await kube.mergePatch(TYPES.application, at(application), { spec: { source: { path: "elsewhere" } } }, signal);
    await until(
      "the path put back",
      () =>
        kube.get<KubeObject & { readonly spec?: { readonly source?: { readonly path?: string } } }>(
          TYPES.application,
          at(application),
          signal,
        ),
      (found) => found?.spec?.source?.path === "dev",
    );

    await kube.mergePatch(TYPES.project, project, { spec: { sourceRepos: ["*"] } }, signal);
    await until(
      "the project's repositories put back",
      () => kube.get<KubeObject & { readonly spec?: { readonly sourceRepos?: readonly string[] } }>(TYPES.project, project, signal),
      (found) => found?.spec?.sourceRepos?.includes("*") === false,
    );
    await kube.delete(TYPES.project, project, {}, signal);
    await until(
      "the project again",
      () => kube.get(TYPES.project, project, signal),
      (found) => found !== undefined,
    );

    const entries = await kube.listPage<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(
      TYPES.secret,
      { namespace, labelSelector: "argocd.argoproj.io/secret-type=cluster" },
      signal,
    );
    // Entries of environments, which other stories may have left, belong to one project each.
    const shared = entries.items.filter(({ data }) => data?.["project"] === undefined);
    expect(shared).toHaveLength(1);
    await kube.delete(TYPES.secret, at(shared[0]), {}, signal);
    await until(
      "the cluster entry again",
      () => kube.get(TYPES.secret, at(shared[0]), signal),
      (found) => found !== undefined,
    );

    const ownerBinding = { namespace: "story-hands", name: "argosy-deployer" };
    const before = await kube.get(TYPES.roleBinding, ownerBinding, signal);
    await kube.delete(TYPES.roleBinding, ownerBinding, {}, signal);
    await until(
      "the owner binding again",
      () => kube.get(TYPES.roleBinding, ownerBinding, signal),
      (found) => found !== undefined && found.metadata.uid !== before?.metadata.uid,
    );

    await world.git.commit("hands", { "dev/config.yaml": configMapFile("hands", { after: "repair" }) });
    await workspace.annotate("hands", { "argosy.dev/refreshed-at": "after repair" });
    await until(
      "syncs after the repairs",
      () => workspace.configMap("hands"),
      (found) => found?.data?.["after"] === "repair",
    );
  });
});
