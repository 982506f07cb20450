import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { APPLICATIONS } from "./adapters/kubernetes/types.ts";
import { seating } from "./testing/seat.ts";
import { passes } from "./testing/until.ts";
import { startWorld, type World } from "./testing/world.ts";

const NUDGED = "argosy.dev/nudged";
const REFRESH = "argocd.argoproj.io/refresh";
const SOON_MS = 60_000;

let world: World;
let clock: VirtualClock;
beforeEach(async () => {
  world = await startWorld();
  clock = createVirtualClock();
});
afterEach(() => world.close());

const { seat, applicationAt, readApplication, isAcknowledged } = seating(() => world);

const soon = (what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs: SOON_MS }, what, holds);

describe("a controller that overlooks what it was asked", () => {
  test("is reminded, whoever had asked, until it has looked; nothing else of the Application changes", async () => {
    const seated = await seat();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(seated));
    const before = await readApplication(seated);
    expect(before?.metadata.annotations?.[NUDGED]).toBeUndefined();

    const asked = { metadata: { annotations: { [REFRESH]: "normal" } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(seated), asked, world.signal);
    const nudgedAt = async () => (await readApplication(seated))?.metadata.annotations?.[NUDGED];
    await soon("it is reminded", async () => (await nudgedAt()) !== undefined);
    const first = await nudgedAt();
    await soon("it is reminded again", async () => (await nudgedAt()) !== first);
    expect((await readApplication(seated))?.spec).toEqual(before?.spec);

    const looked = { metadata: { annotations: { [REFRESH]: null } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(seated), looked, world.signal);
    const second = await nudgedAt();
    await clock.advance(10 * SOON_MS);
    expect(await nudgedAt()).toBe(second);
  });

  test("is reminded of what it was to end, with what was deployed, until that has gone", async () => {
    const seated = await seat();
    const reconciler = await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(seated));
    world.freezeEngine(true);
    await world.rows.deleteApplication(seated.application, "cascade");
    const metadata = async () => (await readApplication(seated))?.metadata;
    await soon("it is being deleted", async () => (await metadata())?.deletionTimestamp !== undefined);
    const nudgedAt = async () => (await metadata())?.annotations?.[NUDGED];
    await soon("its end is reminded of", async () => (await nudgedAt()) !== undefined);
    const first = await nudgedAt();
    await soon("and again", async () => (await nudgedAt()) !== first);
    expect((await metadata())?.annotations?.[REFRESH]).toBeUndefined();

    world.freezeEngine(false);
    await soon("its row is gone", async () => (await world.rows.application(seated.application.id)) === undefined);
    await reconciler.idle();
  });

  test("is asked to look once more where its first look could not read the repository, and not again", async () => {
    const seated = await seat();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(seated));
    const createdAt = (await readApplication(seated))?.metadata.creationTimestamp;
    const conditions = [{ type: "ComparisonError", message: "authentication required" }];
    const blind = { status: { reconciledAt: createdAt, conditions, sync: { status: "Unknown" }, health: { status: "Healthy" } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(seated), blind, world.signal);
    const requested = async () => (await readApplication(seated))?.metadata.annotations?.[REFRESH];
    await soon("it is asked to look", async () => (await requested()) === "normal");

    const looked = { metadata: { annotations: { [REFRESH]: null } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(seated), looked, world.signal);
    await clock.advance(10 * SOON_MS);
    expect(await requested()).toBeUndefined();
  });
});
