import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ACCOUNTS_NAMESPACE, LABEL_MANAGED_BY, MANAGED_BY, USER_FINALIZER } from "../src/domain/names.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { type SeenApplication, watchApplications } from "./application-watch.ts";
import { observeEnvironments, playEnvironments } from "./environments.ts";
import { callHarness } from "./harness-client.ts";
import { startTargetCluster, TARGET_TYPES, type TargetCluster } from "./target-cluster.ts";
import { conditionOf, configMapFile, IS_LONG, openWorkspace, openWorld, TYPES, until, type World } from "./world.ts";

/** Longer than a deletion may take before it is called blocked, in ms. */
const LONG_MS = 10 * 60_000;
const HOLD = "example.com/hold";
const EARLY = IS_LONG ? 60 : 16;
const ROLES: ResourceType = { ...TYPES.roleBinding, plural: "roles", kind: "Role" };
/** Tables whose rows of a namespace have to be deleted with it. */
const RECORDED = [
  "application",
  "credential",
  "environment",
  "placement_unit",
  "repository_credential",
  "shard_object",
  "sync_run",
  "workspace",
];
/** Tables whose rows outlive a namespace: the order in which spellings of a URL came is the fleet's, and what was taken stays on the bill. */
const OUTLIVES = ["repository_spelling", "usage_hour", "usage_label"];

let world: World;
let target: TargetCluster;
beforeAll(async () => {
  world = openWorld();
  target = await startTargetCluster(world.signal);
  await target.namespace("web");
}, 300_000);
afterAll(() => target.stop());

const parts = () => ({ world, target });
const { putSecret, putEnvironment, saysOfEnvironment, deploy } = playEnvironments(parts);
const { deployed, oursOnTarget } = observeEnvironments(parts);

/** Runs something with the clocks of all control planes set forward. */
async function later<T>(aheadMs: number, run: () => Promise<T>): Promise<T> {
  const setClocks = async (ms: number): Promise<void> => {
    for (const index of world.harness.argosyUrls.keys()) await callHarness(world.harness, "setClock", { index, aheadMs: ms });
  };
  await setClocks(aheadMs);
  try {
    return await run();
  } finally {
    await setClocks(0);
  }
}

describe("a deletion", () => {
  it("W5: that a finalizer holds up is reported as blocked, and by what; it ends when the finalizer is removed", async () => {
    const workspace = await openWorkspace(world, "end-held");
    await putSecret("end-held", { token: await target.account("held-1") });
    await putEnvironment("end-held");
    await saysOfEnvironment("end-held", "True", "Succeeded");
    const names = ["home", "away"] as const;
    await world.git.commit("end-held", Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(`held-${name}`, {})])));
    await deploy(workspace, "home", undefined, [USER_FINALIZER]);
    await deploy(workspace, "away", { environment: "prod", namespace: "web" }, [USER_FINALIZER]);
    await Promise.all(names.map((name) => workspace.settled(name)));
    const objects = { home: () => workspace.configMap("held-home"), away: () => deployed("held-away") };
    const hold = async (finalizers: readonly string[]): Promise<void> => {
      const patch = { metadata: { finalizers } };
      await world.kube.mergePatch(TYPES.configMap, { namespace: "end-held", name: "held-home" }, patch, world.signal);
      await target.kube.mergePatch(TYPES.configMap, { namespace: "web", name: "held-away" }, patch, world.signal);
    };

    await hold([HOLD]);
    await Promise.all(names.map((name) => workspace.remove(name)));
    for (const name of names) {
      await until(`what ${name} deployed being deleted`, objects[name], (found) => found?.metadata.deletionTimestamp !== undefined);
      await until(
        `${name} says that it is being deleted`,
        () => workspace.read(name),
        (waiting) => conditionOf(waiting, "Ready")?.reason === "Deleting",
      );
    }
    const message = {
      home: `What was deployed is not gone: ConfigMap held-home in namespace end-held has the finalizer ${HOLD}`,
      away: "What was deployed is not gone after five minutes: look on the cluster of environment prod for objects that are held by a finalizer",
    };
    const isBlocked = (name: keyof typeof message) =>
      until(
        `${name} reported as blocked`,
        () => workspace.read(name),
        (resource) => conditionOf(resource, "Ready")?.message === message[name],
      );
    await later(LONG_MS, async () => {
      for (const resource of await Promise.all(names.map(isBlocked)))
        for (const [type, status] of [
          ["Ready", "False"],
          ["Stalled", "True"],
        ] as const)
          expect(conditionOf(resource, type)).toMatchObject({ status, reason: "DeletionBlocked" });
    });

    await hold([]);
    for (const name of names) {
      await until(
        `${name} gone`,
        () => workspace.read(name),
        (resource) => resource === undefined,
      );
      expect(await objects[name]()).toBeUndefined();
    }
  });
});

