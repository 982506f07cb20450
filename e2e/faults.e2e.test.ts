import { beforeAll, describe, expect, it } from "vitest";
import { callHarness } from "./harness-client.ts";
import { configMapFile, findApplication, openWorkspace, openWorld, until, type World } from "./world.ts";

describe("parts that fail", () => {
  let world: World;
  beforeAll(() => {
    world = openWorld();
  });
  const isReady = (index: number) =>
    fetch(`${world.harness.argosyUrls[index]}/readyz`).then(
      (response) => response.ok,
      () => false,
    );

  it("finds out what users created, changed and deleted while the API server was out of its reach", async () => {
    const workspace = await openWorkspace(world, "fault-api");
    await world.git.commit("fault-api", {
      "one/config.yaml": configMapFile("one", {}),
      "two/config.yaml": configMapFile("two", {}),
      "three/config.yaml": configMapFile("three", {}),
      "other/config.yaml": configMapFile("other", {}),
    });
    await workspace.apply("one", { repository: "fault-api", path: "one" });
    await workspace.apply("two", { repository: "fault-api", path: "two" });
    await workspace.settled("one");
    await workspace.settled("two");

    await callHarness(world.harness, "cutApiServer", {});
    try {
      await workspace.remove("one");
      await workspace.apply("two", { repository: "fault-api", path: "other" });
      await workspace.apply("three", { repository: "fault-api", path: "three" });
    } finally {
      await callHarness(world.harness, "restoreApiServer", {});
    }
    await until(
      "what was deleted gone",
      () => workspace.configMap("one"),
      (found) => found === undefined,
    );
    await until(
      "what was changed applied",
      () => workspace.configMap("other"),
      (found) => found !== undefined,
    );
    await until(
      "what it was before pruned",
      () => workspace.configMap("two"),
      (found) => found === undefined,
    );
    await workspace.settled("three");
    await workspace.settled("two");
    expect(await workspace.read("one")).toBeUndefined();
  });

  it("takes up what users did while the database was away, and says meanwhile that it is not ready", async () => {
    const workspace = await openWorkspace(world, "fault-db");
    await world.git.commit("fault-db", {
      "before/config.yaml": configMapFile("before", {}),
      "during/config.yaml": configMapFile("during", {}),
    });
    await workspace.apply("before", { repository: "fault-db", path: "before" });
    await workspace.settled("before");

    await callHarness(world.harness, "stopDatabase", {});
    try {
      await until(
        "not ready",
        () => isReady(0),
        (ready) => !ready,
      );
      await workspace.apply("during", { repository: "fault-db", path: "during" });
      await workspace.remove("before");
      // What Argo CD deployed stays while nobody can decide anything.
      expect(await workspace.configMap("before")).toBeDefined();
    } finally {
      await callHarness(world.harness, "startDatabase", {});
    }
    await workspace.settled("during");
    await until(
      "the deletion carried out",
      () => workspace.configMap("before"),
      (found) => found === undefined,
    );
    await until(
      "both ready again",
      async () => (await isReady(0)) && (await isReady(1)),
      (ready) => ready,
    );
  });

  it("goes on telling status after an instance's controller was killed (P6)", async () => {
    const workspace = await openWorkspace(world, "fault-controller");
    await world.git.commit("fault-controller", { "dev/config.yaml": configMapFile("controller", { step: "one" }) });
    await workspace.apply("app", { repository: "fault-controller", path: "dev" });
    await workspace.settled("app");
    const namespace = (await findApplication(world, "fault-controller", "app"))?.metadata.namespace ?? "";
    expect(await callHarness(world.harness, "killContainer", { namespace, container: "argocd-application-controller" })).toBe(1);
    const revision = await world.git.commit("fault-controller", { "dev/config.yaml": configMapFile("controller", { step: "two" }) });
    await workspace.annotate("app", { "argosy.dev/refreshed-at": "after the kill" });
    await workspace.settled("app", revision);
    expect((await workspace.configMap("controller"))?.data).toEqual({ step: "two" });
  });
});
