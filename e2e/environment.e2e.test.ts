import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { CONNECTED, ENVIRONMENT, observeEnvironments, playEnvironments } from "./environments.ts";
import { inSeconds } from "./in-seconds.ts";
import { syncFailing, syncStateOf } from "./sync-state.ts";
import { startTargetCluster, TARGET_TYPES, type TargetCluster } from "./target-cluster.ts";
import {
  conditionOf,
  configMapFile,
  findApplication,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type Workspace,
  type World,
} from "./world.ts";

let world: World;
let target: TargetCluster;
beforeAll(async () => {
  world = openWorld();
  target = await startTargetCluster(world.signal);
}, 300_000);
/** Nothing stays that was deployed to a cluster that ends: instances would compare it no more, which the watchdog rightly says. */
afterAll(async () => {
  const own = async () => {
    const { items } = await world.kube.listPage<KubeObject>(TYPES.namespace, {}, world.signal);
    return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith("env-"));
  };
  for (const name of await own()) await world.kube.delete(TYPES.namespace, { namespace: "", name }, {}, world.signal);
  await until("the story's namespaces gone", own, (left) => left.length === 0, 120_000);
  await target.stop();
}, 300_000);

const parts = () => ({ world, target });
const { putSecret, putEnvironment, readyEnvironment, saysOfEnvironment, deploy } = playEnvironments(parts);
const { deployed, entries, oursOnTarget } = observeEnvironments(parts);

const clusterRoleFile = (name: string): string =>
  JSON.stringify({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules: [] });

const failed = (workspace: Workspace, name: string) =>
  until(
    `${workspace.namespace}/${name} cannot be deployed`,
    () => workspace.read(name),
    (resource) => conditionOf(resource, "Ready")?.reason === "EnvironmentUnavailable",
  );

describe("deploying to another cluster", () => {
  let oldToken = "";

  it("works with the cluster's own token and authority, and names the environment", async () => {
    const workspace = await openWorkspace(world, "env-anna");
    await target.namespace("web");
    oldToken = await target.account("anna-1");
    await putSecret("env-anna", { token: oldToken });
    await putEnvironment("env-anna");
    await saysOfEnvironment("env-anna", "True", "Succeeded");
    const revision = await world.git.commit("env-anna", { "shop/config.yaml": configMapFile("shop", { step: "1" }) });
    await deploy(workspace, "shop", { environment: "prod", namespace: "web" });
    const resource = await workspace.settled("shop", revision);
    expect(resource?.status).toMatchObject({ reconciledState: { destination: { name: "prod", namespace: "web" } } });
    expect((await deployed("shop"))?.data).toEqual({ step: "1" });
    expect(await workspace.configMap("shop")).toBeUndefined();
    expect(await entries()).toHaveLength(1);
  });

  it("goes on when the Secret gets another token and the old one expires", async () => {
    const workspace = await openWorkspace(world, "env-anna");
    await putSecret("env-anna", { token: await target.account("anna-2") });
    const application = await findApplication(world, "env-anna", "shop");
    await target.revoke("anna-1", oldToken);
    const revision = await world.git.commit("env-anna", { "shop/config.yaml": configMapFile("shop", { step: "2" }) });
    await workspace.annotate("shop", { "argosy.dev/refreshed-at": "rotated" });
    await workspace.settled("shop", revision);
    await until(
      "the change on the target",
      () => deployed("shop"),
      (found) => found?.data?.["step"] === "2",
    );
    expect((await findApplication(world, "env-anna", "shop"))?.metadata.uid).toBe(application?.metadata.uid);
    await readyEnvironment("env-anna");
  });

  it("stops, and says why, when the environment is deleted; what was deployed stays, and is managed again later", async () => {
    const workspace = await openWorkspace(world, "env-anna");
    const before = (await deployed("shop"))?.metadata.uid;
    await world.kube.delete(ENVIRONMENT, { namespace: "env-anna", name: "prod" }, {}, world.signal);
    const resource = await failed(workspace, "shop");
    expect(conditionOf(resource, "ErrorOccurred")?.message).toBe(
      "unable to reconcile the ManagedEnvironment resource. Ensure that the ManagedEnvironment exists, it references a Secret, and the Secret is valid",
    );
    await until(
      "the Application gone from its instance",
      () => findApplication(world, "env-anna", "shop"),
      (found) => found === undefined,
    );
    await until(
      "the entry gone",
      () => entries(),
      (entries) => entries.length === 0,
    );
    expect((await deployed("shop"))?.metadata.uid).toBe(before);

    await putEnvironment("env-anna");
    await workspace.settled("shop");
    await until(
      "no complaint",
      () => workspace.read("shop"),
      (found) => conditionOf(found, "Ready")?.status === "True" && conditionOf(found, "ErrorOccurred")?.status === "False",
    );
    expect((await deployed("shop"))?.metadata.uid).toBe(before);
  });

  it("removes what was deployed there with the deployment", async () => {
    const workspace = await openWorkspace(world, "env-anna");
    await workspace.remove("shop");
    await until(
      "nothing on the target",
      () => deployed("shop"),
      (found) => found === undefined,
    );
    await until(
      "the entry gone",
      () => entries(),
      (entries) => entries.length === 0,
    );
  });
});