describe("a deployment that is deleted while Argo CD is at work on it", () => {
  it("leaves nothing behind, whether its first sync is about to begin, under way or just ended (I2)", async () => {
    const workspace = await openWorkspace(world, "end-early");
    const names = Array.from({ length: EARLY }, (_, index) => `early-${index}`);
    await world.git.commit("end-early", Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(name, {})])));
    const watch = await watchApplications(world);
    const moments: readonly ((application: SeenApplication) => boolean)[] = [
      () => true,
      ({ operation, status }) => operation !== undefined || status?.operationState !== undefined,
      ({ status }) => status?.operationState !== undefined,
      ({ status }) => status?.operationState?.phase === "Succeeded",
    ];
    try {
      for (const [index, name] of names.entries()) {
        await deploy(workspace, name, undefined, [USER_FINALIZER]);
        await watch.first(
          (application) => application.spec?.source?.path === name && moments[index % moments.length]?.(application) === true,
        );
        await workspace.remove(name);
      }
      for (const name of names)
        await until(
          `${name} gone`,
          () => workspace.read(name),
          (resource) => resource === undefined,
        );
      const left = await Promise.all(names.map((name) => workspace.configMap(name)));
      expect(left.filter((found) => found !== undefined && found.metadata.deletionTimestamp === undefined)).toEqual([]);
    } finally {
      await watch.close();
    }
  });
});

