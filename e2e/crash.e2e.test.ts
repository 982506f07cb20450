import { beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { callHarness } from "./harness-client.ts";
import { configMapFile, openWorkspace, openWorld, TYPES, until, type World } from "./world.ts";

const CREATIONS = 50;
const KILLED_AFTER = 20;

interface ApplicationRow {
  readonly name: string;
  readonly argoName: string;
}

describe("a killed process", () => {
  let world: World;
  beforeAll(() => {
    world = openWorld();
  });

  it("loses nothing and does nothing twice when one of two control planes is killed for good in the middle of 50 creations (P6)", async () => {
    await world.git.commit("crash", { "dev/config.yaml": configMapFile("crash", {}) });
    const workspace = await openWorkspace(world, "crash");
    const names = Array.from({ length: CREATIONS }, (_, index) => `crash-${index}`);
    await Promise.all(names.map((name) => world.git.commit("crash", { [`${name}/config.yaml`]: configMapFile(name, {}) })));
    for (const [index, name] of names.entries()) {
      await workspace.apply(name, { repository: "crash", path: name });
      if (index === KILLED_AFTER) await callHarness(world.harness, "killArgosy", { index: 1 });
    }
    for (const name of names) await workspace.settled(name);

    const rows = await world.rest.all<ApplicationRow>("/v1/applications", { namespace: "crash" });
    expect(rows.map((row) => row.name).sort()).toEqual([...names].sort());
    const objects = await world.kube.listPage<KubeObject>(
      TYPES.application,
      { labelSelector: "app.kubernetes.io/managed-by=argosy" },
      world.signal,
    );
    const ofTheWorkspace = objects.items
      .filter((object) => object.metadata.name.startsWith("crash-crash-"))
      .map((object) => object.metadata.name);
    expect(ofTheWorkspace.sort()).toEqual(rows.map((row) => row.argoName).sort());

    await callHarness(world.harness, "startArgosy", { index: 1 });
    await until(
      "two members again",
      () =>
        fetch(`${world.harness.argosyUrls[1]}/readyz`).then(
          (response) => response.ok,
          () => false,
        ),
      (isReady) => isReady,
    );
  });
});
