import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { KubeClient } from "../src/runtime/kube/client.ts";
import { type KubeObject, resourcePath } from "../src/runtime/kube/resource.ts";
import { ENVIRONMENT, make, makeEnvironment, putSecret, untilSays } from "./attacks/belongings.ts";
import { MANIFESTS, reported, reportedOf, stuck } from "./attacks/from-git.ts";
import { refusalOf, tokenOf } from "./attacks/person.ts";
import { OWNER_BINDING, openScene, type Scene, stateOf } from "./attacks/scene.ts";
import { bindingOf } from "./binding.ts";
import { sumOf } from "./control-plane.ts";
import { callHarness } from "./harness-client.ts";
import { startTargetCluster, type TargetCluster } from "./target-cluster.ts";
import { conditionOf, configMapFile, findApplication, openWorld, TYPES, until, type World } from "./world.ts";

const ROLES = ["edit", "admin"] as const;
const DEPLOYER = "argosy-deployer";
/** Names that users must not read. */
const OURS = /standard-[12]|argosy-(standard|accounts|system)|(?<![a-z0-9])(ws|we|u|read|cluster)-[0-9a-f]{20}/;

let world: World;
let scene: Scene;
let target: TargetCluster;
let before: unknown;
beforeAll(async () => {
  world = openWorld();
  [target, scene] = await Promise.all([startTargetCluster(world.signal), openScene(world)]);
  await Promise.all([target.namespace("home"), target.namespace("stolen")]);
});
afterAll(async () => {
  await Promise.all(ROLES.map((role) => scene?.people[role].kube.close()));
  await target?.stop();
});
beforeEach(async () => {
  before = await stateOf(world, scene.victim);
});
afterEach(async () => {
  expect(await stateOf(world, scene.victim), "what the victim has").toEqual(before);
});

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

describe.each(ROLES)("a person bound to %s in a namespace", (role) => {
  const person = () => scene.people[role].kube;

  it("creates no token of a deploying account, neither of its own workspace nor of another", async () => {
    for (const { account } of [scene.attacker, scene.victim]) {
      const refusal = await refusalOf(tokenOf(person(), account, world.signal));
      expect(refusal.status).toBe(403);
      expect(refusal.message).toContain(
        `cannot create resource "serviceaccounts/token" in API group "" in the namespace "argosy-accounts"`,
      );
    }
  });

  it("reads no Secret that holds a token", async () => {
    for (const namespace of ["argosy-accounts", "argosy-system", scene.instanceNamespace, scene.victim.workspace.namespace]) {
      const refusal = await refusalOf(person().listPage(TYPES.secret, { namespace }, world.signal));
      expect(refusal).toMatchObject({ status: 403, message: expect.stringContaining('cannot list resource "secrets"') });
    }
  });

  it("impersonates no deploying account", async () => {
    for (const { account, workspace } of [scene.attacker, scene.victim]) {
      const headers = { "Impersonate-User": `system:serviceaccount:${account.namespace}:${account.name}` };
      const path = `/api/v1/namespaces/${workspace.namespace}/configmaps`;
      const refusal = await refusalOf(person().request({ method: "GET", path, headers }, world.signal));
      expect(refusal.status).toBe(403);
      expect(refusal.message).toContain('cannot impersonate resource "serviceaccounts" in API group "" in the namespace "argosy-accounts"');
    }
  });

  it("binds nobody to the role of deploying accounts, neither in its own namespace nor in another", async () => {
    for (const { workspace } of [scene.attacker, scene.victim]) {
      const mine = { namespace: scene.attacker.workspace.namespace, name: `person-${role}` };
      for (const subject of [mine, scene.victim.account]) {
        const binding = bindingOf({ namespace: workspace.namespace, name: "attack" }, DEPLOYER, subject);
        const refusal = await refusalOf(person().create(TYPES.roleBinding, binding, world.signal));
        expect(refusal.status).toBe(403);
      }
    }
  });

  it("adds nobody to the owner binding", async () => {
    const { namespace } = scene.attacker.workspace;
    const at = { namespace, name: OWNER_BINDING };
    const subjects = [{ kind: "ServiceAccount", namespace, name: `person-${role}` }];
    const ownerBinding = await world.kube.get(TYPES.roleBinding, at, world.signal);
    expect(await refusalOf(person().mergePatch(TYPES.roleBinding, at, { subjects }, world.signal))).toMatchObject({ status: 403 });
    expect((await world.kube.get(TYPES.roleBinding, at, world.signal))?.metadata.resourceVersion).toBe(
      ownerBinding?.metadata.resourceVersion,
    );
  });
});