describe("credentials of an environment", () => {
  it("that are wrong are reported, and deployments recover by themselves when they are corrected", async () => {
    const workspace = await openWorkspace(world, "env-ben");
    await world.git.commit("env-ben", { "shop/config.yaml": configMapFile("ben-shop", { a: "b" }) });
    await putEnvironment("env-ben");
    await saysOfEnvironment("env-ben", "False", "SecretNotFound");
    await deploy(workspace, "shop", { environment: "prod", namespace: "web" });
    const resource = await failed(workspace, "shop");
    expect(conditionOf(resource, "ErrorOccurred")?.message).toBe(
      "Unable to reconcile the ManagedEnvironment. Verify that the ManagedEnvironment and Secret are correctly defined, and have valid credentials",
    );
    await putSecret("env-ben", { token: "not-a-token" });
    const environment = await saysOfEnvironment("env-ben", "Unknown", "UnableToValidateClusterCredentials");
    expect(conditionOf(environment, CONNECTED)?.message).toBe(
      "Unable to validate the credentials provided in the ManagedEnvironment Secret. Verify the API URL, and service account token are correct.",
    );
    expect(conditionOf(environment, "Ready")?.status).toBe("False");
    await putSecret("env-ben", { certificate: target.kubernetes.admin });
    await saysOfEnvironment("env-ben", "True", "Succeeded");
    await workspace.settled("shop");
    expect((await deployed("ben-shop"))?.data).toEqual({ a: "b" });
  });

  it("limited to namespaces deploy there and nowhere else", async () => {
    const workspace = await openWorkspace(world, "env-cleo");
    await Promise.all(["cleo", "secret"].map((name) => target.namespace(name)));
    await putSecret("env-cleo", { token: await target.accountOf("cleo-1", "cleo") });
    await putEnvironment("env-cleo", { namespaces: ["cleo"] });
    await saysOfEnvironment("env-cleo", "True", "Succeeded");
    await world.git.commit("env-cleo", {
      "shop/config.yaml": configMapFile("shop", { a: "b" }),
      "escape/config.yaml": JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "out", namespace: "secret" } }),
      "role/role.yaml": clusterRoleFile("cleo-evil"),
    });
    await deploy(workspace, "shop", { environment: "prod", namespace: "cleo" });
    await workspace.settled("shop");
    expect((await deployed("shop", "cleo"))?.data).toEqual({ a: "b" });
    await deploy(workspace, "escape", { environment: "prod", namespace: "cleo" });
    await deploy(workspace, "role", { environment: "prod", namespace: "cleo" });
    for (const name of ["escape", "role"])
      await until(
        `${name} is complained about`,
        () => workspace.read(name),
        (found) => conditionOf(found, "Ready")?.status === "False" && conditionOf(found, "Stalled")?.status === "True",
      );
    expect(await deployed("out", "secret")).toBeUndefined();
  });

  it("of environments of every form on one API server are kept apart, and each is replaced by the next as the old one expires", async () => {
    const workspace = await openWorkspace(world, "env-fay");
    // In all namespaces; in one namespace; in one namespace and cluster-wide. Beside them a deployment without an
    // environment, in its own namespace.
    const specs = { wide: {}, narrow: { namespaces: ["fay-narrow"] }, both: { namespaces: ["fay-both"], clusterResources: true } };
    const names = ["wide", "narrow", "both"] as const;
    const issue = (name: (typeof names)[number], turn: number): Promise<string> =>
      name === "narrow" ? target.accountOf(`fay-${name}-${turn}`, "fay-narrow") : target.account(`fay-${name}-${turn}`);
    const handOver = async (turn: number): Promise<readonly string[]> => {
      const tokens = await Promise.all(names.map((name) => issue(name, turn)));
      await Promise.all(names.map((name, index) => putSecret("env-fay", { token: tokens[index] ?? "" }, { name })));
      return tokens;
    };
    const push = (step: string) => {
      const configs = [...names, "own"].map((name) => [`${name}/config.yaml`, configMapFile(`fay-${name}`, { step })]);
      const roles = ["wide", "both"].map((name) => [`${name}/role.yaml`, clusterRoleFile(`fay-${name}`)]);
      return world.git.commit("env-fay", Object.fromEntries([...configs, ...roles]));
    };
    const tokensAtArgoCd = async () =>
      (await entries())
        .map(({ token }) => token)
        .filter((token) => token !== "")
        .sort();

    await Promise.all(names.map((name) => target.namespace(`fay-${name}`)));
    const first = await push("1");
    const before = await handOver(1);
    await Promise.all(names.map((name) => putEnvironment("env-fay", specs[name], name)));
    await Promise.all(names.map((name) => saysOfEnvironment("env-fay", "True", "Succeeded", name)));
    await Promise.all(names.map((name) => deploy(workspace, name, { environment: name, namespace: `fay-${name}` })));
    await deploy(workspace, "own");
    await Promise.all([...names, "own"].map((name) => workspace.settled(name, first)));
    for (const name of names) expect((await deployed(`fay-${name}`, `fay-${name}`))?.data).toEqual({ step: "1" });
    expect((await workspace.configMap("fay-own"))?.data).toEqual({ step: "1" });
    for (const name of ["fay-wide", "fay-both"])
      expect(await target.kube.get(TARGET_TYPES.clusterRole, { namespace: "", name }, world.signal)).toBeDefined();
    expect(await tokensAtArgoCd()).toEqual(expect.arrayContaining([...before]));

    const after = await handOver(2);
    await until("the next tokens on the instance", tokensAtArgoCd, (tokens) => after.every((token) => tokens.includes(token)));
    expect((await tokensAtArgoCd()).filter((token) => before.includes(token))).toEqual([]);
    await Promise.all(names.map((name, index) => target.revoke(`fay-${name}-1`, before[index] ?? "")));
    const second = await push("2");
    await Promise.all([...names, "own"].map((name) => workspace.annotate(name, { "argosy.dev/refreshed-at": "rotated" })));
    await Promise.all([...names, "own"].map((name) => workspace.settled(name, second)));
    for (const name of names) {
      expect((await deployed(`fay-${name}`, `fay-${name}`))?.data).toEqual({ step: "2" });
      await readyEnvironment("env-fay", name);
    }
  });

  it("never reach a cluster that hosts instances", async () => {
    await openWorkspace(world, "env-eve");
    const instanceServer = world.kube.server;
    await putSecret("env-eve", { token: "whatever" }, { server: instanceServer });
    await putEnvironment("env-eve", { apiURL: instanceServer });
    const environment = await saysOfEnvironment("env-eve", "False", "UnableToCreateClient");
    expect(conditionOf(environment, CONNECTED)?.message).toBe("the API URL leads to a cluster that may not be deployed to");
  });
});

