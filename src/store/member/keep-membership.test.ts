import { afterEach, describe, expect, it, vi } from "vitest";
import type { MemberId } from "../../domain/ids.ts";
import { createVirtualClock, settle } from "../../runtime/testing/virtual-clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { createMemoryStore } from "../adapters/memory/memory-store.ts";
import { createMembership, type Membership } from "./keep-membership.ts";

const TTL_MS = 15_000;
const RENEW_MS = 5_000;
const KEYS = Array.from({ length: 200 }, (_, index) => `key-${index}`);

const open: Membership[] = [];
afterEach(() => Promise.all(open.splice(0).map((membership) => membership.stop())));

function world() {
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const join = (name: string, roles: readonly string[] = ["reconciler"], comingRoles: readonly string[] = []) => {
    const membership = createMembership({
      store: store.members,
      changes: store.changes,
      memberId: name as MemberId,
      roles,
      comingRoles,
      ttlMs: TTL_MS,
      renewMs: RENEW_MS,
      clock,
      log: silentLog,
    });
    open.push(membership);
    const ending = new AbortController();
    membership.start(ending.signal);
    return { ...membership, kill: () => ending.abort(new Error("killed")) };
  };
  const share = (membership: Membership, role = "reconciler"): readonly string[] => KEYS.filter(membership.partition(role).isMine);
  return { clock, store, join, share };
}

