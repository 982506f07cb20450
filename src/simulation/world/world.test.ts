import { describe, expect, it } from "vitest";
import { UnavailableError } from "../../domain/errors.ts";
import { sleep } from "../../runtime/clock.ts";
import { createHistory } from "../history.ts";
import { createFailpoints, type Failpoint } from "./failpoints.ts";
import { createNetwork, unreachable } from "./network.ts";
import { createParty } from "./party.ts";
import { createWorld } from "./world.ts";

const never = new AbortController().signal;

function aWorld(seed: string | number = 1, named: readonly Failpoint[] = []) {
  const world = createWorld(seed, createHistory());
  const failpoints = createFailpoints(world.rng.fork("faults"), named);
  const network = createNetwork(world, failpoints);
  const ada = createParty(world, "ada");
  let effects = 0;
  const call = (name = "server.PATCH.things") =>
    network.call(
      { from: ada, to: "server", name, effect: () => (effects += 1), broken: unreachable("calling", "kube.unreachable") },
      never,
    );
  return { world, failpoints, network, ada, call, effects: () => effects };
}

describe("the world", () => {
  it("runs what is due in the order of time, and at one time in the order it was asked for", async () => {
    const { world } = aWorld();
    const seen: string[] = [];
    for (const [ms, what] of [
      [5, "c"],
      [1, "a"],
      [5, "d"],
      [1, "b"],
    ] as const)
      world.schedule(ms, what, () => void seen.push(what));
    const take = world.schedule(2, "taken back", () => void seen.push("never"));
    take();
    await world.run(10);
    expect(seen).toEqual(["a", "b", "c", "d"]);
    expect(world.elapsedMs()).toBe(10);
  });

  it("lets every promise go on before the next event, however deep it waits", async () => {
    const { world } = aWorld();
    const seen: string[] = [];
    const deep = async (): Promise<void> => {
      for (let depth = 0; depth < 50; depth += 1) await Promise.resolve();
      seen.push("deep");
    };
    world.schedule(1, "first", () => void deep());
    world.schedule(1, "second", () => void seen.push("second"));
    await world.run(2);
    expect(seen).toEqual(["deep", "second"]);
  });

  it("gets past a party that sets timers again and again without time passing", async () => {
    const { world, ada } = aWorld();
    const again = (): void => void ada.clock.after(1e-12, again);
    again();
    await world.run(0.5);
    expect(world.events()).toBeLessThanOrEqual(501);
  });
});

describe("a party", () => {
  it("never goes on with anything once it was killed", async () => {
    const { world, ada } = aWorld();
    let woke = false;
    void sleep(ada.clock, 10, never).then(() => (woke = true));
    await world.run(5);
    ada.kill();
    await world.run(100);
    expect(woke).toBe(false);
  });

  it("goes on with what it had begun after it stood still", async () => {
    const { world, ada } = aWorld();
    let wokeAt = 0;
    void sleep(ada.clock, 10, never).then(() => (wokeAt = world.elapsedMs()));
    ada.freeze(5_000);
    await world.run(10_000);
    expect(wokeAt).toBe(5_000);
  });

  it("hears what reached it while it stood still in that order, and what comes then behind it", async () => {
    const { world, ada } = aWorld();
    const heard: number[] = [];
    const tell = (index: number): void => ada.reach("a line", () => void heard.push(index));
    ada.freeze(21_046.094_7);
    for (let index = 0; index < 200; index += 1) world.schedule(100.333_3 * (index + 1) + index / 7, "a line is sent", () => tell(index));
    world.schedule(21_046.094_7, "one more", () => tell(200));
    await world.run(30_000);
    expect(heard).toEqual(Array.from({ length: 201 }, (_, index) => index));
  });
});

describe("a failpoint", () => {
  it.each([
    ["before", 0],
    ["after-effect", 1],
    ["error", 0],
  ] as const)("that breaks a call %s leaves %i effect behind, and breaks that one alone", async (kind, effects) => {
    const { world, call, effects: count } = aWorld(1, [{ name: "server.PATCH.things", index: 1, kind }]);
    const first = call();
    await world.run(1_000);
    await expect(first).resolves.toBe(1);
    const second = expect(call()).rejects.toBeInstanceOf(UnavailableError);
    await world.run(1_000);
    await second;
    expect(count()).toBe(1 + effects);
    const third = call();
    await world.run(1_000);
    await expect(third).resolves.toBe(2 + effects);
  });

  it("that delays a call beyond its caller's timeout lets it happen all the same", async () => {
    const { world, call, effects } = aWorld(1, [{ name: "server.PATCH.things", index: 0, kind: "delay", ms: 45_000 }]);
    const asked = expect(call()).rejects.toBeInstanceOf(UnavailableError);
    await world.run(40_000);
    await asked;
    expect(effects()).toBe(0);
    await world.run(10_000);
    expect(effects()).toBe(1);
  });
});

describe("the network", () => {
  it("carries nothing between two that are parted, and everything once they are not", async () => {
    const { world, network, call, effects } = aWorld();
    network.part("server", "ada");
    const asked = expect(call()).rejects.toBeInstanceOf(UnavailableError);
    await world.run(1_000);
    await asked;
    expect(effects()).toBe(0);
    network.heal("ada", "server");
    const again = call();
    await world.run(1_000);
    await expect(again).resolves.toBe(1);
  });

  it("delivers notifications in the order they were sent", async () => {
    const { world, network, ada } = aWorld();
    const heard: number[] = [];
    const stream = { from: "server", to: ada, what: "notifications", lagMs: 50, lastAt: 0, onCut: () => undefined };
    for (let count = 0; count < 50; count += 1) network.push(stream, () => void heard.push(count));
    await world.run(1_000);
    expect(heard).toEqual(Array.from({ length: 50 }, (_, count) => count));
  });
});

it("aborts what waits in it when it is closed, of dead parties too", () => {
  const world = createWorld("closed", createHistory());
  const [alive, dead] = [createParty(world, "alive"), createParty(world, "dead")];
  dead.kill();
  expect([alive, dead].map(({ signal }) => signal.aborted)).toEqual([false, false]);
  world.close();
  expect([alive, dead].map(({ signal }) => signal.aborted)).toEqual([true, true]);
});
