import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import { type Assignment, type Freeze, freezeSubject, type Hold, type Pin } from "../../../domain/directive.ts";
import type { WorkspaceId } from "../../../domain/ids.ts";
import { AT, aDecision, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

const SAID = { actor: 'otto "the" \u0000', reason: "because é\n{}", at: AT };
const PIN: Pin = { ...SAID, kind: "pool", pool: "standard" };
const HOLD: Hold = { ...SAID, until: millis(AT + 3_600_000) };

export function describeDirectives(world: () => World): void {
  const ordered = (subject: string) => aDecision({ subject, kind: "directive", verdict: "PINNED", rule: "COMMAND" });

  describe("orders about workspaces", () => {
    it("are kept each by itself, journaled, and notify every unit of the workspace", async () => {
      const { store, record, unit, notificationsOf } = world();
      const { id: unitId, workspaceId, rowVersion } = await unit((await record()).applicationId);
      expect(await store.directives.read(workspaceId, soon())).toEqual({ pin: undefined, hold: undefined });
      const decision = ordered(workspaceId);
      expect(await notificationsOf(() => store.directives.direct({ workspaceId, change: { pin: PIN }, decision }, soon()))).toEqual([
        `unit:${unitId}`,
      ]);
      await store.directives.direct({ workspaceId, change: { hold: HOLD }, decision }, soon());
      expect(await store.directives.read(workspaceId, soon())).toEqual({ pin: PIN, hold: HOLD });
      await store.directives.direct({ workspaceId, change: { pin: undefined }, decision }, soon());
      expect(await store.directives.read(workspaceId, soon())).toEqual({ pin: undefined, hold: HOLD });
      expect(await store.decisions.list({ subject: workspaceId }, 10, soon())).toEqual([decision, decision, decision]);
      expect(await store.placements.readUnit(unitId, soon())).toMatchObject({
        unit: { rowVersion: rowVersion + 3 },
        directive: { pin: undefined, hold: HOLD },
      });
    });

    it("give a workspace a class, which is listed with it and notified, and are taken back", async () => {
      const { store, record, unit, notificationsOf } = world();
      const { id: unitId, workspaceId } = await unit((await record()).applicationId);
      const assigned: Assignment = { ...SAID, class: "eu/shared/internal" };
      const direct = (change: { readonly assigned: Assignment | undefined }) =>
        store.directives.direct({ workspaceId, change, decision: ordered(workspaceId) }, soon());
      const known = async () =>
        (await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).map((one) => one.assigned);
      expect(await known()).toEqual([undefined]);
      expect(await notificationsOf(() => direct({ assigned }))).toEqual([`class:${workspaceId}`, `unit:${unitId}`]);
      await store.directives.direct({ workspaceId, change: { hold: HOLD }, decision: ordered(workspaceId) }, soon());
      expect(await store.directives.read(workspaceId, soon())).toEqual({ pin: undefined, hold: HOLD, assigned });
      expect(await known()).toEqual(["eu/shared/internal"]);
      await direct({ assigned: undefined });
      expect(await known()).toEqual([undefined]);
    });

    it("make a placement stale that was decided without them", async () => {
      const { store, record, unit, addInstance } = world();
      const { id: unitId, workspaceId, rowVersion } = await unit((await record()).applicationId);
      const { id: instanceId } = await addInstance();
      await store.directives.direct({ workspaceId, change: { pin: PIN }, decision: ordered(workspaceId) }, soon());
      const placement = { unitId, rowVersion, instanceId, ceiling: WIDE, decision: aDecision({ subject: unitId }) };
      expect(await store.placements.commitFirstPlacement(placement, soon())).toEqual({ kind: "stale" });
    });

    it("are refused for a workspace that is not there, and journal nothing then", async () => {
      const { store } = world();
      const workspaceId = "nobody" as WorkspaceId;
      const change = { workspaceId, change: { pin: PIN }, decision: ordered(workspaceId) };
      await expect(store.directives.direct(change, soon())).rejects.toMatchObject({ code: "store.workspace-gone" });
      expect(await store.decisions.list({}, 10, soon())).toEqual([]);
    });

    it("end with their workspace", async () => {
      const { store, record, unit, remove } = world();
      const intent = await record();
      const { workspaceId } = await unit(intent.applicationId);
      await store.directives.direct({ workspaceId, change: { pin: PIN }, decision: ordered(workspaceId) }, soon());
      await remove(intent);
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      expect(await store.directives.read(workspaceId, soon())).toEqual({ pin: undefined, hold: undefined });
    });
  });

  describe("freezes", () => {
    it("are made, replaced and dropped by name, and journaled", async () => {
      const { directives, decisions } = world().store;
      const once: Freeze = { ...SAID, actor: "otto", reason: "launch", name: "b", schedule: undefined, durationMs: 5 * 3_600_000 };
      const weekly: Freeze = { ...once, name: "a", schedule: "0 18 * * 5" };
      const decision = aDecision({ subject: freezeSubject("b"), kind: "directive", verdict: "FROZEN", rule: "COMMAND" });
      await directives.putFreeze(once, decision, soon());
      await directives.putFreeze(weekly, decision, soon());
      await directives.putFreeze({ ...once, durationMs: 1 }, decision, soon());
      expect(await directives.listFreezes(soon())).toEqual([weekly, { ...once, durationMs: 1 }]);
      expect(await directives.dropFreeze("b", { ...decision, verdict: "THAWED" }, soon())).toBe(true);
      expect(await directives.dropFreeze("b", { ...decision, verdict: "THAWED" }, soon())).toBe(false);
      expect(await directives.listFreezes(soon())).toEqual([weekly]);
      expect((await decisions.list({ subject: freezeSubject("b") }, 10, soon())).map(({ verdict }) => verdict)).toEqual([
        "THAWED",
        "FROZEN",
        "FROZEN",
        "FROZEN",
      ]);
    });
  });
}
