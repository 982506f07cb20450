import { afterAll, beforeAll, expect, it } from "vitest";
import { createFaultProxy, type FaultProxy } from "../hack/dev-cluster/fault-proxy.ts";
import type { DrainView } from "../src/api/routes/drains.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { InstanceView } from "../src/api/schema.ts";
import type { RestClient } from "../src/cli/rest-client.ts";
import { createToken } from "../src/cli/token.ts";
import { ACCOUNTS_NAMESPACE, LABEL_ENVIRONMENT } from "../src/domain/names.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { ANNOTATION_REFRESH } from "../src/shard/names.ts";
import { again } from "./again.ts";
import { ENVIRONMENT, observeEnvironments, playEnvironments } from "./environments.ts";
import { mayWrite } from "./moves-world.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { startTargetCluster, TARGET_TYPES, type TargetCluster } from "./target-cluster.ts";
import { openRest } from "./within-timeout.ts";
import { configMapFile, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "roaming";
const NAMESPACE = "env-roam";
/** Each deployment by its name, and its environment. */
const WHERE = { home: undefined, shop: "prod", cart: "stage" } as const;
const NAMES = Object.keys(WHERE) as readonly (keyof typeof WHERE)[];
const PROBE_EVERY_MS = 250;
const PUSH_EVERY_MS = 1_000;
/** The story takes a minute and a half on an idle machine; a busy one may take ten times as long. */
const DEADLINE_MS = 20 * 60_000;
const TIMEOUT_MS = 5 * 60_000;

let world: World;
let target: TargetCluster;
let pools: PoolsWorld;
let proxy: FaultProxy;
let rest: RestClient;
beforeAll(async () => {
  world = openWorld();
  pools = openPools(world);
  target = await startTargetCluster(world.signal);
  proxy = createFaultProxy({ target: { host: "127.0.0.1", port: Number(new URL(target.kubernetes.server).port) } });
  const token = await createToken({ name: "roaming-approver", role: "approver", database: world.harness.databaseUrl });
  rest = openRest(world.harness, token);
}, 300_000);
afterAll(async () => {
  await pools.restore();
  await proxy.close();
  await target.stop();
});

const parts = () => ({ world, target });
const { putSecret, putEnvironment, saysOfEnvironment, deploy } = playEnvironments(parts);
const { deployed } = observeEnvironments(parts);

/** Two instances, of which the second takes nobody. */
async function openPool(): Promise<void> {
  await pools.declare(pools.withPool({ name: POOL, instances: { min: 2, max: 3 } }));
  for (const name of [`${POOL}-1`, `${POOL}-2`]) await pools.instance(name, "active", (found) => found?.state === "ACTIVE");
  await pools.cordon(`${POOL}-2`, true);
}

/**
 * A workspace that deploys to its own namespace and, with accounts of its own, to two namespaces of another cluster.
 * The connection to one of them can be cut.
 */
async function settle(): Promise<Workspace> {
  await openPool();
  const workspace = await openWorkspace(world, NAMESPACE);
  const servers = { prod: target.kubernetes.server, stage: `https://127.0.0.1:${await proxy.portFor("stage")}` };
  for (const [name, apiURL] of Object.entries(servers)) {
    await target.namespace(name);
    await putSecret(NAMESPACE, { token: await target.account(`roam-${name}`) }, { name, server: apiURL });
    await putEnvironment(NAMESPACE, { apiURL, namespaces: [name], createNewServiceAccount: true }, name);
  }
  await world.git.commit(NAMESPACE, Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: "0" })])));
  for (const name of NAMES) {
    const environment = WHERE[name];
    await deploy(workspace, name, environment === undefined ? undefined : { environment, namespace: environment });
  }
  for (const name of NAMES) await workspace.settled(name);
  await pools.cordon(`${POOL}-2`, false);
  return workspace;
}

