import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RefusedError } from "../../domain/errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { NAMESPACES as NAMESPACE_TYPE } from "../../runtime/kube/namespaces.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { accountName } from "../../shard/names.ts";
import { renderOwnerBinding } from "../../shard/render-unit.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { ROLE_BINDINGS, SERVICE_ACCOUNTS } from "../adapters/kubernetes/types.ts";
import { createObjectWriter } from "../apply-object.ts";
import type { ApiCluster } from "../port.ts";
import { type Deployed, deploying } from "../testing/deploy.ts";
import { eventually, passes } from "../testing/until.ts";
import { NAMESPACES, startWorld, type World } from "../testing/world.ts";
import { type ApplyOwnerBinding, createApplyOwnerBinding } from "./apply-owner-binding.ts";
import { createRepairReports } from "./report-repairs.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { deploy, readOwnerBinding, isAcknowledged } = deploying(() => world);
const AT = { namespace: "team-a", name: "argosy-deployer" };
const NOBODY = { subjects: [] };
const COMMON = { clock: systemClock, log: silentLog, metrics: noMetrics };

/** What applies an owner binding over these watches, without a queue for its reports. */
function applying(apiCluster: Pick<ApiCluster, "bindings" | "readNamespaceUid">): ApplyOwnerBinding {
  const { shards, decisions } = world.rows.memory;
  const repairs = createRepairReports({ ...COMMON, decisions, requests: { requestRepairReport: () => undefined } });
  return createApplyOwnerBinding({ shards, writer: createObjectWriter(COMMON), apiCluster, repairs });
}

const reported = (deployed: Deployed) =>
  world.rows.store.decisions.list({ subject: deployed.unit.id, kind: "owner-binding" }, 10, world.signal);
const edit = (patch: object) => world.hands.api.mergePatch(ROLE_BINDINGS, AT, patch, world.signal);
const isBack = (deployed: Deployed) => async () =>
  JSON.stringify((await readOwnerBinding())?.subjects ?? null).includes(accountName(deployed.unit.id, deployed.instance.id));

async function standing(...args: Parameters<World["startReconciler"]>) {
  const deployed = await deploy();
  const reconciler = await world.startReconciler(...args);
  await eventually("it is acknowledged", () => isAcknowledged(deployed));
  await reconciler.idle();
  return { deployed, reconciler };
}

