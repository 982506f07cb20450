import { describe, expect, it } from "vitest";
import type { MemberId } from "../../../domain/ids.ts";
import { eventually, soon, type World } from "../world.ts";

const [ADA, BOB] = ["ada", "bob"] as unknown as readonly [MemberId, MemberId];
const LONG_MS = 600_000;
const SHORT_MS = 50;

export function describeMembers(world: () => World): void {
  describe("members", () => {
    it("learn who lives, by role", async () => {
      const { members } = world().store;
      await members.heartbeat(BOB, ["workspace"], LONG_MS, soon());
      expect(await members.heartbeat(ADA, ["workspace", "api", "api"], LONG_MS, soon())).toEqual(
        new Map([
          ["workspace", [ADA, BOB]],
          ["api", [ADA]],
        ]),
      );
    });

    it("change their roles", async () => {
      const { members } = world().store;
      await members.heartbeat(ADA, ["workspace"], LONG_MS, soon());
      expect(await members.heartbeat(ADA, ["api"], LONG_MS, soon())).toEqual(new Map([["api", [ADA]]]));
    });

    it("are forgotten when they leave", async () => {
      const { members } = world().store;
      await members.heartbeat(ADA, ["api"], LONG_MS, soon());
      await members.leave(ADA, soon());
      await members.leave(ADA, soon());
      expect(await members.heartbeat(BOB, ["api"], LONG_MS, soon())).toEqual(new Map([["api", [BOB]]]));
    });

    it("are forgotten when they are silent for too long", async () => {
      const { members } = world().store;
      await members.heartbeat(ADA, ["api"], SHORT_MS, soon());
      await eventually(async () => expect(await members.heartbeat(BOB, ["api"], LONG_MS, soon())).toEqual(new Map([["api", [BOB]]])));
    });

    it("are notified of one that comes, has other roles or leaves, and of no other sign of life", async () => {
      const { members, changes } = world().store;
      const heard: string[] = [];
      const end = changes.subscribe((notified) => {
        if (notified !== "missed") heard.push(...notified.map(({ kind, id }) => `${kind} ${id}`));
      });
      try {
        await eventually(async () => expect(await changes.hears(soon())).toBe(true));
        await members.heartbeat(ADA, ["api"], LONG_MS, soon());
        await members.heartbeat(ADA, ["api"], LONG_MS, soon());
        await members.heartbeat(BOB, ["api"], LONG_MS, soon());
        await members.heartbeat(ADA, ["api", "health"], LONG_MS, soon());
        await members.heartbeat(ADA, ["api", "health"], LONG_MS, soon());
        await members.leave(ADA, soon());
        await members.leave(ADA, soon());
        await members.leave(BOB, soon());
        await eventually(async () => expect(heard.at(-1)).toBe("member bob"));
        expect(heard).toEqual(["member ada", "member bob", "member ada", "member ada", "member bob"]);
      } finally {
        end();
      }
    });

    it("say as whom they act, which stays while they live", async () => {
      const { members } = world().store;
      const account = {
        user: "system:serviceaccount:argosy-system:argosy-api",
        groups: ["system:serviceaccounts", "system:authenticated"],
      };
      expect(await members.recordAccount(ADA, account, soon())).toBe(false);
      await members.heartbeat(BOB, ["api"], LONG_MS, soon());
      await members.heartbeat(ADA, ["workspace"], LONG_MS, soon());
      const bob = { id: BOB, roles: ["api"], account: undefined };
      expect(await members.listLive(soon())).toEqual([{ id: ADA, roles: ["workspace"], account: undefined }, bob]);
      expect(await members.recordAccount(ADA, account, soon())).toBe(true);
      await members.heartbeat(ADA, ["workspace"], LONG_MS, soon());
      expect(await members.listLive(soon())).toEqual([{ id: ADA, roles: ["workspace"], account }, bob]);
      await members.leave(ADA, soon());
      expect(await members.listLive(soon())).toEqual([bob]);
      await members.heartbeat(ADA, ["workspace"], SHORT_MS, soon());
      await eventually(async () => expect(await members.listLive(soon())).toEqual([bob]));
    });

    it("may all speak at once", async () => {
      const { members } = world().store;
      const ids = Array.from({ length: 12 }, (_, index) => `member-${String(index).padStart(2, "0")}` as MemberId);
      await Promise.all(ids.map((id) => members.heartbeat(id, ["api"], LONG_MS, soon())));
      expect((await members.heartbeat(ids[0]!, ["api"], LONG_MS, soon())).get("api")).toEqual(ids);
    });
  });

  describe("leases", () => {
    it("belong to one holder at a time, who may renew them under the same number", async () => {
      const { members } = world().store;
      const lease = await members.acquire("key", ADA, LONG_MS, soon());
      expect(lease).toEqual({ key: "key", holder: ADA, fence: 1 });
      expect(await members.acquire("key", BOB, LONG_MS, soon())).toBeUndefined();
      expect(await members.acquire("key", ADA, LONG_MS, soon())).toEqual(lease);
      expect(await members.acquire("other", BOB, LONG_MS, soon())).toMatchObject({ holder: BOB });
    });

    it("go to one of many who ask at once", async () => {
      const { members } = world().store;
      const asked = await Promise.all(
        Array.from({ length: 12 }, (_, index) => members.acquire("key", `m-${index}` as MemberId, LONG_MS, soon())),
      );
      expect(asked.filter((lease) => lease !== undefined)).toHaveLength(1);
    });

    it("pass on with a higher number when they are given back", async () => {
      const { members } = world().store;
      const lease = await members.acquire("key", ADA, LONG_MS, soon());
      await members.release({ ...lease!, fence: 99 }, soon());
      await members.release({ ...lease!, holder: BOB }, soon());
      expect(await members.acquire("key", BOB, LONG_MS, soon())).toBeUndefined();
      await members.release(lease!, soon());
      expect(await members.acquire("key", BOB, LONG_MS, soon())).toEqual({ key: "key", holder: BOB, fence: 2 });
    });

    it("pass on with a higher number when they run out, to their last holder too", async () => {
      const { members } = world().store;
      await members.acquire("key", ADA, SHORT_MS, soon());
      await eventually(async () => expect(await members.acquire("key", BOB, SHORT_MS, soon())).toMatchObject({ fence: 2 }));
      await eventually(async () => expect(await members.acquire("key", ADA, SHORT_MS, soon())).toMatchObject({ holder: ADA }));
      await eventually(async () => expect(await members.acquire("key", BOB, LONG_MS, soon())).toMatchObject({ holder: BOB, fence: 4 }));
    });
  });
}