describe("CreateNamespace=true where the account may not create namespaces", () => {
  const NAMESPACE = "env-gil";
  const PODS = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = await openWorkspace(world, NAMESPACE);
    await target.namespace("gil");
    // The account may read no other namespace. With the option a sync there fails, whether the namespace exists or not.
    const rules = [
      { apiGroups: [""], resources: ["configmaps", "pods"], verbs: ["*"] },
      { apiGroups: [""], resources: ["namespaces"], verbs: ["get"], resourceNames: ["gil"] },
    ];
    await putSecret(NAMESPACE, { token: await target.accountWith("gil-1", rules) });
    await putEnvironment(NAMESPACE, { namespaces: ["gil", "gil-late"] });
    await saysOfEnvironment(NAMESPACE, "True", "Succeeded");
    // A hook that runs until the story ends it, because no Pods run there.
    const hook = { name: "hook", annotations: { "argocd.argoproj.io/hook": "PreSync" } };
    await world.git.commit(NAMESPACE, {
      "late/config.yaml": configMapFile("late", {}),
      "held/hook.yaml": JSON.stringify({
        ...{ apiVersion: "v1", kind: "Pod", metadata: hook },
        spec: { restartPolicy: "Never", containers: [{ name: "hook", image: "example.com/hook" }] },
      }),
      "held/config.yaml": configMapFile("held", {}),
    });
  });

  const deployInto = (name: string, namespace: string, syncOptions: readonly string[]) =>
    world.kube.apply(
      TYPES.deployment,
      {
        apiVersion: "managed-gitops.redhat.com/v1alpha1",
        kind: "GitOpsDeployment",
        metadata: { name, namespace: NAMESPACE },
        spec: {
          source: { repoURL: world.git.url(NAMESPACE), path: name, targetRevision: "main" },
          destination: { environment: "prod", namespace },
          syncPolicy: { syncOptions },
          type: "automated",
        },
      } as KubeObject,
      { fieldManager: "user" },
      world.signal,
    );

  it("keeps a deployment from being synced until the option is removed; then it is synced into the namespace made by hand", async () => {
    await deployInto("late", "gil-late", ["CreateNamespace=true"]);
    await syncFailing(world, NAMESPACE, "late");
    await until(
      "what the user reads of it",
      () => workspace.read("late"),
      (found) => conditionOf(found, "Ready")?.reason === "SyncFailed" && /namespace/i.test(conditionOf(found, "Ready")?.message ?? ""),
    );
    await target.namespace("gil-late");
    const since = performance.now();
    await deployInto("late", "gil-late", []);
    await workspace.settled("late");
    report(`failing sync: Synced ${inSeconds(performance.now() - since)} after CreateNamespace was taken off`);
    expect(await deployed("late", "gil-late")).toBeDefined();
  });

  it("is removed during a sync: that sync is ended, and another one begins without the option", async () => {
    await deployInto("held", "gil", ["CreateNamespace=true"]);
    const hook = () => target.kube.get<KubeObject>(PODS, { namespace: "gil", name: "hook" }, world.signal);
    const first = await until("the hook", hook, (found) => found !== undefined);
    expect((await syncStateOf(world, NAMESPACE, "held"))?.operation?.sync?.syncOptions).toContain("CreateNamespace=true");
    await deployInto("held", "gil", []);
    await until("another hook", hook, (found) => found !== undefined && found.metadata.uid !== first?.metadata.uid);
    expect((await syncStateOf(world, NAMESPACE, "held"))?.operation?.sync?.syncOptions).not.toContain("CreateNamespace=true");
    await target.kube.mergePatch(
      PODS,
      { namespace: "gil", name: "hook", subresource: "status" },
      { status: { phase: "Succeeded" } },
      world.signal,
    );
    await workspace.settled("held");
    expect(await deployed("held", "gil")).toBeDefined();
  });
});