const configMapOf = async (workspace: Workspace, name: keyof typeof WHERE) => {
  const environment = WHERE[name];
  return environment === undefined ? workspace.configMap(name) : deployed(name, environment);
};
const uidsOf = (workspace: Workspace) => Promise.all(NAMES.map(async (name) => (await configMapOf(workspace, name))?.metadata.uid));

async function push(workspace: Workspace, step: string, names = NAMES): Promise<void> {
  await world.git.commit(NAMESPACE, Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: step })])));
  for (const name of names) await workspace.annotate(name, { "argosy.dev/refreshed-at": step });
}

const arrived = (workspace: Workspace, step: string, names = NAMES) =>
  Promise.all(
    names.map((name) =>
      until(
        `${name} at push ${step}`,
        () => configMapOf(workspace, name),
        (found) => found?.data?.["push"] === step,
        TIMEOUT_MS,
      ),
    ),
  );

interface Account {
  readonly name: string;
  /** A text that identifies its environment. */
  readonly mark: string;
}

async function accountsThere(): Promise<readonly Account[]> {
  const options = { namespace: ACCOUNTS_NAMESPACE, labelSelector: "app.kubernetes.io/managed-by=argosy" };
  const { items } = await target.kube.listPage<KubeObject>(TARGET_TYPES.serviceAccount, options, world.signal);
  return items.map(({ metadata }) => ({ name: metadata.name, mark: metadata.labels?.[LABEL_ENVIRONMENT] ?? "" }));
}

/** Whether an account may write on the other cluster. */
async function mayWriteThere({ name }: Account): Promise<boolean> {
  const there = { kube: target.kube, signal: world.signal };
  return (await mayWrite(there, "prod", name)) || mayWrite(there, "stage", name);
}

/** From when on an instance is to have read each of the environments of the other cluster anew; `undefined`: nobody asks for that. */
async function askedAgain(instance: string): Promise<readonly (string | undefined)[]> {
  const options = { namespace: `argosy-${instance}`, labelSelector: LABEL_ENVIRONMENT };
  const { items } = await world.kube.listPage<KubeObject>(TYPES.secret, options, world.signal);
  return items.map(({ metadata }) => metadata.annotations?.[ANNOTATION_REFRESH]);
}

function endOf(id: string): Promise<MoveView> {
  return until(
    `move ${id} ended`,
    () => rest.get<MoveView>(`/v1/moves/${id}`),
    ({ endedAt }) => endedAt !== null,
    TIMEOUT_MS,
  );
}

const KINDS = "env-kinds";
const LATE = "late.example";
const DEFINITION: ResourceType = {
  ...{ group: "apiextensions.k8s.io", version: "v1", plural: "customresourcedefinitions" },
  ...{ kind: "CustomResourceDefinition", namespaced: false },
};
const GUEST: ResourceType = { group: LATE, version: "v1", plural: "guests", kind: "Guest", namespaced: true };
const guestFile = (name: string) => JSON.stringify({ apiVersion: `${LATE}/v1`, kind: "Guest", metadata: { name }, spec: {} });

async function defineGuests(): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const definition = {
    ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata: { name: `guests.${LATE}` } },
    spec: {
      ...{ group: LATE, scope: "Namespaced", names: { plural: "guests", singular: "guest", kind: "Guest" } },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  await target.kube.apply(DEFINITION, definition as KubeObject, { fieldManager: "owner" }, world.signal);
  const isServed = () => target.kube.listPage(GUEST, {}, world.signal).then(Boolean, () => false);
  await until("guests are served", isServed, Boolean);
}