describe("the administrator of a namespace", () => {
  it("may give another workspace's account rights in its own namespace, which gains nothing there", async () => {
    const { namespace } = scene.attacker.workspace;
    const binding = bindingOf({ namespace, name: "attack-gift" }, "admin", scene.victim.account);
    await scene.people.admin.kube.create(TYPES.roleBinding, binding, world.signal);
    const headers = { "Impersonate-User": `system:serviceaccount:${scene.victim.account.namespace}:${scene.victim.account.name}` };
    const path = `/api/v1/namespaces/${scene.victim.workspace.namespace}/configmaps`;
    expect(await refusalOf(scene.people.admin.kube.request({ method: "GET", path, headers }, world.signal))).toMatchObject({ status: 403 });
    await scene.people.admin.kube.delete(TYPES.roleBinding, { namespace, name: "attack-gift" }, {}, world.signal);
  });

  it("deletes its own owner binding, which is restored and counted, and no other", async () => {
    const { kube } = scene.people.admin;
    const at = { namespace: scene.attacker.workspace.namespace, name: OWNER_BINDING };
    const isOwnerBindingMade = (labels: string) => labels.includes('object="owner-binding"') && labels.includes('step="create"');
    const [old, counted] = await Promise.all([
      world.kube.get<KubeObject>(TYPES.roleBinding, at, world.signal),
      sumOf(world, "argosy_reconciler_writes_total", isOwnerBindingMade),
    ]);
    await kube.delete(TYPES.roleBinding, at, {}, world.signal);
    await until(
      "the owner binding again",
      () => world.kube.get(TYPES.roleBinding, at, world.signal),
      (found) => found !== undefined && found.metadata.uid !== old?.metadata.uid,
    );
    await until(
      "the counted write",
      () => sumOf(world, "argosy_reconciler_writes_total", isOwnerBindingMade),
      (count) => count === counted + 1,
    );
    const theirs = { namespace: scene.victim.workspace.namespace, name: OWNER_BINDING };
    expect(await refusalOf(kube.delete(TYPES.roleBinding, theirs, {}, world.signal))).toMatchObject({ status: 403 });
  });
});

const fromGit = Object.entries(MANIFESTS).map(([name, manifest], index) => ({ name, manifest, path: `attack-${index}` }));

describe.each([
  { who: "a workspace", environment: undefined, by: "alone" },
  // Which allows every kind, on the attacker's own cluster.
  { who: "a workspace with an environment of its own", environment: "mine", by: "beside" },
] as const)("what $who has in Git", ({ environment, by }) => {
  const REPOSITORY = "attacks-git";
  const nameOf = (path: string) => `${by}-${path}`;
  const namespace = () => scene.attacker.workspace.namespace;

  beforeAll(async () => {
    if (environment !== undefined) await bringEnvironment(environment);
    const files = fromGit.map(({ manifest, path }) => [`${path}/x.json`, JSON.stringify(manifest(scene, world).object)]);
    await world.git.commit(REPOSITORY, Object.fromEntries(files));
    await Promise.all(fromGit.map(({ path }) => deployAsUser(nameOf(path), { repoURL: world.git.url(REPOSITORY), path })));
  });

  it.each(fromGit)("does not make $name", async ({ manifest, path }) => {
    const { type, object, reported: refusal } = manifest(scene, world);
    const text = await reported(world, { namespace: namespace(), name: nameOf(path) }, refusal);
    // The author of the manifest knows the namespace in it anyway.
    expect(text.replaceAll(`"namespace":${JSON.stringify(object.metadata.namespace)}`, "")).not.toMatch(OURS);
    const { namespace: where = "", name } = object.metadata;
    const found = await world.kube.get<ConfigMap>(type, { namespace: where, name }, world.signal);
    if (name === "home") expect(found?.data, "what is the victim's").toEqual({ safe: "yes" });
    else expect(found).toBeUndefined();
  });
});

