import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LABEL_APPLICATION } from "../domain/names.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { APPLICATIONS } from "./adapters/kubernetes/types.ts";
import { seating } from "./testing/seat.ts";
import { passes } from "./testing/until.ts";
import { startWorld, type World } from "./testing/world.ts";

const HOUR_MS = 3_600_000;
/** Longer than the pause between two thorough looks, shorter than the hour. */
const SOON_MS = 10 * 60_000;

let world: World;
let clock: VirtualClock;
beforeEach(async () => {
  world = await startWorld();
  clock = createVirtualClock();
});
afterEach(() => world.close());

const { seat, applicationAt, readApplication, isAcknowledged } = seating(() => world);

const soon = (what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs: SOON_MS }, what, holds);

describe.each([
  ["forward", HOUR_MS],
  ["back", -HOUR_MS],
])("a clock that is set %s by an hour", (_, byMs) => {
  test("delays no sweep: what no event told is found within minutes, and nothing else is touched", async () => {
    const seated = await seat();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(seated));
    await soon("it was looked at thoroughly", async () => (world.rows.statements()["listApplications"] ?? 0) > 0);

    clock.set(byMs);
    const wanted = await readApplication(seated);
    const stray = { namespace: seated.instance.namespace, name: "stray" };
    const labels = { ...wanted?.metadata.labels, [LABEL_APPLICATION]: "nobody" };
    await world.hands.engine.create(APPLICATIONS, { ...wanted, metadata: { ...stray, labels } } as KubeObject, world.signal);
    await soon("the stray is gone", async () => {
      return (await world.hands.engine.get(APPLICATIONS, stray, world.signal)) === undefined;
    });

    await world.rows.changeSpec(seated.application, { type: "manual" });
    await soon("the change is acknowledged", async () => {
      return (await world.rows.acknowledged("application", seated.application.id))?.appliedRevision === 2;
    });
    const after = await world.hands.engine.get<KubeObject>(APPLICATIONS, applicationAt(seated), world.signal);
    expect(after?.metadata.uid).toBe(wanted?.metadata.uid);
  });
});
