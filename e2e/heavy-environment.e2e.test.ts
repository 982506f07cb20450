import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { declareFleet } from "./declare-fleet.ts";
import { CONNECTED, observeEnvironments, playEnvironments } from "./environments.ts";
import { startTargetCluster, type TargetCluster } from "./target-cluster.ts";
import { conditionOf, configMapFile, findApplication, openWorkspace, openWorld, TYPES, until, type World } from "./world.ts";

/** An empty cluster has some 60 APIs and 200 objects. */
const BUDGET = 2_000;
const CROWD = 2_500;

let world: World;
let target: TargetCluster;
const parts = () => ({ world, target });
const { putSecret, putEnvironment, readEnvironment, saysOfEnvironment, deploy } = playEnvironments(parts);
const { deployed, entries } = observeEnvironments(parts);

beforeAll(async () => {
  world = openWorld();
  target = await startTargetCluster(world.signal);
}, 300_000);
afterAll(async () => {
  await declareFleet(world, world.harness.fleetDocument);
  await target.stop();
});

async function crowd(namespace: string): Promise<void> {
  await target.namespace(namespace);
  const names = Array.from({ length: CROWD }, (_, index) => `crowd-${index}`);
  for (let from = 0; from < CROWD; from += 50)
    await Promise.all(
      names.slice(from, from + 50).map((name) => {
        const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name } } as KubeObject;
        return target.kube.create(TYPES.configMap, object, world.signal);
      }),
    );
}

describe("an environment that is to fill its instance's memory", () => {
  it("W18: is withheld with what was measured; what is deployed stays, and who watches the few namespaces that matter goes on", async () => {
    const { workspaces } = world.harness.fleetDocument as { readonly workspaces: { readonly quota?: object } };
    const quota = { ...workspaces.quota, environmentObjects: BUDGET };
    await declareFleet(world, { ...world.harness.fleetDocument, workspaces: { ...workspaces, quota } });
    await target.namespace("web");
    for (const [namespace, spec] of [
      ["env-heavy", {}],
      ["env-light", { namespaces: ["web"] }],
    ] as const) {
      const workspace = await openWorkspace(world, namespace);
      await putSecret(namespace, { token: await target.account(`${namespace}-1`) });
      await putEnvironment(namespace, spec);
      await saysOfEnvironment(namespace, "True", "Succeeded");
      const revision = await world.git.commit(namespace, { "shop/config.yaml": configMapFile(`${namespace}-shop`, { a: "b" }) });
      await deploy(workspace, "shop", { environment: "prod", namespace: "web" });
      await workspace.settled("shop", revision);
    }
    expect(await entries()).toHaveLength(2);

    await crowd("crowd");
    const environment = await saysOfEnvironment("env-heavy", "False", "ResourceBudgetExceeded");
    expect(conditionOf(environment, CONNECTED)?.message).toMatch(
      /an instance had to keep \d+ objects of \d+ APIs .* may take 2000\. .*spec\.namespaces/,
    );
    const heavy = await openWorkspace(world, "env-heavy");
    const said = await until(
      "its deployment says so",
      () => heavy.read("shop"),
      (found) => conditionOf(found, "Ready")?.reason === "EnvironmentUnavailable",
    );
    expect(conditionOf(said, "Ready")?.message).toContain("one environment may take 2000");
    await until("its entry has left the instance", entries, (found) => found.length === 1);
    expect((await deployed("env-heavy-shop"))?.data).toEqual({ a: "b" });
    await until(
      "no Application of it is left",
      () => findApplication(world, "env-heavy", "shop"),
      (found) => found === undefined,
    );
    expect((await deployed("env-heavy-shop"))?.data).toEqual({ a: "b" });

    expect(conditionOf(await readEnvironment("env-light"), CONNECTED)?.status).toBe("True");
    const light = await openWorkspace(world, "env-light");
    const revision = await world.git.commit("env-light", { "shop/config.yaml": configMapFile("env-light-shop", { a: "c" }) });
    await light.annotate("shop", { "argosy.dev/refreshed-at": "pushed" });
    await light.settled("shop", revision);
  });
});