it(
  "objects of a group that came to be while a workspace was handed over are pruned and cascaded by its new owner as any others",
  async () => {
    await openPool();
    const workspace = await openWorkspace(world, KINDS);
    await target.namespace("guests");
    await putSecret(KINDS, { token: await target.account("kinds") });
    await putEnvironment(KINDS, { createNewServiceAccount: true });
    await world.git.commit(KINDS, { "house/config.yaml": configMapFile("house", {}) });
    await deploy(workspace, "house", { environment: "prod", namespace: "guests" });
    await workspace.settled("house");
    await pools.cordon(`${POOL}-2`, false);

    const asked = await rest.post<MoveView>("/v1/moves", { workspace: KINDS, to: `${POOL}-2` });
    // The new owner has read the cluster by now, and is not allowed anything else: its controller is refused the new group's objects.
    await until(
      "the right to write is being taken",
      () => rest.get<MoveView>(`/v1/moves/${asked.id}`),
      ({ phase }) => ["FENCE", "QUIESCE", "REVOKE"].includes(phase),
    );
    await defineGuests();
    // It is refused for 15 s before anybody else has the right.
    expect(["FENCE", "QUIESCE", "REVOKE"]).toContain((await rest.get<MoveView>(`/v1/moves/${asked.id}`)).phase);
    const moved = await endOf(asked.id);
    expect([moved.phase, moved.message]).toEqual(["DONE", ""]);
    expect(await askedAgain(`${POOL}-2`)).toEqual([expect.stringMatching(/Z$/)]);

    const guests = async (): Promise<readonly string[]> => {
      const { items } = await target.kube.listPage<KubeObject>(GUEST, { namespace: "guests" }, world.signal);
      return items.map(({ metadata }) => metadata.name).sort();
    };
    const pushGuests = async (files: Readonly<Record<string, string | undefined>>, step: string): Promise<void> => {
      await world.git.commit(KINDS, files);
      await workspace.annotate("house", { "argosy.dev/refreshed-at": step });
    };
    const there = (names: readonly string[]) =>
      until(`guests ${names.join(" ")}`, guests, (found) => found.join(" ") === names.join(" "), TIMEOUT_MS);
    await pushGuests({ "house/anna.yaml": guestFile("anna"), "house/ben.yaml": guestFile("ben") }, "came");
    await there(["anna", "ben"]);
    await workspace.settled("house");
    await pushGuests({ "house/ben.yaml": undefined }, "went");
    await there(["anna"]);
    await workspace.settled("house");
    await workspace.remove("house");
    await until(
      "the deployment is gone",
      () => workspace.read("house"),
      (found) => found === undefined,
      TIMEOUT_MS,
    );
    await there([]);
    expect(await deployed("house", "guests")).toBeUndefined();
    await world.kube.delete(ENVIRONMENT, { namespace: KINDS, name: "prod" }, {}, world.signal);
    await until("nothing is left there", accountsThere, (accounts) => accounts.length === 0, TIMEOUT_MS);
    await until(
      "nobody enters it",
      () => askedAgain(`${POOL}-2`),
      (entries) => entries.length === 0,
      TIMEOUT_MS,
    );
    await world.kube.delete(TYPES.namespace, { namespace: "", name: KINDS }, {}, world.signal);
  },
  DEADLINE_MS,
);

