import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { APPLICATIONS } from "../adapters/kubernetes/types.ts";
import { seating } from "../testing/seat.ts";
import { eventually } from "../testing/until.ts";
import type { World } from "../testing/world.ts";
import { EVERYTHING_IS_MINE, startWorld } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());
const { seat, applicationAt, isAcknowledged } = seating(() => world);

describe("what SREs are told", () => {
  test("costs no statement where everything goes well", async () => {
    const seated = await seat();
    await world.startReconciler();
    await eventually("the application is acknowledged", () => isAcknowledged(seated));
    expect(world.rows.statements()["recordProgress"]).toBeUndefined();
    expect(await world.rows.operations(seated.application.id)).toMatchObject([{ state: "Completed", attempts: 1, message: "" }]);
  });

  test("W10: is the refusal, which counts as nothing done, until it is taken after all", async () => {
    const seated = await seat();
    world.engineServer.faults.fail({ method: "POST", path: /\/applications$/, status: 422, reason: "Invalid" });
    await world.startReconciler();
    const operation = async () => (await world.rows.operations(seated.application.id))[0];
    await eventually("the refusal is told", async () => (await operation())?.state === "Failed");
    expect(await world.rows.acknowledged("application", seated.application.id)).toBeUndefined();
    expect((await operation())?.message).toMatch(/^Refused: the instance's cluster does not take the Application: ./);
    world.rows.missHints();
    await eventually("the operation is completed", async () => (await operation())?.state === "Completed");
    expect(await operation()).toMatchObject({ attempts: 2, message: "" });
  });

  test("names what holds a deletion for as long as it does", async () => {
    const seated = await seat();
    const { application, instance } = seated;
    await world.startReconciler(EVERYTHING_IS_MINE, { blockedAfterMs: -60_000 });
    await eventually("the application is acknowledged", () => isAcknowledged(seated));
    const hold = { metadata: { finalizers: ["example.com/hold"] } };
    await world.hands.engine.mergePatch<KubeObject>(APPLICATIONS, applicationAt(seated), hold, world.signal);
    await world.rows.deleteApplication(application, "cascade");
    const last = async () => (await world.rows.operations(application.id)).at(-1);
    const words = `Deletion blocked: Application ${instance.namespace}/${application.argoName} has the finalizer example.com/hold`;
    await eventually("the operation says so", async () => (await last())?.message === words);
    expect(await world.rows.blockage(application.id)).toMatchObject({ held: [] });
    const release = { metadata: { finalizers: null } };
    await world.hands.engine.mergePatch<KubeObject>(APPLICATIONS, applicationAt(seated), release, world.signal);
    await eventually("the row is gone", async () => (await world.rows.application(application.id)) === undefined);
    expect(await last()).toMatchObject({ kind: "delete-application", state: "Completed", message: "" });
  });
});
