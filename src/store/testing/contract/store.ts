import { describe, expect, it } from "vitest";
import type { Change } from "../../../domain/change.ts";
import { aDecision, anInstance } from "../builders.ts";
import { eventually, soon, type World } from "../world.ts";

export function describeStoreItself(world: () => World): void {
  describe("changes", () => {
    it("tell a new subscriber first that it may have missed something", async () => {
      const { changes } = world().store;
      const heard: (readonly Change[] | "missed")[] = [];
      const stop = changes.subscribe((notifications) => void heard.push(notifications));
      expect(heard).toEqual([]);
      await eventually(() => expect(heard).toEqual(["missed"]));
      expect(changes.isConnected()).toBe(true);
      const late: unknown[] = [];
      const stopLate = changes.subscribe((notifications) => void late.push(notifications));
      await eventually(() => expect(late).toEqual(["missed"]));
      expect(heard).toEqual(["missed"]);
      stop();
      stopLate();
    });

    it("reach everybody who listens and nobody who stopped", async () => {
      const { store, addInstance } = world();
      const [one, other, gone]: [unknown[], unknown[], unknown[]] = [[], [], []];
      const stops = [one, other, gone].map((heard) => store.changes.subscribe((notifications) => void heard.push(notifications)));
      await eventually(() => expect([one, other, gone]).toEqual([["missed"], ["missed"], ["missed"]]));
      stops[2]?.();
      const { id } = await addInstance();
      await eventually(() =>
        expect([one, other]).toEqual([
          ["missed", [{ kind: "instance", id }]],
          ["missed", [{ kind: "instance", id }]],
        ]),
      );
      expect(gone).toEqual(["missed"]);
      stops.forEach((stop) => stop());
    });

    it("are heard by whoever asks whether they are, subscribed or not", async () => {
      const { changes } = world().store;
      expect(await changes.hears(soon())).toBe(true);
      const heard: unknown[] = [];
      const stop = changes.subscribe((notifications) => void heard.push(notifications));
      expect(await changes.hears(soon())).toBe(true);
      expect(heard).toEqual(["missed"]);
      stop();
    });

    it("come after the commit: whoever hears of a row can read it", async () => {
      const { store, addInstance } = world();
      const found: unknown[] = [];
      let isReady = false;
      const stop = store.changes.subscribe((notifications) => {
        if (notifications === "missed") isReady = true;
        else
          for (const { id } of notifications)
            void store.fleet.readInstance(id as never, soon()).then((instance) => found.push(instance?.id));
      });
      await eventually(() => expect(isReady).toBe(true));
      const ids: string[] = [];
      for (let index = 0; index < 10; index += 1) ids.push((await addInstance()).id);
      await eventually(() => expect(found).toHaveLength(10));
      expect(found.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual(ids);
      stop();
    });
  });

  describe("the store", () => {
    it("answers a ping with its version", async () => {
      expect(await world().store.ping(soon())).toEqual({ version: expect.any(String), schema: expect.any(Number), isDirect: true });
    });

    it("does nothing for a signal that aborted before", async () => {
      const { store } = world();
      const reason = new Error("enough");
      const instance = anInstance();
      await expect(store.fleet.insertInstance(instance, aDecision(), AbortSignal.abort(reason))).rejects.toBe(reason);
      expect(await store.fleet.listInstances(soon())).toEqual([]);
    });
  });
}