it(
  "a workspace with environments is moved with its accounts, and where one environment cannot be reached, by stopping its instance (I1, I2, I8)",
  async () => {
    const workspace = await settle();
    const uids = await uidsOf(workspace);
    expect(uids).not.toContain(undefined);
    const before = await accountsThere();
    expect(new Set(before.map(({ mark }) => mark)).size).toBe(2);

    const owners = new Set<number>();
    let pushes = 0;
    const watching = [
      again(PROBE_EVERY_MS, async () => {
        const accounts = await accountsThere();
        const may = await Promise.all(accounts.map(mayWriteThere));
        const counts = Map.groupBy(accounts, ({ mark }) => mark);
        for (const group of counts.values()) owners.add(group.filter((account) => may[accounts.indexOf(account)]).length);
      }),
      again(PUSH_EVERY_MS, async () => {
        pushes += 1;
        await push(workspace, String(pushes), [NAMES[pushes % NAMES.length] ?? "home"]);
        expect(await uidsOf(workspace)).toEqual(uids);
      }),
    ];
    let moved: MoveView;
    try {
      const asked = await rest.post<MoveView>("/v1/moves", { workspace: NAMESPACE, to: `${POOL}-2` });
      moved = await endOf(asked.id);
    } finally {
      for (const each of watching) await each.end();
    }
    // Its accounts found what they had found, so that nobody had a whole cluster listed anew in the gap.
    expect(await askedAgain(`${POOL}-2`)).toEqual([undefined, undefined]);
    report(`a move with two environments: gap ${moved.gapMs} ms, whole ${moved.tookMs} ms, ${pushes} pushes`);
    expect([moved.phase, moved.message]).toEqual(["DONE", ""]);
    // The probes work: they see an owner, and none during the gap.
    expect(owners).toEqual(new Set([0, 1]));
    const after = await accountsThere();
    expect(after).toHaveLength(2);
    expect(after.filter(({ name }) => before.some((each) => each.name === name))).toEqual([]);
    expect(await Promise.all(before.map(mayWriteThere))).toEqual([false, false]);
    expect(await Promise.all(after.map(mayWriteThere))).toEqual([true, true]);
    await push(workspace, "moved");
    await arrived(workspace, "moved");

    // The connection to one environment is cut: the right to write there cannot be revoked, and people read which it is.
    await proxy.disturb("stage", { kind: "refuse" });
    const poke = { metadata: { annotations: { "argosy.dev/refreshed-at": "cut" } } };
    await world.kube.mergePatch(ENVIRONMENT, { namespace: NAMESPACE, name: "stage" }, poke, world.signal);
    await saysOfEnvironment(NAMESPACE, "False", "UnableToCreateClient", "stage");
    const refused = await rest.post("/v1/moves", { workspace: NAMESPACE, to: `${POOL}-1` }).catch((error: unknown) => String(error));
    expect(refused).toContain("environment stage has given no answer since");

    // Draining the instance ends the move all the same: no process is left there that could write.
    await rest.post(`/v1/instances/${POOL}-2/drain`, { reason: "the story" });
    await until(
      "the unit has left",
      () => rest.get<DrainView>(`/v1/instances/${POOL}-2/drain`),
      ({ units }) => units === 0,
      TIMEOUT_MS,
    );
    const [drained] = (await rest.all<MoveView>("/v1/moves", { limit: 1 })).filter(({ from }) => from === `${POOL}-2`);
    report(`a move beside a stopped source: gap ${drained?.gapMs} ms, whole ${drained?.tookMs} ms`);
    expect([drained?.phase, drained?.kind, drained?.message]).toEqual(["DONE", "drain", ""]);
    const journal = await pools.journal((await pools.instances()).find(({ name }) => name === `${POOL}-2`) as InstanceView);
    expect(journal).toEqual(expect.arrayContaining(["DRAINING", "HALTING", "HALTED"]));
    expect(await uidsOf(workspace)).toEqual(uids);
    await push(workspace, "drained", ["home", "shop"]);
    await arrived(workspace, "drained", ["home", "shop"]);

    await proxy.restore("stage");
    const back = { metadata: { annotations: { "argosy.dev/refreshed-at": "back" } } };
    await world.kube.mergePatch(ENVIRONMENT, { namespace: NAMESPACE, name: "stage" }, back, world.signal);
    await push(workspace, "back", ["cart"]);
    await arrived(workspace, "back", ["cart"]);
    expect(await uidsOf(workspace)).toEqual(uids);
    expect(await Promise.all(after.map(mayWriteThere))).toEqual([false, false]);
    await until("the stopped instance's accounts are gone", accountsThere, (accounts) => {
      return accounts.length === 2 && accounts.every(({ name }) => after.every((each) => each.name !== name));
    });
    await pools.instance(`${POOL}-2`, "retired", (found) => found === undefined);
    await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
  },
  DEADLINE_MS,
);
