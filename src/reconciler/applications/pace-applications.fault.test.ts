import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Instance } from "../../domain/instance.ts";
import type { Application } from "../../domain/workspace.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { type PlayedController, playController } from "../testing/play-controller.ts";
import { passes } from "../testing/until.ts";
import { startWorld, type World } from "../testing/world.ts";
import { IN_FLIGHT_TIMEOUT_MS } from "./in-flight-window.ts";

const SHARE = 2;
const COUNT = 7;

let world: World;
let clock: VirtualClock;
let instance: Instance;
let controller: PlayedController;
beforeEach(async () => {
  [world, clock] = [await startWorld(), createVirtualClock()];
  instance = await world.rows.addInstance("one");
  controller = playController(world, instance);
});
afterEach(() => world.close());

const within = (withinMs: number, what: string, holds: () => Promise<boolean>) => passes({ clock, withinMs }, what, holds);
const start = () => world.startReconciler(undefined, { clock, unfinishedPerUnit: SHARE });
async function record(): Promise<readonly Application[]> {
  const applications: Application[] = [];
  for (let index = 0; index < COUNT; index += 1) applications.push(await world.rows.addApplication("noisy", `app-${index}`));
  if (applications[0] !== undefined) await world.rows.place(applications[0], instance.id);
  return applications;
}
const atLeast = (count: number) => async () => (await controller.names()).length >= count;

describe("an instance whose controller never answers", () => {
  test("is given all of a workspace's work in the end, a share at a time, and people hear for what it waits", async () => {
    const applications = await record();
    await start();
    await within(10_000, "the first share is there", atLeast(SHARE));
    const said = async () =>
      (await Promise.all(applications.map(({ id }) => world.rows.operations(id)))).flat().map(({ message }) => message);
    const words = "Waiting: for other applications of the workspace, which are worked on first";
    await within(20_000, "it is reported", async () => (await said()).filter((message) => message === words).length === COUNT - SHARE);
    expect(await controller.names()).toHaveLength(SHARE);
    await within(IN_FLIGHT_TIMEOUT_MS, "the next share is there", atLeast(2 * SHARE));
    expect(await controller.names()).toHaveLength(2 * SHARE);
    await within(3 * IN_FLIGHT_TIMEOUT_MS, "everything is there", atLeast(COUNT));
  });

  test("gives others a place at once where what was to be made is refused", async () => {
    await record();
    world.engineServer.faults.fail({ method: "POST", path: /\/applications$/, status: 422, times: SHARE });
    await start();
    await within(IN_FLIGHT_TIMEOUT_MS / 4, "a share is there", atLeast(SHARE));
  });
});
