import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Instance } from "../domain/instance.ts";
import { createFaultPoints, FAULT_MODES } from "../reconciler/testing/faults.ts";
import { eventually } from "../reconciler/testing/until.ts";
import { startWorld, type World } from "../reconciler/testing/world.ts";
import { accountName } from "../shard/names.ts";
import { type HandOver, startHandOver } from "./testing/hand-over.ts";

const CALLS = new Set([
  ...["read", "advance", "commit", "listApplications", "readUnit", "readApplications", "readInstance"],
  ...["list", "create", "patch", "delete", "ask", "raise", "clear"],
]);

let world: World;
let over: HandOver;
beforeAll(async () => {
  world = await startWorld();
  over = await startHandOver(world);
});
afterAll(() => world.close());

/** Everything is on the one instance, at work, and nothing is left on the other. */
async function expectMoved(from: Instance, to: Instance): Promise<void> {
  const { rows } = world;
  const left = (await over.sights(from)).map(({ at, epoch, isPaused, arrival, finalizers }) => ({
    at,
    epoch,
    isPaused,
    arrival,
    finalizers,
  }));
  expect(left).toEqual([]);
  const unit = await rows.unit(over.unitId);
  expect(unit).toMatchObject({ owner: to.id, phase: "IDLE" });
  expect(await over.holders()).toEqual([accountName(over.unitId, to.id)]);
  await eventually("the reconciler has acknowledged what the move did", async () => {
    const known = await Promise.all(over.applications.map(({ id }) => rows.acknowledged("application", id)));
    return known.every((each) => each?.instanceId === to.id && each.epoch === unit?.epoch);
  });
  const stand = await over.sights(to);
  expect(stand.map(({ at }) => at.name).sort()).toEqual(over.applications.map(({ argoName }) => argoName).sort());
  for (const sight of stand)
    expect(sight).toMatchObject({ isPaused: false, isAutomated: true, arrival: undefined, finalizers: [], epoch: unit?.epoch });
}

describe("a hand-over", () => {
  it("takes a unit there and back, and leaves nothing behind (I4)", async () => {
    for (let round = 0; round < 2; round += 1) {
      const { id, from, to } = await over.begin();
      const worker = over.worker();
      await over.workUntilEnd(id, () => worker);
      expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "DONE", message: "" });
      await expectMoved(from, to);
    }
  });

  it.each(FAULT_MODES)("is completed by another worker when any call of the first %s, and the worker dies of it (I5)", async (mode) => {
    const broke = new Set<string>();
    // Every sixth call each, not the same ones: a hand-over has more than a hundred, and takes most of a second.
    for (let index = FAULT_MODES.indexOf(mode); ; index += 6) {
      const points = createFaultPoints(CALLS);
      const { id, from, to } = await over.begin();
      points.arm(index, mode);
      const [first, second] = [over.worker(points.wrap), over.worker()];
      await over.workUntilEnd(id, () => (points.broke() === undefined ? first : second));
      await expectMoved(from, to).catch((error: unknown) => {
        throw new Error(`call ${index}, ${points.broke()}`, { cause: error });
      });
      const name = points.broke();
      if (name === undefined) break;
      broke.add(name);
    }
    expect(broke.size).toBeGreaterThan(CALLS.size / 3);
  });

  it("is carried out by two workers at once as by one (I5)", async () => {
    const { id, from, to } = await over.begin();
    const [one, two] = [over.worker(), over.worker()];
    let turn = 0;
    await over.workUntilEnd(id, () => ({
      carryOn: async (move, signal) => {
        turn += 1;
        await Promise.allSettled([one.carryOn(move, signal), turn % 2 === 0 ? two.carryOn(move, signal) : undefined]);
      },
    }));
    await expectMoved(from, to);
  });
});
