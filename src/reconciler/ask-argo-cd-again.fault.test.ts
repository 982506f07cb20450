import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { APPLICATIONS } from "./adapters/kubernetes/types.ts";
import { deploying } from "./testing/deploy.ts";
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

const { deploy, applicationAt, readApplication, isAcknowledged } = deploying(() => world);

const soon = (what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs: SOON_MS }, what, holds);

describe("a controller that overlooks what it was asked", () => {
  test("is reminded, whoever had asked, until it has refreshed; nothing else of the Application changes", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(deployed));
    const before = await readApplication(deployed);
    expect(before?.metadata.annotations?.[NUDGED]).toBeUndefined();

    const asked = { metadata: { annotations: { [REFRESH]: "normal" } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), asked, world.signal);
    const nudgedAt = async () => (await readApplication(deployed))?.metadata.annotations?.[NUDGED];
    await soon("it is reminded", async () => (await nudgedAt()) !== undefined);
    const first = await nudgedAt();
    await soon("it is reminded again", async () => (await nudgedAt()) !== first);
    expect((await readApplication(deployed))?.spec).toEqual(before?.spec);

    const observed = { metadata: { annotations: { [REFRESH]: null } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), observed, world.signal);
    const second = await nudgedAt();
    await clock.advance(10 * SOON_MS);
    expect(await nudgedAt()).toBe(second);
  });

  test("is reminded of what it was to end, with what was deployed, until that has gone", async () => {
    const deployed = await deploy();
    const reconciler = await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(deployed));
    world.freezeEngine(true);
    await world.rows.deleteApplication(deployed.application, "cascade");
    const metadata = async () => (await readApplication(deployed))?.metadata;
    await soon("it is being deleted", async () => (await metadata())?.deletionTimestamp !== undefined);
    const nudgedAt = async () => (await metadata())?.annotations?.[NUDGED];
    await soon("its end is reminded of", async () => (await nudgedAt()) !== undefined);
    const first = await nudgedAt();
    await soon("and again", async () => (await nudgedAt()) !== first);
    expect((await metadata())?.annotations?.[REFRESH]).toBeUndefined();

    world.freezeEngine(false);
    await soon("its row is gone", async () => (await world.rows.application(deployed.application.id)) === undefined);
    await reconciler.idle();
  });

  test("is reminded of a sync that it has not begun, and no more once it runs", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(deployed));
    const change = (content: object) => world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), content, world.signal);
    const operation = { sync: { revision: "main" }, initiatedBy: { username: "jane" } };
    await change({ operation });
    const annotations = async () => (await readApplication(deployed))?.metadata.annotations;
    await soon("it is reminded", async () => (await annotations())?.[NUDGED] !== undefined);
    expect((await annotations())?.[REFRESH]).toBeUndefined();
    expect(await readApplication(deployed)).toMatchObject({ operation });

    await change({ status: { operationState: { phase: "Running", startedAt: "2026-01-01T00:00:01Z", operation } } });
    const nudge = (await annotations())?.[NUDGED];
    await clock.advance(10 * SOON_MS);
    expect((await annotations())?.[NUDGED]).toBe(nudge);
  });

  test("is asked to refresh once more where its first refresh could not read the repository, and not again", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(deployed));
    const createdAt = (await readApplication(deployed))?.metadata.creationTimestamp;
    const conditions = [{ type: "ComparisonError", message: "authentication required" }];
    const blind = { status: { reconciledAt: createdAt, conditions, sync: { status: "Unknown" }, health: { status: "Healthy" } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), blind, world.signal);
    const requested = async () => (await readApplication(deployed))?.metadata.annotations?.[REFRESH];
    await soon("it is asked to refresh", async () => (await requested()) === "normal");

    const observed = { metadata: { annotations: { [REFRESH]: null } } };
    await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), observed, world.signal);
    await clock.advance(10 * SOON_MS);
    expect(await requested()).toBeUndefined();
  });

  test("is asked to refresh again what an outage of its parts has left, less and less often, until it has compared", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(deployed));
    const say = (status: object) => world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), { status }, world.signal);
    const message = "Failed to load target state: rpc error: code = Unavailable desc = error reading from server: EOF";
    const requested = async () => (await readApplication(deployed))?.metadata.annotations?.[REFRESH];
    const compareAndFail = async (reconciledAt: string): Promise<void> => {
      const observed = { metadata: { annotations: { [REFRESH]: null } } };
      await world.hands.engine.mergePatch(APPLICATIONS, applicationAt(deployed), observed, world.signal);
      const conditions = [{ type: "ComparisonError", message }];
      await say({ reconciledAt, conditions, sync: { status: "Unknown" }, health: { status: "Healthy" } });
    };
    const waitedMs: number[] = [];
    for (const second of [10, 20, 30]) {
      await compareAndFail(`2026-01-01T00:00:${second}Z`);
      const sinceMs = clock.monotonicMs();
      await passes({ clock, withinMs: 10 * SOON_MS }, "it is asked", async () => (await requested()) === "normal");
      waitedMs.push(clock.monotonicMs() - sinceMs);
    }
    expect(waitedMs[1]).toBeGreaterThan(waitedMs[0] ?? 0);
    expect(waitedMs[2]).toBeGreaterThan(waitedMs[1] ?? 0);

    await compareAndFail("2026-01-01T00:00:40Z");
    await say({ conditions: [], sync: { status: "Synced" } });
    await clock.advance(10 * SOON_MS);
    expect(await requested()).toBeUndefined();
  });
});
