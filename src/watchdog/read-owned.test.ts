import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import { systemClock } from "../runtime/clock.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import type { OwnershipStore } from "../store/port.ts";
import { aDecision, aStatus } from "../store/testing/builders.ts";
import { createWorld, type Deployed, eventually, soon, type World } from "../store/testing/world.ts";
import { createOwnedRows, type OwnedRows } from "./read-owned.ts";

const NOTHING = { units: [], argoNames: [] };
const IN_TURN = 2_000;

/** The same without what is read in turn, which would make up for what is missed. */
const withoutTurns = (ownership: OwnershipStore): OwnershipStore => ({
  ...ownership,
  listOwned: async (page, signal) => (page.limit === IN_TURN ? { owned: [], next: "" as never } : ownership.listOwned(page, signal)),
});

describe("the rows that the watchdog keeps", () => {
  let store: MemoryStore;
  let world: World;
  let rows: OwnedRows;
  let changed: OwnershipStore;
  /** What was asked for: pages, and rows by what they are chosen by. */
  let asked: string[];
  let isBroken: boolean;
  /** Changes of rows that nobody is notified of: what is said of those applications. */
  let silently: Map<string, { readonly isMoving: boolean }>;
  beforeEach(async () => {
    store = createMemoryStore({ clock: systemClock });
    world = createWorld(store);
    [asked, isBroken, silently] = [[], false, new Map()];
    changed = {
      async listOwned(page, signal) {
        asked.push(`${page.limit} after ${page.after}`);
        const { owned, next } = await store.ownership.listOwned(page, signal);
        return { owned: owned.map((row) => ({ ...row, ...silently.get(row.id) })), next };
      },
      async readOwned(chosen, signal) {
        const { applications, units, argoNames } = chosen;
        if (isBroken) throw new UnavailableError("reading", { code: "store.unavailable" });
        asked.push([applications, units, argoNames].map((all) => all.length).join(" "));
        return (await store.ownership.readOwned(chosen, signal)).map((row) => ({ ...row, ...silently.get(row.id) }));
      },
    };
    rows = createOwnedRows({ ownership: changed, changes: store.changes });
  });
  const truth = async () => (await store.ownership.listOwned({ after: "", limit: 1_000_000 }, soon())).owned;
  const read = async (inDoubt = NOTHING as Parameters<OwnedRows["read"]>[0]) =>
    [...(await rows.read(inDoubt, soon())).rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  /** Has read everything, and again since it listens. */
  const settle = async () => {
    for (let count = 0; count < 2; count += 1) await read();
    asked.length = 0;
  };
  const hasStood = (id: string, all: Awaited<ReturnType<typeof read>>) => all.find((row) => row.id === id)?.hasStood;
  const isMoving = (id: string, all: Awaited<ReturnType<typeof read>>) => all.find((row) => row.id === id)?.isMoving;

  it("are read once, and afterwards as far as they have changed, with two thousand in turn", async () => {
    const [a, b] = [await world.deploy({ namespace: "a" }), await world.deploy({ namespace: "b" })];
    await settle();
    expect(await read()).toEqual(await truth());
    expect(asked).toEqual(["2000 after "]);
    await store.statuses.recordStatuses([aStatus(a)], soon());
    await world.remove(b.intent);
    asked.length = 0;
    expect(await read()).toEqual(await truth());
    expect(asked).toEqual(["2 0 0", "2000 after "]);
    // One that is going may be gone; a status of one that has stood says nothing new.
    await store.statuses.recordStatuses([aStatus(a, { hash: "another" })], soon());
    asked.length = 0;
    expect(await read()).toEqual(await truth());
    expect(asked).toEqual(["1 0 0", "2000 after "]);
  });

  it("are read again where they are in doubt, whoever changed them", async () => {
    const [a, b] = [await world.deploy({ namespace: "a" }), await world.deploy({ namespace: "b" })];
    await settle();
    const { argoName } = await world.application(b.applicationId);
    for (const { applicationId } of [a, b]) silently.set(applicationId, { isMoving: true });
    const all = await read({ units: [a.unitId], argoNames: [argoName] });
    expect([isMoving(a.applicationId, all), isMoving(b.applicationId, all)]).toEqual([true, true]);
    expect(asked[0]).toBe("2 1 1");
  });

  it("are read in turn, so that a change that nobody is notified of is found", async () => {
    const all: Deployed[] = [];
    const { id: instanceId } = await world.addInstance();
    for (let index = 0; index < 2_500; index += 1) {
      const { applicationId } = await world.record({ namespace: `n-${index}` });
      const { id: unitId, workspaceId } = await world.unit(applicationId);
      all.push({ applicationId, unitId, workspaceId, instanceId } as Deployed);
    }
    await settle();
    for (const { unitId } of all) await world.place(unitId, instanceId);
    await settle();
    const ids = all.map(({ applicationId }) => applicationId).sort();
    const changed = ids.at(-1) ?? "";
    silently.set(changed, { isMoving: true });
    const found: unknown[] = [];
    for (let count = 0; count < 2; count += 1) found.push(isMoving(changed, await read()));
    expect(found).toContain(true);
    expect(asked).toEqual(expect.arrayContaining(["2000 after ", `2000 after ${ids[1_999]}`]));
  });

  it("are all read again once notifications may have been lost, and while none can come", async () => {
    await world.deploy({ namespace: "a" });
    await settle();
    store.setAway(true);
    await expect(read()).rejects.toMatchObject({ code: "store.unavailable" });
    store.setAway(false);
    asked.length = 0;
    await read();
    expect(asked).toEqual(["5000 after "]);
    await settle();
    const changes = { ...store.changes, isConnected: () => false };
    rows = createOwnedRows({ ownership: store.ownership, changes });
    await read();
    await world.deploy({ namespace: "b" });
    expect(await read()).toEqual(await truth());
  });

  it("are all read again after a reading that failed", async () => {
    const deployed = await world.deploy({ namespace: "a" });
    rows = createOwnedRows({ ownership: withoutTurns(changed), changes: store.changes });
    await settle();
    await store.statuses.recordStatuses([aStatus(deployed)], soon());
    isBroken = true;
    await expect(read({ ...NOTHING, units: [deployed.unitId] })).rejects.toBeInstanceOf(UnavailableError);
    isBroken = false;
    expect(hasStood(deployed.applicationId, await read())).toBe(true);
  });

  it("are those of a unit where that is what has changed", async () => {
    const { unitId, workspaceId, applicationId } = await world.deploy({ namespace: "a" });
    rows = createOwnedRows({ ownership: withoutTurns(changed), changes: store.changes });
    await settle();
    const groups = { apart: { customer: "a" } };
    await store.intents.assignGroups({ workspaceId, groups, decision: aDecision({ subject: unitId }) }, soon());
    expect(await read()).toMatchObject([{ id: applicationId, apart: groups.apart }]);
  });

  it("are forgotten, and nothing is listened to", async () => {
    const deployed = await world.deploy({ namespace: "a" });
    const ended = vi.fn();
    const subscribe: MemoryStore["changes"]["subscribe"] = (listener) => {
      const end = store.changes.subscribe(listener);
      return () => {
        ended();
        end();
      };
    };
    rows = createOwnedRows({ ownership: changed, changes: { ...store.changes, subscribe } });
    await settle();
    rows.forget();
    expect(ended).toHaveBeenCalledOnce();
    await store.statuses.recordStatuses([aStatus(deployed)], soon());
    expect(await read()).toEqual(await truth());
    expect(asked).toEqual(["5000 after "]);
  });

  it("are those of the database, whatever happens between two readings", async () => {
    const kinds = fc.constantFrom("deploy", "status", "remove", "forget", "place", "read");
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kinds, fc.nat(9)), { maxLength: 25 }), async (steps) => {
        const own = createMemoryStore({ clock: systemClock });
        const ours = createWorld(own);
        const kept = createOwnedRows({ ...own, ownership: withoutTurns(own.ownership) });
        const all: Deployed[] = [];
        let placed = 0;
        for (const [kind, which] of steps) {
          const one = all[which % Math.max(1, all.length)];
          if (kind === "deploy") all.push(await ours.deploy({ namespace: `n-${which}-${all.length}` }));
          else if (kind === "read") await kept.read(NOTHING, soon());
          else if (kind === "place") {
            placed += 1;
            const { applicationId } = await ours.record({ namespace: `w-${placed}` });
            const unit = await ours.unit(applicationId);
            if (which % 2 === 0) await ours.place(unit.id, (await ours.addInstance()).id);
          } else if (one !== undefined && kind === "status") await own.statuses.recordStatuses([aStatus(one)], soon());
          else if (one !== undefined && kind === "remove") await ours.remove(one.intent);
          else if (one !== undefined && kind === "forget") await own.shards.forgetApplications([one.applicationId], soon());
        }
        // Notifications come after their commits.
        await Promise.resolve();
        await eventually(async () => {
          const found = [...(await kept.read(NOTHING, soon())).rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
          expect(found).toEqual((await own.ownership.listOwned({ after: "", limit: 1_000 }, soon())).owned);
        });
      }),
      { numRuns: 50 },
    );
  });
});
