import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { InstanceObservation } from "../domain/rollout.ts";
import { createFaultPoints, FAULT_MODES, type FaultPoints } from "../reconciler/testing/faults.ts";
import { createVirtualClock, type VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, aFleet, aRollout, aWaveInstance } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { type CarryOutRollout, createCarryOutRollout } from "./carry-out-rollout.ts";
import { anObservation, unwatched } from "./testing/facts.ts";

const never = new AbortController().signal;
const CALLS = new Set(["readLive", "change", "readFleet", "listInstances", "changeInstance", "listFreezes", "observe", "readWindow"]);
const STEP_EVERY_MS = 30_000;
/** More steps than two waves take. */
const ENOUGH = 40;

/**
 * A rollout over two instances, in two waves. Each instance runs its assigned release at once; `over`: how the new
 * release behaves.
 */
async function begin(over: Partial<InstanceObservation>) {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  await store.fleet.applyFleet(aFleet(), "ada", never);
  const { addInstance } = createWorld(store);
  const old = { version: "3.5.6", desiredVersion: "3.5.6" };
  const ids = [(await addInstance(old)).id, (await addInstance(old)).id];
  const wave = { bakeMs: STEP_EVERY_MS, isExtended: false, isApproved: false };
  const waves = ids.map((id, index) => ({ name: `wave ${index}`, instances: [aWaveInstance({ id, name: id })], ...wave }));
  const rollout = aRollout({ waves, isUnattended: true });
  await store.rollouts.create(rollout, aDecision({ subject: rollout.id, kind: "rollout" }), never);
  return { clock, store, ids, id: rollout.id, over };
}
type Begun = Awaited<ReturnType<typeof begin>>;

function openStep({ clock, store, over }: Begun, points?: FaultPoints): CarryOutRollout {
  const wrap = <T extends object>(port: T): T => points?.wrap(port) ?? port;
  const observations = {
    ...unwatched,
    async observe({ namespace }: { readonly namespace: string }) {
      const row = (await store.fleet.listInstances(never)).find((one) => one.namespace === namespace);
      const isNew = row?.desiredVersion === "3.5.7";
      return anObservation(clock.now(), { runs: row?.desiredVersion, newestReconciledAt: millis(clock.now()), ...(isNew ? over : {}) });
    },
  };
  const { rollouts, fleet, directives, health } = store;
  const wrapped = { rollouts: wrap(rollouts), fleet: wrap(fleet), directives: wrap(directives), health: wrap(health) };
  return createCarryOutRollout({
    store: wrapped,
    observations: wrap(observations),
    emptying: { carryOn: async () => undefined, giveUp: async () => undefined },
    freezeAt: () => undefined,
    clock,
    log: silentLog,
  });
}

/** Takes steps until the rollout has ended. After a step that fails, another process goes on. */
async function runToEnd(begun: Begun, points?: FaultPoints): Promise<void> {
  let takeStep = openStep(begun, points);
  for (let count = 0; count < ENOUGH; count += 1) {
    await begun.clock.advance(STEP_EVERY_MS);
    const outcome = await takeStep(never).catch(() => "failed" as const);
    if (outcome === undefined) return;
    if (outcome === "failed") takeStep = openStep(begun);
  }
}

const ordersOf = async ({ store }: { readonly store: MemoryStore; readonly clock: VirtualClock }, id: InstanceId) =>
  (await store.decisions.list({ subject: id, kind: "instance" }, 10, never))
    .filter(({ rule }) => rule === "ROLLOUT")
    .map(({ verdict }) => verdict)
    .toReversed();

const ENDS = [
  { what: "that is good", over: {}, state: "DONE", versions: ["3.5.7", "3.5.7"], verdicts: ["UPGRADING"], frozen: [] },
  {
    ...{ what: "that crashes", over: { crashes: ["pod"] }, state: "FAILED", versions: ["3.5.6", "3.5.6"] },
    ...{ verdicts: ["UPGRADING", "ROLLING_BACK"], frozen: ["3.5.7"] },
  },
];

describe.each(ENDS)("a rollout of a release $what", ({ over, state, versions, verdicts, frozen }) => {
  const expectCarriedOut = async (begun: Begun): Promise<void> => {
    const { store, ids, id } = begun;
    expect(await store.rollouts.read(id, never)).toMatchObject({ state });
    const rows = await Promise.all(ids.map((one) => store.fleet.readInstance(one, never)));
    expect(rows.map((row) => row?.desiredVersion)).toEqual(versions);
    // Each order is recorded once, however often a step is repeated.
    expect(await ordersOf(begun, ids[0] as InstanceId)).toEqual(verdicts);
    expect((await store.rollouts.listFrozen(never)).map(({ version }) => version)).toEqual(frozen);
  };

  it.each(FAULT_MODES)("has the same end when any call %s, and another process goes on", async (mode) => {
    const broke = new Set<string>();
    for (let index = 0; ; index += 1) {
      const begun = await begin(over);
      const points = createFaultPoints(CALLS);
      points.arm(index, mode);
      await runToEnd(begun, points);
      const name = points.broke();
      await expectCarriedOut(begun).catch((error: unknown) => {
        throw new Error(`call ${index}, ${name}`, { cause: error });
      });
      if (name === undefined) break;
      broke.add(name);
    }
    expect([...broke].sort()).toEqual([...CALLS].sort());
  });
});