describe("a namespace that is deleted", () => {
  /** Everything of Argosy's on the API cluster and on all instances. */
  const ours = async (): Promise<ReadonlyMap<string, string>> => {
    const types: readonly ResourceType[] = [
      ...[TARGET_TYPES.serviceAccount, TYPES.roleBinding, TYPES.secret, TYPES.application, TYPES.project],
      ...[TARGET_TYPES.clusterRole, TARGET_TYPES.clusterRoleBinding, ROLES],
    ];
    const labelSelector = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;
    const pages = await Promise.all(types.map((type) => world.kube.listPage<KubeObject>(type, { labelSelector }, world.signal)));
    const all = pages.flatMap(({ items }, index) =>
      items.map(
        (object) => [`${types[index]?.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, JSON.stringify(object)] as const,
      ),
    );
    return new Map(all);
  };
  it("takes along what was deployed into it and elsewhere, and leaves no rows, nothing on instances, and no account", async () => {
    const before = await ours();
    const workspace = await openWorkspace(world, "end-all");
    await putSecret("end-all", { token: await target.account("all-1") });
    await putEnvironment("end-all", { createNewServiceAccount: true });
    await saysOfEnvironment("end-all", "True", "Succeeded");
    const names = ["held", "free", "away"];
    await world.git.commit("end-all", Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(`all-${name}`, {})])));
    await deploy(workspace, "held", undefined, [USER_FINALIZER]);
    await deploy(workspace, "free");
    await deploy(workspace, "away", { environment: "prod", namespace: "web" }, [USER_FINALIZER]);
    await openRepository("end-all");
    await waitingRun("end-all");
    await Promise.all(names.map((name) => workspace.settled(name)));
    await until("the credential on the instance", ours, (all) =>
      [...all.keys()].some((name) => !before.has(name) && name.includes("/argosy-repository-")),
    );
    const made = [...(await ours()).keys()].filter((name) => !before.has(name));
    for (const kind of ["Application", "AppProject", "Secret", `ServiceAccount ${ACCOUNTS_NAMESPACE}`, "RoleBinding end-all"])
      expect(made.filter((name) => name.startsWith(kind))).not.toEqual([]);
    const accounts = made.filter((name) => name.startsWith("ServiceAccount")).map((name) => name.split("/")[1] ?? "");
    expect(await oursOnTarget()).not.toEqual([]);
    const ids = await idsOf("end-all");
    expect(await mentions(ids)).toEqual(expect.arrayContaining(RECORDED));

    await world.kube.delete(TYPES.namespace, { namespace: "", name: "end-all" }, {}, world.signal);
    await until(
      "the namespace gone",
      () => world.kube.get(TYPES.namespace, { namespace: "", name: "end-all" }, world.signal),
      (found) => found === undefined,
    );
    const isOfIt = ([name, text]: readonly [string, string]): boolean =>
      made.includes(name) || accounts.some((account) => text.includes(account));
    await until(
      "nothing of it on instances, and no account of it",
      async () => [...(await ours())].filter(isOfIt).map(([name]) => name),
      (left) => left.length === 0,
    );
    await until(
      "what it deployed there gone",
      () => deployed("all-away"),
      (found) => found === undefined,
    );
    await until("nothing of ours on its cluster", oursOnTarget, (left) => left.length === 0);
    await until(
      "nothing in the database",
      async () => (await mentions(ids)).filter((table) => !OUTLIVES.includes(table)),
      (left) => left.length === 0,
    );
  });
});

/** A repository that requires credentials, which the namespace has. */
async function openRepository(namespace: string): Promise<void> {
  const { kube, harness, signal } = world;
  const access = { username: "bot", password: randomUUID() };
  await callHarness(harness, "commitPrivate", { repository: namespace, files: { "app/a.json": configMapFile("private", {}) } });
  await callHarness(harness, "protect", { repository: namespace, ...access });
  const metadata = { namespace, name: "access" };
  const type = "managed-gitops.redhat.com/repository-credential";
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type, stringData: access };
  await kube.apply(TYPES.secret, secret as KubeObject, { fieldManager: "user" }, signal);
  const spec = { repository: `${harness.privateGitUrl}/${namespace}.git`, secret: "access" };
  const credential = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: TYPES.credential.kind, metadata, spec };
  await kube.apply(TYPES.credential, credential, { fieldManager: "user" }, signal);
}

/** A recorded run that waits for a deployment which nobody creates. */
async function waitingRun(namespace: string): Promise<void> {
  const { kube, signal } = world;
  const metadata = { namespace, name: "waits" };
  const run = {
    apiVersion: "managed-gitops.redhat.com/v1alpha1",
    kind: TYPES.syncRun.kind,
    metadata,
    spec: { gitopsDeploymentName: "nobody" },
  };
  await kube.apply(TYPES.syncRun, run, { fieldManager: "user" }, signal);
  await until(
    "the run waiting",
    () => kube.get<KubeObject & { readonly status?: { readonly phase?: string } }>(TYPES.syncRun, metadata, signal),
    (found) => found?.status?.phase === "Pending",
  );
}

/** Ids under which a namespace and its content are recorded. */
async function idsOf(namespace: string): Promise<readonly string[]> {
  return withDatabase(async (client) => {
    const { rows } = await client.query<{ readonly id: string }>(
      `with w as (select id from workspace where namespace = $1), u as (select id from placement_unit where workspace in (select id from w))
       select id from w union select id from u union select id from application where unit in (select id from u)
       union select id from environment where workspace in (select id from w)`,
      [namespace],
    );
    return [namespace, ...rows.map(({ id }) => id)];
  });
}

/** Tables with rows that name one of these ids. Decisions are left out: they are a history. */
async function mentions(ids: readonly string[]): Promise<readonly string[]> {
  return withDatabase(async (client) => {
    const tables = await client.query<{ readonly name: string }>(
      "select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE' and table_name <> 'decision'",
    );
    const found: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query(`select from ${client.escapeIdentifier(name)} t where t::text ~ $1 limit 1`, [ids.join("|")]);
      if (rows.length > 0) found.push(name);
    }
    return found;
  });
}

async function withDatabase<T>(run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(world.harness.databaseUrl);
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
