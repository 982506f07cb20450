import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RefusedError } from "../../domain/errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { NAMESPACES as NAMESPACE_TYPE } from "../../runtime/kube/namespaces.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { accountName } from "../../shard/names.ts";
import { renderRegister } from "../../shard/render-unit.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { ROLE_BINDINGS, SERVICE_ACCOUNTS } from "../adapters/kubernetes/types.ts";
import { createObjectWriter } from "../apply-object.ts";
import type { ApiCluster } from "../port.ts";
import { type Seated, seating } from "../testing/seat.ts";
import { eventually, passes } from "../testing/until.ts";
import { NAMESPACES, startWorld, type World } from "../testing/world.ts";
import { type ApplyOwnerBinding, createApplyOwnerBinding } from "./apply-owner-binding.ts";
import { createRepairReports } from "./report-repairs.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const { seat, readRegister, isAcknowledged } = seating(() => world);
const AT = { namespace: "team-a", name: "argosy-deployer" };
const NOBODY = { subjects: [] };
const COMMON = { clock: systemClock, log: silentLog, metrics: noMetrics };

/** What applies an owner binding over these watches, without a queue for its reports. */
function applying(apiCluster: Pick<ApiCluster, "bindings" | "readNamespaceUid">): ApplyOwnerBinding {
  const { shards, decisions } = world.rows.memory;
  const repairs = createRepairReports({ ...COMMON, decisions, requests: { requestRepairReport: () => undefined } });
  return createApplyOwnerBinding({ shards, writer: createObjectWriter(COMMON), apiCluster, repairs });
}

const told = (seated: Seated) => world.rows.store.decisions.list({ subject: seated.unit.id, kind: "register" }, 10, world.signal);
const edit = (patch: object) => world.hands.api.mergePatch(ROLE_BINDINGS, AT, patch, world.signal);
const isBack = (seated: Seated) => async () =>
  JSON.stringify((await readRegister())?.subjects ?? null).includes(accountName(seated.unit.id, seated.instance.id));

async function standing(...args: Parameters<World["startReconciler"]>) {
  const seated = await seat();
  const reconciler = await world.startReconciler(...args);
  await eventually("it is acknowledged", () => isAcknowledged(seated));
  await reconciler.idle();
  return { seated, reconciler };
}