/** Of each kind outside namespaces one that the API cluster has, and one that it has not; of one length, as what users read is cut. */
const OUTSIDE = [
  ["definitions", definition("gitopsdeployments.managed-gitops.redhat.com"), definition("gitopsdeploymentx.managed-gitops.redhat.com")],
  ["API services", apiService("v1.apps"), apiService("v1.appz")],
  ["roles", clusterRole("cluster-admin"), clusterRole("cluster-admit")],
  ["namespaces", named("v1", "Namespace", "kube-system"), named("v1", "Namespace", "kube-systex")],
] as const;

function named(apiVersion: string, kind: string, name: string): KubeObject {
  return { apiVersion, kind, metadata: { name } } as KubeObject;
}

function clusterRole(name: string): KubeObject {
  return { ...named("rbac.authorization.k8s.io/v1", "ClusterRole", name), rules: [] } as KubeObject;
}

function definition(name: string): KubeObject {
  const [plural = "", ...group] = name.split(".");
  const schema = { openAPIV3Schema: { type: "object" } };
  const spec = {
    ...{ group: group.join("."), scope: "Namespaced", names: { plural, kind: "Attack" } },
    versions: [{ name: "v1", served: true, storage: true, schema }],
  };
  return { ...named("apiextensions.k8s.io/v1", "CustomResourceDefinition", name), spec } as KubeObject;
}

function apiService(name: string): KubeObject {
  const [version = "", ...group] = name.split(".");
  const spec = { group: group.join("."), version, groupPriorityMinimum: 1_000, versionPriority: 15 };
  return { ...named("apiregistration.k8s.io/v1", "APIService", name), spec } as KubeObject;
}

describe("which objects outside namespaces the API cluster has", () => {
  const REPOSITORY = "attacks-outside";
  const cases = OUTSIDE.map(([kinds, ...objects], index) => ({ kinds, objects, path: `outside-${index}` }));
  const namespace = () => scene.attacker.workspace.namespace;
  const at = (name: string) => ({ namespace: namespace(), name });

  beforeAll(async () => {
    const files = cases.flatMap(({ objects, path }) =>
      objects.map((object, which) => [`${path}-${which}/x.json`, JSON.stringify(object)] as const),
    );
    await world.git.commit(REPOSITORY, Object.fromEntries(files));
    const paths = files.map(([file]) => file.split("/")[0] ?? "");
    await Promise.all(paths.map((path) => deployAsUser(path, { repoURL: world.git.url(REPOSITORY), path })));
  });

  it.each(cases)("are not shown to a workspace with a cluster-wide environment that has $kinds in Git", async ({ objects, path }) => {
    expect((await environmentOf("mine"))?.["spec"], "the environment that allows everything").not.toHaveProperty("namespaces");
    const names = objects.map((_, which) => `${path}-${which}`);
    await Promise.all(names.map((name) => reported(world, at(name), "not permitted")));
    const said = async (name: string, which: number): Promise<string> => {
      const resource = await scene.attacker.workspace.read(name);
      const { health, resources } = (resource?.status ?? {}) as Readonly<Record<string, unknown>>;
      const text = `${reportedOf(resource)} ${JSON.stringify({ health, resources })}`;
      const own = text.replaceAll(name, "NAME").replaceAll(objects[which]?.metadata.name ?? name, "OBJECT");
      return own.replaceAll(/\b[0-9a-f]{40}\b/g, "COMMIT").replaceAll(/\d+/g, "0");
    };
    // A failed sync is tried again, so that one of the two may be an attempt ahead.
    await until(
      `the same of ${names.join(" and ")}`,
      () => Promise.all(names.map(said)),
      ([there, absent]) => there === absent,
    );
  });
});

