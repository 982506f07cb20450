import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { CheckView, InstanceView } from "../src/api/schema.ts";
import { USER_FINALIZER } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { ENVIRONMENT, observeEnvironments, playEnvironments } from "./environments.ts";
import { callHarness } from "./harness-client.ts";
import { askForMove, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { type ProcessesByRole, startByRole } from "./processes-by-role.ts";
import { startTargetCluster, type TargetCluster } from "./target-cluster.ts";
import { conditionOf, configMapFile, type DeploymentResource, openWorld, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "by-role";
const REPOSITORY = "by-role/private";
const API_VERSION = "managed-gitops.redhat.com/v1alpha1";

describe("a process for each role, under an account that may do what the role needs and no more", () => {
  let world: World;
  let target: TargetCluster;
  let processes: ProcessesByRole;
  let movable: Movable;
  beforeAll(async () => {
    world = openWorld();
    target = await startTargetCluster(world.signal);
    processes = await startByRole(world);
  }, 600_000);
  afterAll(async () => {
    await processes?.stop();
    await target?.stop();
  }, 300_000);

  const { putSecret, putEnvironment, saysOfEnvironment, deploy } = playEnvironments(() => ({ world, target }));
  const { deployed, oursOnTarget } = observeEnvironments(() => ({ world, target }));
  const put = (type: typeof TYPES.secret | typeof TYPES.credential | typeof TYPES.deployment | typeof TYPES.syncRun, object: object) =>
    world.kube.apply(type, { kind: type.kind, ...object } as KubeObject, { fieldManager: "user" }, world.signal);

  it("deploys, and takes a push", async () => {
    movable = await openMovable(world, NAMESPACE, ["one"]);
    await movable.push("one", "1");
    await movable.arrived("one", "1");
  });

  it("carries out a sync run, and deletes it after its end", async () => {
    const { workspace } = movable;
    await world.git.commit(NAMESPACE, { "manual/config.yaml": configMapFile("manual", { by: "hand" }) });
    await workspace.apply("manual", { repository: NAMESPACE, path: "manual", type: "manual" });
    await put(TYPES.syncRun, {
      ...{ apiVersion: API_VERSION, metadata: { name: "run", namespace: NAMESPACE } },
      spec: { gitopsDeploymentName: "manual", ttlSecondsAfterFinished: 1 },
    });
    await until(
      "the sync's object",
      () => workspace.configMap("manual"),
      (found) => found?.data?.["by"] === "hand",
    );
    await until(
      "the run deleted after its end",
      () => world.kube.get(TYPES.syncRun, { namespace: NAMESPACE, name: "run" }, world.signal),
      (run) => run === undefined,
    );
  });

  it("deploys to an environment with an account of its own", async () => {
    await target.namespace("web");
    await putSecret(NAMESPACE, { token: await target.account("by-role") });
    await putEnvironment(NAMESPACE, { createNewServiceAccount: true });
    await saysOfEnvironment(NAMESPACE, "True", "Succeeded");
    const revision = await world.git.commit(NAMESPACE, { "far/config.yaml": configMapFile("far", { a: "b" }) });
    await deploy(movable.workspace, "far", { environment: "prod", namespace: "web" });
    await movable.workspace.settled("far", revision);
    expect((await deployed("far"))?.data).toEqual({ a: "b" });
    expect((await oursOnTarget()).length).toBeGreaterThan(0);
  });

  it("deploys from a repository that asks for a credential", async () => {
    const password = randomUUID();
    await callHarness(world.harness, "commitPrivate", { repository: REPOSITORY, files: { "app/a.json": configMapFile("private", {}) } });
    await callHarness(world.harness, "protect", { repository: REPOSITORY, username: "bot", password });
    const repoURL = `${world.harness.privateGitUrl}/${REPOSITORY}.git`;
    const metadata = { name: "private", namespace: NAMESPACE };
    const data = { username: Buffer.from("bot").toString("base64"), password: Buffer.from(password).toString("base64") };
    await put(TYPES.secret, { apiVersion: "v1", metadata, type: "managed-gitops.redhat.com/repository-credential", data });
    await put(TYPES.credential, { apiVersion: API_VERSION, metadata, spec: { repository: repoURL, secret: "private" } });
    const spec = { source: { repoURL, path: "app", targetRevision: "main" }, type: "automated" };
    await put(TYPES.deployment, { apiVersion: API_VERSION, metadata, spec });
    await movable.workspace.settled("private");
    await until(
      "the credential says that it is in use",
      () => world.kube.get<DeploymentResource>(TYPES.credential, metadata, world.signal),
      (credential) => conditionOf(credential, "Ready")?.status === "True",
    );
  });

  it("moves it all to another instance", async () => {
    const move: MoveView = await askForMove(world, movable, await movable.other());
    expect((await moveEnded(world, move)).phase).toBe("DONE");
    expect(await movable.owner()).toBe(move.to);
    await movable.push("one", "2");
    await movable.arrived("one", "2");
  });

  it("deletes what was deployed, environment and all", async () => {
    const { workspace } = movable;
    await workspace.apply("one", { repository: NAMESPACE, path: "one" }, [USER_FINALIZER]);
    for (const name of ["one", "manual", "far", "private"]) await workspace.remove(name);
    await until(
      "the resource gone",
      () => workspace.read("one"),
      (found) => found === undefined,
    );
    expect(await workspace.configMap("one")).toBeUndefined();
    await until(
      "the rows gone",
      () => world.rest.get<{ readonly items: readonly unknown[] }>("/v1/applications", { namespace: NAMESPACE }),
      ({ items }) => items.length === 0,
    );
    await world.kube.delete(ENVIRONMENT, { namespace: NAMESPACE, name: "prod" }, {}, world.signal);
    await until("nothing of ours on the target", oursOnTarget, (found) => found.length === 0);
  });

  it("was refused nothing by any API server", async () => {
    // What each instance uses is read from its cluster by the API.
    const used = await world.rest.get<{ readonly items: readonly InstanceView[] }>("/v1/instances", { usage: "true" });
    expect(used.items.map(({ clusterEntries }) => typeof clusterEntries)).toEqual(used.items.map(() => "number"));
    expect(await processes.refusals()).toEqual([]);
    // The doctor knows each process by its account, here and in the same cluster as one that hosts instances.
    const { checks } = await world.rest.get<{ readonly checks: readonly CheckView[] }>("/v1/doctor");
    const permissions = checks.filter(({ name }) => name.startsWith("permissions on"));
    expect(permissions.filter(({ ok }) => !ok)).toEqual([]);
    expect(permissions.filter(({ name }) => name.endsWith("as argosy-workspace"))).toHaveLength(2);
  });
});