describe("an account of its own", () => {
  it("deploys instead of the user's credential, and is deleted with the environment; what it deployed stays", async () => {
    const workspace = await openWorkspace(world, "env-dora");
    await putSecret("env-dora", { token: await target.account("dora-1") });
    await putEnvironment("env-dora", { createNewServiceAccount: true });
    await saysOfEnvironment("env-dora", "True", "Succeeded");
    expect(await oursOnTarget()).toEqual([]);
    const revision = await world.git.commit("env-dora", { "shop/config.yaml": configMapFile("dora-shop", { a: "b" }) });
    await deploy(workspace, "shop", { environment: "prod", namespace: "web" });
    await workspace.settled("shop", revision);
    const ours = await oursOnTarget();
    expect(ours.map((each) => each.replace(/([ru])-[0-9a-f]{20}/, "$1")).sort()).toEqual([
      "ClusterRole /r",
      "ClusterRole /u",
      "ClusterRoleBinding /r",
      "ClusterRoleBinding /u",
      "ServiceAccount argosy-accounts/u",
    ]);
    const managers = (await deployed("dora-shop"))?.metadata;
    await target.kube.delete(TARGET_TYPES.clusterRoleBinding, { namespace: "", name: "dora-1-cluster-admin" }, {}, world.signal);
    const next = await world.git.commit("env-dora", { "shop/config.yaml": configMapFile("dora-shop", { a: "c" }) });
    await workspace.annotate("shop", { "argosy.dev/refreshed-at": "without the user's rights" });
    await workspace.settled("shop", next);
    expect((await deployed("dora-shop"))?.data).toEqual({ a: "c" });

    await target.account("dora-1");
    await world.kube.delete(ENVIRONMENT, { namespace: "env-dora", name: "prod" }, {}, world.signal);
    await until("nothing of ours is left on the target", oursOnTarget, (found) => found.length === 0);
    await failed(workspace, "shop");
    expect((await deployed("dora-shop"))?.metadata.uid).toBe(managers?.uid);
  });
});
