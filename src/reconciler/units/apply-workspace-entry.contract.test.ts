import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TokenLife } from "../../domain/account-token.ts";
import type { Instance } from "../../domain/instance.ts";
import { ANNOTATION_TOKEN_ENDS, CANARY_NAMESPACE, DEPLOYER_ROLE, READER_ROLE } from "../../domain/names.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { manifestOf } from "../../shard/managed-object.ts";
import {
  accountName,
  clusterEntryName,
  readAccountName,
  readerBindingName,
  workspaceEntryName,
  workspaceReaderName,
  workspaceServer,
} from "../../shard/names.ts";
import { renderIdentity } from "../../shard/render-instance.ts";
import { renderReader } from "../../shard/render-unit.ts";
import { anApplicationPlacement } from "../../shard/testing/builders.ts";
import {
  APPLICATIONS,
  CLUSTER_ROLE_BINDINGS,
  ENGINE_SECRETS,
  PROJECTS,
  ROLE_BINDINGS,
  ROLE_OBJECTS,
  SERVICE_ACCOUNTS,
} from "../adapters/kubernetes/types.ts";
import type { Deployed } from "../testing/deploy.ts";
import { deploying, type Raw } from "../testing/deploy.ts";
import { eventually } from "../testing/until.ts";
import { DESTINATION, NAMESPACES, startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { readApplication, isAcknowledged, applicationAt } = deploying(() => world);
const SOON: TokenLife = { lifeMs: 600_000, renewAfterMs: 1_200 };

async function deploy(): Promise<Deployed> {
  const instance = await world.rows.addInstance("one", { entries: "per-workspace" });
  const application = await world.rows.addApplication("team-a", "web");
  return { instance, unit: await world.rows.place(application, instance.id), application };
}
const decoded = (entry: Raw | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(entry?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
const entryOf = ({ instance, unit }: Pick<Deployed, "instance" | "unit">) =>
  world.hands.engine.get<Raw>(ENGINE_SECRETS, { namespace: instance.namespace, name: workspaceEntryName(unit.id) }, world.signal);
const readerAt = ({ instance, unit }: Deployed) => ({ namespace: "team-a", name: workspaceReaderName(unit.id, instance.id) });
const readerOf = (deployed: Deployed) => world.hands.api.get<Raw>(ROLE_BINDINGS, readerAt(deployed), world.signal);
const serverOf = ({ unit }: Deployed): string => workspaceServer(DESTINATION.server, unit.id);
const rightsOf = async ({ id }: Instance) => {
  const at = { namespace: NAMESPACES.accounts, name: readAccountName(id) };
  const { api } = world.hands;
  const all = [
    api.get(CLUSTER_ROLE_BINDINGS, { namespace: "", name: readerBindingName(id) }, world.signal),
    api.get(ROLE_OBJECTS, at, world.signal),
    api.get(ROLE_BINDINGS, at, world.signal),
  ];
  return (await Promise.all(all)).filter((one) => one !== undefined);
};

describe("on an instance with an entry for each workspace", () => {
  test("a unit is deployed by an entry of its own, with its account, for its namespace; and the instance itself has no right", async () => {
    const deployed = await deploy();
    const { instance, unit } = deployed;
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    expect((await readApplication(deployed))?.spec).toMatchObject({ destination: { server: serverOf(deployed), namespace: "team-a" } });
    const entry = decoded(await entryOf(deployed));
    expect(entry).toMatchObject({ server: serverOf(deployed), namespaces: "team-a" });
    expect(Object.keys(entry).sort()).toEqual(["config", "name", "namespaces", "server"]);
    expect(entry["config"]).toContain(`token-of-${accountName(unit.id, instance.id)}`);
    const subject = { kind: "ServiceAccount", namespace: NAMESPACES.accounts, name: accountName(unit.id, instance.id) };
    expect(await readerOf(deployed)).toMatchObject({ roleRef: { kind: "ClusterRole", name: READER_ROLE }, subjects: [subject] });
    const projects = (await world.hands.engine.listPage<Raw>(PROJECTS, { namespace: instance.namespace }, world.signal)).items;
    expect(projects.map(({ spec }) => spec)).toMatchObject([{ destinations: [{ namespace: "team-a" }] }]);
    expect(projects[0]?.spec).not.toHaveProperty("destinationServiceAccounts");
    const shared = await world.hands.engine.get<Raw>(
      ENGINE_SECRETS,
      { namespace: instance.namespace, name: clusterEntryName(DESTINATION.server) },
      world.signal,
    );
    expect(decoded(shared)).toMatchObject({ namespaces: CANARY_NAMESPACE });
    expect(await rightsOf(instance)).toEqual([]);
  });

  test("the entry is written once its account may read, or Argo CD would leave out of its cache what it may not list", async () => {
    const deployed = await deploy();
    const first = await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    await first.stop();
    const { instance, unit } = deployed;
    await world.hands.api.delete(ROLE_BINDINGS, readerAt(deployed), {}, world.signal);
    const entryAt = { namespace: instance.namespace, name: workspaceEntryName(unit.id) };
    await world.hands.engine.delete(ENGINE_SECRETS, entryAt, {}, world.signal);
    const asked = () =>
      world.apiServer.requests().filter(({ method, url }) => method === "POST" && url.includes("/team-a/rolebindings")).length;
    const before = asked();
    const release = world.apiServer.faults.hold({ method: "POST", path: /namespaces\/team-a\/rolebindings/ });
    await world.startReconciler();
    await eventually("the right to read is on its way", () => asked() > before);
    expect(await entryOf(deployed)).toBeUndefined();
    release();
    await eventually("the entry", async () => (await entryOf(deployed)) !== undefined);
  });

  test("its token is replaced again and again, each time before its end", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { tokenLife: SOON });
    const seen = new Set<string | undefined>();
    await eventually("three tokens", async () => {
      const entry = await entryOf(deployed);
      if (entry !== undefined) expect(entry.metadata.annotations).toHaveProperty([ANNOTATION_TOKEN_ENDS]);
      return seen.add(decoded(entry)["config"]).size === 4;
    });
  });

  test("it is given another token when its account was deleted, and its right to read when somebody took it", async () => {
    const deployed = await deploy();
    const { instance, unit } = deployed;
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    const before = decoded(await entryOf(deployed))["config"];
    const account = { namespace: NAMESPACES.accounts, name: accountName(unit.id, instance.id) };
    await world.hands.api.delete(SERVICE_ACCOUNTS, account, {}, world.signal);
    await world.hands.api.delete(ROLE_BINDINGS, readerAt(deployed), {}, world.signal);
    await eventually("another token", async () => decoded(await entryOf(deployed))["config"] !== before);
    await eventually("the right to read", async () => (await readerOf(deployed)) !== undefined);
  });

  test("a fence that a user writes into the right to read keeps nobody out", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    const annotations = { "argosy.dev/epoch": "999999", "argosy.dev/revision": "999999" };
    await world.hands.api.mergePatch(ROLE_BINDINGS, readerAt(deployed), { metadata: { annotations }, subjects: [] }, world.signal);
    await eventually(
      "the account reads again",
      async () => (await readerOf(deployed))?.subjects !== undefined && [(await readerOf(deployed))?.subjects].flat().length === 1,
    );
  });

  test("the entry goes with the last application, and the right to read with the unit", async () => {
    const deployed = await deploy();
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    await world.rows.deleteApplication(deployed.application, "orphan");
    await eventually("no entry", async () => (await entryOf(deployed)) === undefined);
    expect(await readerOf(deployed)).toBeDefined();
  });

  test("rights to read of units with which the instance has nothing to do go; those of other instances stay", async () => {
    const deployed = await deploy();
    const make = async (unit: string, instance: string) => {
      const placement = anApplicationPlacement({ id: unit as never });
      const named = { ...placement, instance: { ...placement.instance, id: instance as never } };
      const made = manifestOf(renderReader(named, NAMESPACES));
      await world.hands.api.create(ROLE_BINDINGS, made as KubeObject, world.signal);
      return { namespace: made.metadata.namespace ?? "", name: made.metadata.name };
    };
    const [left, others] = [await make("unit-gone", deployed.instance.id), await make("unit-gone", "instance-of-others")];
    await world.startReconciler();
    await eventually("it is gone", async () => (await world.hands.api.get(ROLE_BINDINGS, left, world.signal)) === undefined);
    expect(await world.hands.api.get(ROLE_BINDINGS, others, world.signal)).toBeDefined();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    expect(await readerOf(deployed)).toBeDefined();
  });

  test("what a version before took for a shared entry is taken back: first what is deployed by it goes by its own entry, then the right ends", async () => {
    const deployed = await deploy();
    const { instance } = deployed;
    const first = await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(deployed));
    await first.stop();
    const { reader } = renderIdentity(instance.id, NAMESPACES);
    await world.hands.api.create(CLUSTER_ROLE_BINDINGS, manifestOf(reader) as KubeObject, world.signal);
    const destination = { server: DESTINATION.server, namespace: "team-a" };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { spec: { destination } }, world.signal);
    const release = world.engineServer.faults.hold({ method: "PATCH", path: /applications\// });
    await world.startReconciler();
    await eventually("it is on its way to its own entry", () =>
      world.engineServer.requests().some(({ method, url }) => method === "PATCH" && url.includes("/applications/")),
    );
    expect(await rightsOf(instance)).toHaveLength(1);
    release();
    await eventually("it is deployed by its own entry", async () =>
      JSON.stringify((await readApplication(deployed))?.spec).includes(serverOf(deployed)),
    );
    await eventually("no right is left", async () => (await rightsOf(instance)).length === 0);
    const ownerBinding = await world.hands.api.get(ROLE_BINDINGS, { namespace: "team-a", name: DEPLOYER_ROLE }, world.signal);
    expect(ownerBinding).toBeDefined();
  });
});