const environmentOf = (name: string) =>
  world.kube.get<KubeObject & Readonly<Record<string, unknown>>>(
    ENVIRONMENT,
    { namespace: scene.attacker.workspace.namespace, name },
    world.signal,
  );

describe("the account that deploys a workspace", () => {
  it.each(fromGit)("may not create $name, even where Argo CD would allow it", async ({ manifest }) => {
    const { type, object } = manifest(scene, world);
    const { namespace, name } = scene.attacker.account;
    const headers = { "Impersonate-User": `system:serviceaccount:${namespace}:${name}` };
    const path = resourcePath(type, { namespace: object.metadata.namespace ?? "" });
    const refusal = await refusalOf(world.kube.request({ method: "POST", path, body: object, headers }, world.signal));
    expect(refusal).toMatchObject({ status: 403, message: expect.stringContaining(`cannot create resource "${type.plural}"`) });
  });
});

/** The attacker's own cluster, in use. */
async function bringEnvironment(name: string): Promise<void> {
  const { workspace } = scene.attacker;
  const { server, ca } = target.kubernetes;
  const token = await target.account("attacker");
  await makeEnvironment({ kube: scene.people.edit.kube, world }, { namespace: workspace.namespace, name }, { server, ca, token });
  await deployAsUser("elsewhere", { repoURL: world.git.url("attacks-home"), path: "home" }, { environment: name, namespace: "stolen" });
  await workspace.settled("elsewhere");
}

/** A deployment of the attacker's. */
async function deployAsUser(
  name: string,
  source: { readonly repoURL: string; readonly path: string },
  destination: Readonly<Record<string, string>> = {},
): Promise<void> {
  const metadata = { namespace: scene.attacker.workspace.namespace, name };
  const spec = { source: { targetRevision: "main", ...source }, destination, type: "automated" };
  await make(scene.people.edit.kube, TYPES.deployment, { metadata, spec }, world.signal);
}

