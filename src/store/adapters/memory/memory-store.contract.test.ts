import { describe, expect, it } from "vitest";
import { UnavailableError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { describeStore } from "../../testing/contract/suite.ts";
import { createWorld, eventually, soon } from "../../testing/world.ts";
import { createMemoryStore } from "./memory-store.ts";

describeStore("the store in memory", async () => {
  const store = createMemoryStore({ clock: systemClock });
  return { store, close: () => store.close() };
});

describe("the store in memory while it is away", () => {
  it("refuses everything, loses hints, and says so when it is back", async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { addInstance } = createWorld(store);
    const heard: unknown[] = [];
    store.changes.subscribe((notifications) => void heard.push(notifications));
    await eventually(() => expect(heard).toEqual(["missed"]));
    const adding = addInstance();
    store.setAway(true);
    const { id } = await adding;
    expect(store.changes.isConnected()).toBe(false);
    await expect(store.ping(soon())).rejects.toBeInstanceOf(UnavailableError);
    store.setAway(false);
    await eventually(() => expect(heard).toEqual(["missed", "missed"]));
    expect(await store.fleet.readInstance(id, soon())).toMatchObject({ id });
  });
});