describe("membership", () => {
  it("gives nobody anything before the first answer, and one alone everything after it", async () => {
    const { join, share } = world();
    const ada = join("ada");
    expect(share(ada)).toEqual([]);
    await settle();
    expect(share(ada)).toEqual(KEYS);
  });

  it("says again that it lives when an answer never comes, by its clock and not the machine's", async () => {
    const { clock, store } = world();
    let asked = 0;
    const answerless = (signal: AbortSignal) =>
      new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }));
    const heartbeat: typeof store.members.heartbeat = (...args) => (asked++ === 0 ? answerless(args[3]) : store.members.heartbeat(...args));
    const membership = createMembership({
      store: { ...store.members, heartbeat },
      changes: store.changes,
      ...{ memberId: "ada" as MemberId, roles: ["reconciler"], ttlMs: TTL_MS, renewMs: RENEW_MS, clock, log: silentLog },
    });
    open.push(membership);
    membership.start(new AbortController().signal);
    await clock.advance(TTL_MS - 1);
    expect(asked).toBe(1);
    await clock.advance(RENEW_MS + 1);
    expect(asked).toBe(2);
    expect(membership.partition("reconciler").isMine("any")).toBe(true);
  });

  it("deals every key to exactly one of those that live, and tells who asked to hear", async () => {
    const { clock, join, share } = world();
    const ada = join("ada");
    await settle();
    let changes = 0;
    const stop = ada.partition("reconciler").onChange(() => (changes += 1));
    const bob = join("bob");
    await clock.advance(RENEW_MS);
    expect([...share(ada), ...share(bob)].toSorted()).toEqual(KEYS.toSorted());
    expect(share(ada).length).toBeGreaterThan(0);
    expect(share(bob).length).toBeGreaterThan(0);
    expect(changes).toBe(1);
    await clock.advance(10 * RENEW_MS);
    expect(changes).toBe(1);
    stop();
    await bob.stop();
    await clock.advance(RENEW_MS);
    expect(changes).toBe(1);
    expect(share(ada)).toEqual(KEYS);
  });

  it("deals only to those of the role", async () => {
    const { clock, join, share } = world();
    const [ada, bob] = [join("ada", ["api"]), join("bob", ["api", "reconciler"])];
    await clock.advance(RENEW_MS);
    expect(share(ada)).toEqual([]);
    expect(share(bob)).toEqual(KEYS);
    expect([...share(ada, "api"), ...share(bob, "api")].toSorted()).toEqual(KEYS.toSorted());
  });

  it("takes over from one that fell silent after its time, not before", async () => {
    const { clock, join, share } = world();
    const [ada, bob] = [join("ada"), join("bob")];
    await clock.advance(RENEW_MS);
    bob.kill();
    await clock.advance(TTL_MS - RENEW_MS);
    expect(share(ada)).not.toEqual(KEYS);
    await clock.advance(2 * RENEW_MS);
    expect(share(ada)).toEqual(KEYS);
  });

  it("tells of changes of a role only those who asked about that role", async () => {
    const { clock, join } = world();
    const ada = join("ada", ["reconciler", "workspace"]);
    await settle();
    const heard: string[] = [];
    for (const role of ["reconciler", "workspace"]) ada.partition(role).onChange(() => void heard.push(role));
    join("api", ["api"]);
    await clock.advance(2 * RENEW_MS);
    expect(heard).toEqual([]);
    join("bob", ["workspace"]);
    await clock.advance(RENEW_MS);
    expect(heard).toEqual(["workspace"]);
  });

  it("says which keys were gained: none when somebody joins, those of one that left", async () => {
    const { clock, join, share } = world();
    const ada = join("ada");
    await settle();
    const gains: (readonly string[])[] = [];
    ada.partition("reconciler").onChange(({ gained }) => void gains.push(KEYS.filter(gained)));
    const bob = join("bob");
    await clock.advance(RENEW_MS);
    expect(gains).toEqual([[]]);
    const bobs = share(bob);
    await bob.stop();
    await clock.advance(RENEW_MS);
    expect(gains.at(-1)).toEqual(bobs);
  });

  it("hears at once of one that comes, and of one that leaves", async () => {
    const { clock, join, share } = world();
    const ada = join("ada");
    await clock.advance(1);
    const bob = join("bob");
    await clock.advance(1);
    expect([...share(ada), ...share(bob)].toSorted()).toEqual(KEYS.toSorted());
    await bob.stop();
    await clock.advance(1);
    expect(share(ada)).toEqual(KEYS);
  });

  it("leaves the keys of a role to the others until this process has joined it, and knows its share then", async () => {
    const { clock, join, share } = world();
    const [ada, bob] = [join("ada"), join("bob", [])];
    await clock.advance(2 * RENEW_MS);
    expect([share(ada), share(bob)]).toEqual([KEYS, []]);
    await bob.join("reconciler");
    expect(share(bob).length).toBeGreaterThan(0);
    await clock.advance(1);
    expect([...share(ada), ...share(bob)].toSorted()).toEqual(KEYS.toSorted());
  });

  describe("of processes that start together", () => {
    function starting() {
      const { join, ...rest } = world();
      return { ...rest, join, start: (name: string) => join(name, [], ["reconciler"]) };
    }

    it("leaves those that are not ready yet what will be theirs", async () => {
      const { clock, start, share } = starting();
      const [ada, bob, cyd] = [start("ada"), start("bob"), start("cyd")];
      await clock.advance(1);
      const gains: (readonly string[])[] = [];
      ada.partition("reconciler").onChange(({ gained }) => void gains.push(KEYS.filter(gained)));
      await ada.join("reconciler");
      const first = share(ada);
      expect(first.length).toBeGreaterThan(0);
      expect(first.length).toBeLessThan(KEYS.length / 2);
      expect([share(bob), share(cyd)]).toEqual([[], []]);
      await Promise.all([bob.join("reconciler"), cyd.join("reconciler")]);
      await clock.advance(1);
      expect(share(ada)).toEqual(first);
      expect([...first, ...share(bob), ...share(cyd)].toSorted()).toEqual(KEYS.toSorted());
      expect(gains).toEqual([first]);
    });

    it("tells each beforehand what it will have", async () => {
      const { clock, start, share } = starting();
      const members = ["ada", "bob", "cyd"].map(start);
      await clock.advance(1);
      const prospects = await Promise.all(members.map((member) => member.prospect("reconciler")));
      expect(prospects.map(({ isServed }) => isServed)).toEqual([false, false, false]);
      for (const member of members) await member.join("reconciler");
      await clock.advance(1);
      expect(members.map((member) => share(member))).toEqual(prospects.map(({ willBeMine }) => KEYS.filter(willBeMine)));
    });

    it("takes over from one that never becomes ready", async () => {
      const { clock, start, share } = starting();
      const [ada, bob] = [start("ada"), start("bob")];
      await clock.advance(1);
      await ada.join("reconciler");
      expect(share(ada)).not.toEqual(KEYS);
      bob.kill();
      await clock.advance(2 * TTL_MS);
      expect(share(ada)).toEqual(KEYS);
    });

    it("says that nobody works on a share which is left to one that comes", async () => {
      const { clock, start, share } = starting();
      const [ada, bob] = [start("ada"), start("bob")];
      await clock.advance(1);
      await ada.join("reconciler");
      await clock.advance(1);
      expect(share(ada)).not.toEqual(KEYS);
      expect((await bob.prospect("reconciler")).isServed).toBe(false);
    });

    it("leaves nothing to one that starts where somebody works", async () => {
      const { clock, join, start, share } = starting();
      const ada = join("ada");
      await clock.advance(1);
      const bob = start("bob");
      const { isServed, willBeMine } = await bob.prospect("reconciler");
      expect(isServed).toBe(true);
      expect(share(ada)).toEqual(KEYS);
      await bob.join("reconciler");
      await clock.advance(1);
      expect(share(bob)).toEqual(KEYS.filter(willBeMine));
      expect([...share(ada), ...share(bob)].toSorted()).toEqual(KEYS.toSorted());
    });

    it("lets whoever asks wait no longer when this process leaves", async () => {
      const { store, start } = starting();
      store.setAway(true);
      const ada = start("ada");
      const asked = ada.prospect("reconciler");
      await ada.stop();
      await expect(asked).resolves.toMatchObject({ isServed: false });
    });
  });

  describe("of a process that is about to leave", () => {
    const stay = new AbortController().signal;
    const whether = (promise: Promise<void>) => {
      const seen = { isDone: false };
      void promise.then(() => {
        seen.isDone = true;
      });
      return seen;
    };

    it("leaves it its share until each of the others is prepared for what it gains", async () => {
      const { clock, join, share } = world();
      const [ada, bob, cyd] = [join("ada"), join("bob"), join("cyd")];
      await clock.advance(1);
      const bobs = share(bob);
      const prepared = { ada: Promise.withResolvers<void>(), cyd: Promise.withResolvers<void>() };
      const expected: Record<string, readonly string[]> = {};
      for (const [name, member] of Object.entries({ ada, cyd })) {
        member.onLeaving("reconciler", (prospect) => {
          expected[name] = KEYS.filter(prospect.willBeMine);
          expect(prospect.isServed).toBe(true);
          return prepared[name as "ada" | "cyd"].promise;
        });
      }
      const handedOver = whether(bob.handOver("reconciler", stay));
      await clock.advance(1);
      prepared.ada.resolve();
      await clock.advance(1);
      expect(share(bob)).toEqual(bobs);
      expect(handedOver.isDone).toBe(false);
      prepared.cyd.resolve();
      await clock.advance(1);
      expect(handedOver.isDone).toBe(true);
      expect(share(bob)).toEqual(bobs);
      await bob.stop();
      await clock.advance(1);
      expect({ ada: share(ada), cyd: share(cyd) }).toEqual(expected);
    });

    it("prepares once for it, and says so as long as it lives", async () => {
      const { clock, store, join } = world();
      const [ada, bob] = [join("ada"), join("bob")];
      await clock.advance(1);
      const prepare = vi.fn(async () => {});
      ada.onLeaving("reconciler", prepare);
      await bob.handOver("reconciler", stay);
      await clock.advance(3 * RENEW_MS);
      const said = async () => (await store.members.listLive(stay)).find(({ id }) => id === "ada")?.roles;
      expect(await said()).toEqual(["reconciler", "prepared:bob"]);
      expect(prepare).toHaveBeenCalledTimes(1);
      await bob.stop();
      await clock.advance(2 * RENEW_MS);
      expect(await said()).toEqual(["reconciler"]);
    });

    it("counts one that failed to prepare as prepared", async () => {
      const { clock, join } = world();
      const [ada, bob] = [join("ada"), join("bob")];
      await clock.advance(1);
      ada.onLeaving("reconciler", () => Promise.reject(new Error("nothing could be listed")));
      await expect(bob.handOver("reconciler", stay)).resolves.toBeUndefined();
    });

    it("waits for none that leaves too", async () => {
      const { clock, join } = world();
      const [ada, bob] = [join("ada"), join("bob")];
      await clock.advance(1);
      const both = Promise.all([ada.handOver("reconciler", stay), bob.handOver("reconciler", stay)]);
      await clock.advance(1);
      await expect(both).resolves.toHaveLength(2);
    });

    it("waits no longer than it may, for one that never says that it is prepared", async () => {
      const { clock, join } = world();
      const [, bob] = [join("ada"), join("bob")];
      await clock.advance(1);
      const limit = new AbortController();
      const handedOver = whether(bob.handOver("reconciler", limit.signal));
      await clock.advance(10 * RENEW_MS);
      expect(handedOver.isDone).toBe(false);
      limit.abort();
      await settle();
      expect(handedOver.isDone).toBe(true);
    });

    it("waits for nobody where it is alone, has no share, or cannot tell anybody", async () => {
      const { clock, store, join } = world();
      const [ada, bob] = [join("ada"), join("bob", [])];
      await clock.advance(1);
      await expect(bob.handOver("reconciler", stay)).resolves.toBeUndefined();
      await expect(ada.handOver("reconciler", stay)).resolves.toBeUndefined();
      const cyd = join("cyd");
      await clock.advance(1);
      store.setAway(true);
      await expect(cyd.handOver("reconciler", stay)).resolves.toBeUndefined();
    });
  });

  it("lets whoever joins a role wait no longer when this process leaves", async () => {
    const { store, join } = world();
    const ada = join("ada", []);
    await settle();
    store.setAway(true);
    const joined = ada.join("reconciler");
    await ada.stop();
    await expect(joined).resolves.toBeUndefined();
    await expect(ada.join("reconciler")).resolves.toBeUndefined();
  });

  it("gains all of its keys anew when it was silent for so long that others may have had them", async () => {
    const { clock, store, join, share } = world();
    const [ada] = [join("ada"), join("bob")];
    await clock.advance(RENEW_MS);
    const gains: (readonly string[])[] = [];
    ada.partition("reconciler").onChange(({ gained }) => void gains.push(KEYS.filter(gained)));
    store.setAway(true);
    await clock.advance(RENEW_MS);
    store.setAway(false);
    await clock.advance(RENEW_MS);
    expect(gains).toEqual([]);
    store.setAway(true);
    await clock.advance(2 * TTL_MS);
    store.setAway(false);
    await clock.advance(RENEW_MS);
    const all = new Set(gains.flat());
    expect(share(ada).every((key) => all.has(key))).toBe(true);
  });

  it("hands over at once when it stops", async () => {
    const { clock, join, share } = world();
    const [ada, bob] = [join("ada"), join("bob")];
    await clock.advance(RENEW_MS);
    await bob.stop();
    await clock.advance(RENEW_MS);
    expect(share(ada)).toEqual(KEYS);
  });

  it("keeps the share it knew while the database is away, however long", async () => {
    const { clock, store, join, share } = world();
    const [ada, bob] = [join("ada"), join("bob")];
    await clock.advance(RENEW_MS);
    const before = [share(ada), share(bob)];
    store.setAway(true);
    await clock.advance(10 * TTL_MS);
    expect([share(ada), share(bob)]).toEqual(before);
    store.setAway(false);
    await clock.advance(2 * RENEW_MS);
    expect([share(ada), share(bob)]).toEqual(before);
  });

  it("stops though the database is away", async () => {
    const { store, join } = world();
    const ada = join("ada");
    store.setAway(true);
    await expect(ada.stop()).resolves.toBeUndefined();
  });
});