describe("an owner binding that somebody changes is put back, and reported to SREs", () => {
  test.each([
    ["EDITED", () => edit({ ...NOBODY, metadata: { managedFields: [aWrite("kubectl-edit", "2026-01-01T00:00:00Z")] } }), /kubectl-edit/],
    ["DELETED", () => world.hands.api.delete(ROLE_BINDINGS, AT, {}, world.signal), /does not say by whom/],
    // A higher epoch than any row has would make every writer of ours believe that it is late.
    ["EDITED", () => edit({ ...NOBODY, metadata: { annotations: { "argosy.dev/epoch": "999999999" } } }), /was edited and put back/],
    ["EDITED", () => edit({ ...NOBODY, metadata: { labels: { "app.kubernetes.io/managed-by": null } } }), /was edited and put back/],
  ] as const)("%s", async (rule, attack, reason) => {
    const { deployed } = await standing();
    await attack();
    await eventually("it is reported", async () => (await reported(deployed)).length === 1);
    expect(await isBack(deployed)()).toBe(true);
    expect(await reported(deployed)).toMatchObject([
      { verdict: "REPAIRED", rule, details: { namespace: "team-a", count: 1, reason: expect.stringMatching(reason) } },
    ]);
    expect((await readOwnerBinding())?.metadata.annotations?.["argosy.dev/epoch"]).toBe(String(deployed.unit.epoch));
  });

  test("REPLACED, by one that binds another role", async () => {
    const { deployed } = await standing();
    const raw = await readOwnerBinding();
    const { uid: _uid, resourceVersion: _version, ...metadata } = raw?.metadata ?? { name: "" };
    await world.hands.api.delete(ROLE_BINDINGS, AT, {}, world.signal);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
    await world.hands.api.create(ROLE_BINDINGS, { ...raw, metadata, roleRef } as never, world.signal).catch(() => undefined);
    await eventually("it is reported", async () => (await reported(deployed)).length === 1);
    expect((await reported(deployed))[0]?.rule).toMatch(/^(REPLACED|DELETED)$/);
    expect(await readOwnerBinding()).toMatchObject({ roleRef: { name: "argosy-deployer" } });
  });

  test("is not made in another namespace of its name, whose user may be another one", async () => {
    const deployed = await deploy();
    await world.hands.api.create(NAMESPACE_TYPE, { metadata: { name: AT.namespace } } as never, world.signal);
    const reconciler = await world.startReconciler();
    await eventually(
      "its account stands",
      async () =>
        (await world.hands.api.get(
          SERVICE_ACCOUNTS,
          { namespace: NAMESPACES.accounts, name: accountName(deployed.unit.id, deployed.instance.id) },
          world.signal,
        )) !== undefined,
    );
    await reconciler.idle();
    expect(await readOwnerBinding()).toBeUndefined();
  });

  test("is not put back in a namespace that is being deleted, which is as good as done", async () => {
    const deployed = await deploy();
    const row = await world.rows.memory.shards.readUnit(deployed.unit.id, world.signal);
    if (row === undefined) throw new Error("the unit has no row");
    const { apiCluster } = await world.watch();
    const create = () => Promise.reject(new RefusedError("making it", { code: "kube.namespace-ending" }));
    const bindings = { ...apiCluster.bindings, create };
    const applyOwnerBinding = applying({ ...apiCluster, bindings });
    const ownerBinding = renderOwnerBinding({ unit: row.unit, workspace: row.workspace, instance: deployed.instance }, NAMESPACES);
    await expect(applyOwnerBinding(row, ownerBinding, world.signal)).rejects.toMatchObject({
      name: "GoneError",
      code: "reconciler.namespace-ending",
    });
  });

  test("nothing is reported of what the reconciler itself makes or changes", async () => {
    const { deployed, reconciler } = await standing();
    await world.rows.addCredential(deployed.application, "a");
    await eventually("the new revision stands", async () => {
      const { desiredRevision } = (await world.rows.unit(deployed.unit.id)) ?? deployed.unit;
      return (
        desiredRevision > deployed.unit.desiredRevision &&
        (await world.rows.acknowledged("project", deployed.unit.id))?.appliedRevision === desiredRevision
      );
    });
    await reconciler.idle();
    expect(await reported(deployed)).toEqual([]);
  });

  test("but not the one of another workspace, whose namespace has the name of one that is gone", async () => {
    const { deployed, reconciler } = await standing();
    await world.hands.api.delete(ROLE_BINDINGS, AT, {}, world.signal);
    const anew = await world.rows.addApplication("team-a", "anew", {}, "uid-of-another-team-a");
    const unit = await world.rows.place(anew, deployed.instance.id);
    const isTheirs = async () =>
      JSON.stringify((await readOwnerBinding())?.subjects ?? null).includes(accountName(unit.id, deployed.instance.id));
    await eventually("it is the new one's", isTheirs);
    const reads = () => world.rows.statements()["readUnit"] ?? 0;
    const before = reads();
    await world.rows.addCredential(deployed.application, "a");
    await eventually("the old one was read", () => reads() > before + 1);
    await reconciler.idle();
    expect(await isTheirs()).toBe(true);
    await world.rows.deleteApplication(deployed.application, "orphan");
    await world.rows.endWorkspace(deployed.application);
    await eventually("nothing is left of the old one", async () => (await world.rows.unit(deployed.unit.id)) === undefined);
    expect(await isTheirs()).toBe(true);
    expect(await world.rows.store.decisions.list({ subject: unit.id, kind: "owner-binding" }, 10, world.signal)).toEqual([]);
  });

  test("but not what a move has taken that began after the row was read", async () => {
    const { deployed } = await standing();
    const { memory } = world.rows;
    const row = await memory.shards.readUnit(deployed.unit.id, world.signal);
    if (row === undefined) throw new Error("the unit has no row");
    const move = await world.rows.beginMove(deployed.unit, await world.rows.addInstance("two"));
    expect(move.phase).toBe("PREPARE");
    await edit({ ...NOBODY, metadata: { annotations: { "argosy.dev/epoch": String(move.toEpoch) } } });
    const { apiCluster } = await world.watch();
    const deploy = { unit: row.unit, workspace: row.workspace, instance: deployed.instance };
    const late = applying(apiCluster)(row, renderOwnerBinding(deploy, NAMESPACES), world.signal);
    await expect(late).rejects.toMatchObject({ code: "reconciler.fenced" });
    expect((await readOwnerBinding())?.subjects ?? []).toEqual([]);
  });

  test("again and again: counted within the hour, and with a write of ours for few of theirs", async () => {
    const clock = createVirtualClock();
    const { deployed } = await standing(undefined, { clock });
    const repairs = () =>
      world.apiServer.requests().filter(({ method, url }) => method === "PATCH" && url.includes("argosy-deployer")).length;
    const before = repairs();
    for (let times = 0; times < 12; times += 1) {
      await edit(NOBODY);
      if (times < 10) await eventually("it is put back", isBack(deployed));
    }
    await edit({ ...NOBODY, metadata: { labels: { "example.com/a": "b" } } });
    expect(repairs() - before).toBe(10 + 13);
    await passes({ clock, withinMs: 11_000 }, "the last is put back too", isBack(deployed));
    await eventually("it is reported", async () => (await reported(deployed)).length === 1);
    await clock.advance(50 * 60_000);
    expect(await reported(deployed)).toMatchObject([{ details: { count: 1 } }]);
    await passes({ clock, withinMs: 15 * 60_000 }, "the rest is reported", async () => (await reported(deployed)).length === 2);
    expect((await reported(deployed))[0]).toMatchObject({
      details: { count: 10, reason: expect.stringContaining("changed 10 times, last edited,") },
    });
  });
});

function aWrite(manager: string, time: string) {
  return { manager, operation: "Update", apiVersion: "rbac.authorization.k8s.io/v1", time, fieldsType: "FieldsV1", fieldsV1: {} };
}