describe("a register that somebody changes is put back, and SREs are told", () => {
  test.each([
    ["EDITED", () => edit({ ...NOBODY, metadata: { managedFields: [aWrite("kubectl-edit", "2026-01-01T00:00:00Z")] } }), /kubectl-edit/],
    ["DELETED", () => world.hands.api.delete(ROLE_BINDINGS, AT, {}, world.signal), /does not say by whom/],
    // A higher epoch than any row has would make every writer of ours believe that it is late.
    ["EDITED", () => edit({ ...NOBODY, metadata: { annotations: { "argosy.dev/epoch": "999999999" } } }), /was edited and put back/],
    ["EDITED", () => edit({ ...NOBODY, metadata: { labels: { "app.kubernetes.io/managed-by": null } } }), /was edited and put back/],
  ] as const)("%s", async (rule, attack, reason) => {
    const { seated } = await standing();
    await attack();
    await eventually("it is told of", async () => (await told(seated)).length === 1);
    expect(await isBack(seated)()).toBe(true);
    expect(await told(seated)).toMatchObject([
      { verdict: "REPAIRED", rule, details: { namespace: "team-a", count: 1, reason: expect.stringMatching(reason) } },
    ]);
    expect((await readRegister())?.metadata.annotations?.["argosy.dev/epoch"]).toBe(String(seated.unit.epoch));
  });

  test("REPLACED, by one that binds another role", async () => {
    const { seated } = await standing();
    const raw = await readRegister();
    const { uid: _uid, resourceVersion: _version, ...metadata } = raw?.metadata ?? { name: "" };
    await world.hands.api.delete(ROLE_BINDINGS, AT, {}, world.signal);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
    await world.hands.api.create(ROLE_BINDINGS, { ...raw, metadata, roleRef } as never, world.signal).catch(() => undefined);
    await eventually("it is told of", async () => (await told(seated)).length === 1);
    expect((await told(seated))[0]?.rule).toMatch(/^(REPLACED|DELETED)$/);
    expect(await readRegister()).toMatchObject({ roleRef: { name: "argosy-deployer" } });
  });

  test("is not made in another namespace of its name, whose user may be another one", async () => {
    const seated = await seat();
    await world.hands.api.create(NAMESPACE_TYPE, { metadata: { name: AT.namespace } } as never, world.signal);
    const reconciler = await world.startReconciler();
    await eventually(
      "its account stands",
      async () =>
        (await world.hands.api.get(
          SERVICE_ACCOUNTS,
          { namespace: NAMESPACES.accounts, name: accountName(seated.unit.id, seated.instance.id) },
          world.signal,
        )) !== undefined,
    );
    await reconciler.idle();
    expect(await readRegister()).toBeUndefined();
  });

  test("is not put back in a namespace that is being deleted, which is as good as done", async () => {
    const seated = await seat();
    const row = await world.rows.memory.shards.readUnit(seated.unit.id, world.signal);
    if (row === undefined) throw new Error("the unit has no row");
    const { apiCluster } = await world.watch();
    const create = () => Promise.reject(new RefusedError("making it", { code: "kube.namespace-ending" }));
    const bindings = { ...apiCluster.bindings, create };
    const applyOwnerBinding = applying({ ...apiCluster, bindings });
    const register = renderRegister({ unit: row.unit, workspace: row.workspace, instance: seated.instance }, NAMESPACES);
    await expect(applyOwnerBinding(row, register, world.signal)).rejects.toMatchObject({
      name: "GoneError",
      code: "reconciler.namespace-ending",
    });
  });

  test("nothing is told of what the reconciler itself makes or changes", async () => {
    const { seated, reconciler } = await standing();
    await world.rows.addCredential(seated.application, "a");
    await eventually("the new revision stands", async () => {
      const { desiredRevision } = (await world.rows.unit(seated.unit.id)) ?? seated.unit;
      return (
        desiredRevision > seated.unit.desiredRevision &&
        (await world.rows.acknowledged("project", seated.unit.id))?.appliedRevision === desiredRevision
      );
    });
    await reconciler.idle();
    expect(await told(seated)).toEqual([]);
  });

  test("but not the one of another workspace, whose namespace has the name of one that is gone", async () => {
    const { seated, reconciler } = await standing();
    await world.hands.api.delete(ROLE_BINDINGS, AT, {}, world.signal);
    const anew = await world.rows.addApplication("team-a", "anew", {}, "uid-of-another-team-a");
    const unit = await world.rows.place(anew, seated.instance.id);
    const isTheirs = async () =>
      JSON.stringify((await readRegister())?.subjects ?? null).includes(accountName(unit.id, seated.instance.id));
    await eventually("it is the new one's", isTheirs);
    const reads = () => world.rows.statements()["readUnit"] ?? 0;
    const before = reads();
    await world.rows.addCredential(seated.application, "a");
    await eventually("the old one was looked at", () => reads() > before + 1);
    await reconciler.idle();
    expect(await isTheirs()).toBe(true);
    await world.rows.deleteApplication(seated.application, "orphan");
    await world.rows.endWorkspace(seated.application);
    await eventually("nothing is left of the old one", async () => (await world.rows.unit(seated.unit.id)) === undefined);
    expect(await isTheirs()).toBe(true);
    expect(await world.rows.store.decisions.list({ subject: unit.id, kind: "register" }, 10, world.signal)).toEqual([]);
  });

  test("but not what a move has taken that began after the row was read", async () => {
    const { seated } = await standing();
    const { memory } = world.rows;
    const row = await memory.shards.readUnit(seated.unit.id, world.signal);
    if (row === undefined) throw new Error("the unit has no row");
    const move = await world.rows.beginMove(seated.unit, await world.rows.addInstance("two"));
    expect(move.phase).toBe("PREPARE");
    await edit({ ...NOBODY, metadata: { annotations: { "argosy.dev/epoch": String(move.toEpoch) } } });
    const { apiCluster } = await world.watch();
    const seat = { unit: row.unit, workspace: row.workspace, instance: seated.instance };
    const late = applying(apiCluster)(row, renderRegister(seat, NAMESPACES), world.signal);
    await expect(late).rejects.toMatchObject({ code: "reconciler.fenced" });
    expect((await readRegister())?.subjects ?? []).toEqual([]);
  });

  test("again and again: counted within the hour, and with a write of ours for few of theirs", async () => {
    const clock = createVirtualClock();
    const { seated } = await standing(undefined, { clock });
    const repairs = () =>
      world.apiServer.requests().filter(({ method, url }) => method === "PATCH" && url.includes("argosy-deployer")).length;
    const before = repairs();
    for (let times = 0; times < 12; times += 1) {
      await edit(NOBODY);
      if (times < 10) await eventually("it is put back", isBack(seated));
    }
    await edit({ ...NOBODY, metadata: { labels: { "example.com/a": "b" } } });
    expect(repairs() - before).toBe(10 + 13);
    await passes({ clock, withinMs: 11_000 }, "the last is put back too", isBack(seated));
    await eventually("it is told of", async () => (await told(seated)).length === 1);
    await clock.advance(50 * 60_000);
    expect(await told(seated)).toMatchObject([{ details: { count: 1 } }]);
    await passes({ clock, withinMs: 15 * 60_000 }, "the rest is told of", async () => (await told(seated)).length === 2);
    expect((await told(seated))[0]).toMatchObject({
      details: { count: 10, reason: expect.stringContaining("changed 10 times, last edited,") },
    });
  });
});

function aWrite(manager: string, time: string) {
  return { manager, operation: "Update", apiVersion: "rbac.authorization.k8s.io/v1", time, fieldsType: "FieldsV1", fieldsV1: {} };
}
