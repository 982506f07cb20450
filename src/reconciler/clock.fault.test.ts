import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LABEL_APPLICATION } from "../domain/names.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { APPLICATIONS } from "./adapters/kubernetes/types.ts";
import { deploying } from "./testing/deploy.ts";
import { passes } from "./testing/until.ts";
import { startWorld, type World } from "./testing/world.ts";

const HOUR_MS = 3_600_000;
/** Longer than the pause between two thorough sweeps, shorter than the hour. */
const SOON_MS = 10 * 60_000;

let world: World;
let clock: VirtualClock;
beforeEach(async () => {
  world = await startWorld();
  clock = createVirtualClock();
});
afterEach(() => world.close());

const { deploy, applicationAt, readApplication, isAcknowledged } = deploying(() => world);

const soon = (what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs: SOON_MS }, what, holds);

describe.each([
  ["forward", HOUR_MS],
  ["back", -HOUR_MS],
])("a clock that is set %s by an hour", (_, byMs) => {
  test("delays no sweep: what no event reported is found within minutes, and nothing else is touched", async () => {
    const deployed = await deploy();
    await world.startReconciler(undefined, { clock });
    await soon("it is acknowledged", () => isAcknowledged(deployed));
    await soon("its rows were all compared", async () => (world.rows.statements()["listApplications"] ?? 0) > 0);

    clock.set(byMs);
    const wanted = await readApplication(deployed);
    const orphan = { namespace: deployed.instance.namespace, name: "orphan" };
    const labels = { ...wanted?.metadata.labels, [LABEL_APPLICATION]: "nobody" };
    await world.hands.engine.create(APPLICATIONS, { ...wanted, metadata: { ...orphan, labels } } as KubeObject, world.signal);
    await soon("the orphan is gone", async () => {
      return (await world.hands.engine.get(APPLICATIONS, orphan, world.signal)) === undefined;
    });

    await world.rows.changeSpec(deployed.application, { type: "manual" });
    await soon("the change is acknowledged", async () => {
      return (await world.rows.acknowledged("application", deployed.application.id))?.appliedRevision === 2;
    });
    const after = await world.hands.engine.get<KubeObject>(APPLICATIONS, applicationAt(deployed), world.signal);
    expect(after?.metadata.uid).toBe(wanted?.metadata.uid);
  });
});