describe("what another workspace has", () => {
  let repository: string;
  let commit: string;
  const namespaceOf = (who: "victim" | "attacker") => scene[who].workspace.namespace;

  beforeAll(async () => {
    const password = randomBytes(12).toString("hex");
    const namespace = namespaceOf("victim");
    repository = `${world.harness.privateGitUrl}/attacks/private.git`;
    const token = await target.account("victim");
    const files = { "app/x.json": configMapFile("from-private", { private: "yes" }) };
    commit = (await callHarness(world.harness, "commitPrivate", { repository: "attacks/private", files })) as string;
    await callHarness(world.harness, "protect", { repository: "attacks/private", username: "bot", password });
    const stringData = { username: "bot", password };
    await putSecret(world, { namespace, name: "private" }, { type: "repository-credential", stringData });
    const spec = { repository, secret: "private" };
    await make(world.kube, TYPES.credential, { metadata: { namespace, name: "private" }, spec }, world.signal);
    const { server, ca } = target.kubernetes;
    await makeEnvironment({ kube: world.kube, world }, { namespace, name: "prod" }, { server, ca, token });
    await deployPrivate(world.kube, namespace, { environment: "prod", namespace: "home" });
    await scene.victim.workspace.settled("private");
  });

  const deployPrivate = (
    kube: KubeClient,
    namespace: string,
    destination = {},
    over: { readonly name?: string; readonly sha?: string } = {},
  ) => {
    const { name = "private", sha: targetRevision = "main" } = over;
    const spec = { source: { repoURL: repository, path: "app", targetRevision }, destination, type: "automated" };
    return make(kube, TYPES.deployment, { metadata: { namespace, name }, spec }, world.signal);
  };

  it("a private repository, is not read by somebody who knows its URL", async () => {
    const { kube } = scene.people.edit;
    await deployPrivate(kube, namespaceOf("attacker"));
    const resource = await until(
      "the refusal",
      () => scene.attacker.workspace.read("private"),
      (found) => conditionOf(found, "ErrorOccurred")?.status === "True",
    );
    expect(conditionOf(resource, "Ready")).toMatchObject({ reason: "InvalidCredentials" });
    expect(conditionOf(resource, "ErrorOccurred")?.message).toMatch(/authentication required/i);
    expect(reportedOf(resource)).not.toContain(namespaceOf("victim"));
    expect(await scene.attacker.workspace.configMap("from-private")).toBeUndefined();
  });

  it("a private repository: a full SHA is read without a credential", async () => {
    // Argo CD asks nobody whether a full SHA may be read that its checkout holds, and the victim has filled it.
    await deployPrivate(scene.people.edit.kube, namespaceOf("attacker"), {}, { name: "sha", sha: commit });
    const resource = await stuck(world, { namespace: namespaceOf("attacker"), name: "sha" });
    expect(conditionOf(resource, "Ready")).toMatchObject({ reason: "InvalidCredentials" });
    expect(await findApplication(world, namespaceOf("attacker"), "sha")).toBeUndefined();
    expect(await scene.attacker.workspace.configMap("from-private")).toBeUndefined();
  });

  it("a credential, is not used by somebody who names its Secret", async () => {
    const [{ kube }, namespace] = [scene.people.edit, namespaceOf("attacker")];
    const spec = { repository, secret: "private" };
    await make(kube, TYPES.credential, { metadata: { namespace, name: "private" }, spec }, world.signal);
    await untilSays(
      world,
      TYPES.credential,
      { namespace, name: "private" },
      { condition: "Ready", says: "False SecretNotFound: Secret specified not found" },
    );
    await scene.attacker.workspace.annotate("private", { "argosy.dev/refreshed-at": "with a credential" });
    const resource = await stuck(world, { namespace, name: "private" });
    expect(conditionOf(resource, "ErrorOccurred")?.message).toMatch(/authentication required/i);
    expect(await scene.attacker.workspace.configMap("from-private")).toBeUndefined();
  });

  it.each([
    ["its name", () => "prod"],
    ["its namespace and name", () => `${namespaceOf("victim")}/prod`],
    ["a path to it", () => `../${namespaceOf("victim")}/prod`],
    ["Argo CD's name for where it runs", () => "in-cluster"],
    ["Argosy's name for the API cluster", () => "api"],
  ])("an environment, is not deployed to by somebody who knows %s", async (spelling, environment) => {
    const name = `steals-${spelling.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
    const source = { repoURL: world.git.url("attacks-home"), path: "home" };
    await deployAsUser(name, source, { environment: environment(), namespace: "stolen" });
    const namespace = namespaceOf("attacker");
    const resource = await stuck(world, { namespace, name });
    expect(conditionOf(resource, "Ready")).toMatchObject({ reason: "EnvironmentUnavailable" });
    expect(conditionOf(resource, "ErrorOccurred")?.message).toBe(
      "Unable to reconcile the ManagedEnvironment. Verify that the ManagedEnvironment and Secret are correctly defined, and have valid credentials",
    );
    expect(await findApplication(world, namespace, name)).toBeUndefined();
  });

  it("a namespace, is not deployed to by somebody who names it as the destination", async () => {
    const source = { repoURL: world.git.url("attacks-home"), path: "home", targetRevision: "main" };
    const metadata = { namespace: namespaceOf("attacker"), name: "into" };
    const spec = { source, destination: { namespace: namespaceOf("victim") }, type: "automated" };
    const refusal = await refusalOf(make(scene.people.edit.kube, TYPES.deployment, { metadata, spec }, world.signal));
    expect(refusal).toMatchObject({
      status: 422,
      message: expect.stringContaining("the environment field should not be empty when the namespace is non-empty"),
    });
  });

  it("a project, is not used by somebody who writes its name into a deployment", async () => {
    const { namespace } = scene.attacker.workspace;
    const { project, account } = scene.victim;
    const annotations = {
      "argosy.dev/epoch": "9999999",
      "argocd.argoproj.io/tracking-id": "x:/ConfigMap:x/x",
      "argosy.dev/project": project,
    };
    const labels = { "app.kubernetes.io/managed-by": "argosy", "app.kubernetes.io/instance": "x", "argosy.dev/instance": "x" };
    await world.git.commit("attacks-smuggled", { "x/x.json": configMapFile("smuggled", { from: "git" }) });
    const source = { repoURL: world.git.url("attacks-smuggled"), path: "x", targetRevision: "main", project };
    const destination = { server: world.kube.server, name: "in-cluster", project };
    const spec = { ...{ project, source, destination, type: "automated" }, serviceAccount: `${account.namespace}:${account.name}` };
    await make(
      scene.people.edit.kube,
      TYPES.deployment,
      { metadata: { namespace, name: "smuggles", annotations, labels }, spec },
      world.signal,
    );
    await scene.attacker.workspace.settled("smuggles");
    expect((await scene.attacker.workspace.configMap("smuggled"))?.data).toEqual({ from: "git" });
    const application = await findApplication(world, namespace, "smuggles");
    expect(application).toMatchObject({ spec: { project: scene.attacker.project, destination: { namespace } } });
    const text = JSON.stringify(application);
    for (const smuggled of [project, account.name, "9999999", "in-cluster"]) expect(text).not.toContain(smuggled);
  });

  it("objects, are not taken over by somebody who writes their tracking id on others", async () => {
    const theirs = await findApplication(world, namespaceOf("victim"), "home");
    const tracking = `${theirs?.metadata.name}:/ConfigMap:${namespaceOf("victim")}/home`;
    const metadata = { name: "tracked", annotations: { "argocd.argoproj.io/tracking-id": tracking } };
    const files = { "tracked/x.json": JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata }) };
    const revision = await world.git.commit("attacks-tracked", files);
    await scene.attacker.workspace.apply("tracked", { repository: "attacks-tracked", path: "tracked" });
    await scene.attacker.workspace.settled("tracked", revision);
    const mine = await findApplication(world, namespaceOf("attacker"), "tracked");
    const made = await scene.attacker.workspace.configMap("tracked");
    expect(made?.metadata.annotations?.["argocd.argoproj.io/tracking-id"]).toBe(
      `${mine?.metadata.name}:/ConfigMap:${namespaceOf("attacker")}/tracked`,
    );
    await scene.victim.workspace.annotate("home", { "argosy.dev/refreshed-at": "after tracking" });
    await scene.victim.workspace.settled("home");
  });
});

describe("the cluster that instances are on", () => {
  const LEADS_THERE = "False UnableToCreateClient: the API URL leads to a cluster that may not be deployed to";
  const LEADS_INSIDE =
    "False UnableToCreateClient: the API URL leads to an address that may not be reached from here; ask your administrator if it should be";

  it.each([
    { spelling: "an address", host: "127.0.0.1", says: LEADS_THERE },
    { spelling: "a decimal number", host: "2130706433", says: LEADS_THERE },
    { spelling: "a hexadecimal number", host: "0x7f000001", says: LEADS_THERE },
    { spelling: "a shortened address", host: "127.1", says: LEADS_THERE },
    { spelling: "an IPv6 address that stands for it", host: "[::ffff:127.0.0.1]", says: LEADS_THERE },
    { spelling: "a host's name", host: "localhost", says: LEADS_INSIDE },
    { spelling: "a host's name in upper case with a dot", host: "LOCALHOST.", says: LEADS_INSIDE },
    { spelling: "its name for pods", host: "kubernetes.default.svc", says: LEADS_INSIDE },
    { spelling: "a private address", host: "10.255.255.1", says: LEADS_INSIDE },
    { spelling: "the address at which clouds give out credentials", host: "169.254.169.254", says: LEADS_INSIDE },
    { spelling: "a private IPv6 address", host: "[fd00::1]", says: LEADS_INSIDE },
  ])("is no environment under $spelling", async ({ spelling, host, says }) => {
    const at = { namespace: scene.attacker.workspace.namespace, name: `is-${spelling.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}` };
    const { kube, token } = scene.people.edit;
    await makeEnvironment({ kube, world }, at, { server: `https://${host}:${new URL(world.kube.server).port}`, token });
    await untilSays(world, ENVIRONMENT, at, { condition: "ConnectionInitializationSucceeded", says });
    // One after the other: together they are more than the namespace may have.
    await kube.delete(ENVIRONMENT, at, {}, world.signal);
  });
});
