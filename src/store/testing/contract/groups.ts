import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { WorkspaceGroups } from "../../../domain/groups.ts";
import type { InstanceId, MoveId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import type { MovePhase } from "../../../domain/move.ts";
import type { RequestedMove } from "../../move/port.ts";
import { aDecision, anIntent, CLASS, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

const CUSTOMER = "class.argosy.dev/customer";
const STAGE = "class.argosy.dev/stage";
const of = (customer: string, more: Readonly<Record<string, string>> = {}): WorkspaceGroups => ({
  apart: { [CUSTOMER]: customer, ...more },
});
const UNTIL_COMMIT: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];
/** How often two are tried at once. */
const TRIES = 8;

export function describeGroups(world: () => World): void {
  /** A unit of a workspace in these groups. */
  const unitIn = async (namespace: string, groups?: WorkspaceGroups) => {
    const workspace = { ...anIntent({ namespace }).workspace, ...(groups === undefined ? {} : { groups }) };
    return world().unit((await world().record({ namespace, workspace })).applicationId);
  };
  const read = async (id: UnitId) => {
    const found = await world().store.placements.readUnit(id, soon());
    if (found === undefined) throw new Error(`there is no unit ${id}`);
    return found;
  };
  const assign = (workspaceId: WorkspaceId, groups: WorkspaceGroups) =>
    world().store.intents.assignGroups(
      { workspaceId, groups, decision: aDecision({ subject: workspaceId, verdict: "GROUPS_CHANGED" }) },
      soon(),
    );
  const tryPlace = async (id: UnitId, instanceId: InstanceId) => {
    const { unit } = await read(id);
    const placement = { unitId: id, rowVersion: unit.rowVersion, instanceId, ceiling: WIDE, decision: aDecision({ subject: id }) };
    return (await world().store.placements.commitFirstPlacement(placement, soon())).kind;
  };
  const moveOf = async (unitId: UnitId, to: InstanceId): Promise<RequestedMove> => ({
    ...{
      id: `move-of-${unitId}-to-${to}` as MoveId,
      unitId,
      to,
      epoch: (await read(unitId)).unit.epoch,
      kind: "voluntary",
      reason: "FORCED",
    },
    ...{ plan: undefined, reverses: undefined, isFailOver: false, actor: "otto", ceiling: WIDE, decision: aDecision({ subject: unitId }) },
  });
  const request = async (unitId: UnitId, to: InstanceId) => (await world().store.moves.request(await moveOf(unitId, to), soon())).kind;
  const listed = () => world().store.placements.listUnsettled({ limit: 10, after: "" }, soon());

  describe("workspaces that must be apart", () => {
    it("are never placed on one instance: of two values of a label, and of no other", async () => {
      const { addInstance } = world();
      const { id: here } = await addInstance();
      const { id: there } = await addInstance();
      const [a, b] = [await unitIn("a", of("a")), await unitIn("b", of("b"))];
      const [alike, free, other] = [
        await unitIn("alike", of("a", { [STAGE]: "test" })),
        await unitIn("free"),
        await unitIn("other", { apart: { [STAGE]: "live" } }),
      ];
      expect(await tryPlace(a.id, here)).toBe("placed");
      expect(await tryPlace(b.id, here)).toBe("full");
      expect((await read(b.id)).strangers).toEqual([{ instance: here, label: CUSTOMER, value: "a" }]);
      expect((await read(alike.id)).strangers).toEqual([]);
      expect(await tryPlace(alike.id, here)).toBe("placed");
      expect(await tryPlace(free.id, here)).toBe("placed");
      // One label of two is enough.
      expect(await tryPlace(other.id, here)).toBe("full");
      expect(await tryPlace(b.id, there)).toBe("placed");
      expect((await read(b.id)).workspace.groups).toEqual(of("b"));
      const { units } = await world().store.plans.readFacts(CLASS, millis(0), soon());
      expect(units.find(({ namespace }) => namespace === "b")?.groups).toEqual(of("b"));
      expect(units.find(({ namespace }) => namespace === "free")).not.toHaveProperty("groups");
    });

    it("never meet on one instance, whoever races", async () => {
      const { addInstance } = world();
      for (let index = 0; index < TRIES; index += 1) {
        const { id: here } = await addInstance();
        const units = [await unitIn(`a${index}`, of("a")), await unitIn(`b${index}`, of("b")), await unitIn(`c${index}`, of("c"))];
        const outcomes = await Promise.all(units.map(({ id }) => tryPlace(id, here)));
        expect(outcomes.sort()).toEqual(["full", "full", "placed"]);
      }
    });

    it("never meet by moves either, begun or not, and not before what moved away has ended", async () => {
      const { store, addInstance, place } = world();
      const [here, there, third] = [(await addInstance()).id, (await addInstance()).id, (await addInstance()).id];
      const [a, b] = [await unitIn("a", of("a")), await unitIn("b", of("b"))];
      await place(a.id, here);
      await place(b.id, there);
      expect(await request(b.id, here)).toBe("full");
      const move = await moveOf(a.id, third);
      expect(await store.moves.request(move, soon())).toEqual({ kind: "requested" });
      expect(await request(b.id, third)).toBe("full");
      await store.moves.begin(move.id, soon());
      for (const [index, from] of UNTIL_COMMIT.entries()) {
        const next = UNTIL_COMMIT[index + 1];
        if (next !== undefined) await store.moves.advance(move.id, { from, to: next, message: "" }, soon());
      }
      expect(await store.moves.commit(move.id, aDecision({ subject: a.id, verdict: "MOVED" }), soon())).toBe(true);
      // What is left of it on its former instance is being removed.
      expect((await read(b.id)).strangers.map(({ instance }) => instance)).toEqual([here, third].sort());
      expect(await request(b.id, here)).toBe("full");
      for (const [from, to] of [
        ["GRANT", "ACTIVATE"],
        ["ACTIVATE", "VERIFY"],
        ["VERIFY", "CLEANUP"],
        ["CLEANUP", "DONE"],
      ] as const)
        await store.moves.advance(move.id, { from, to, message: "" }, soon());
      expect((await store.moves.read(move.id, soon()))?.phase).toBe("DONE");
      expect(await request(b.id, here)).toBe("requested");
    });

    it("never meet where one is placed and the other one moves at the same time", async () => {
      const { addInstance, place } = world();
      for (let index = 0; index < TRIES; index += 1) {
        const [here, there] = [(await addInstance()).id, (await addInstance()).id];
        const [a, b] = [await unitIn(`a${index}`, of("a")), await unitIn(`b${index}`, of("b"))];
        await place(b.id, there);
        const [placed, moved] = await Promise.all([tryPlace(a.id, here), request(b.id, here)]);
        expect([placed === "placed", moved === "requested"].filter(Boolean)).toHaveLength(1);
      }
    });

    it("do not meet by a plan's move of what is not deployed yet", async () => {
      const { store, addInstance, place } = world();
      const [here, there] = [(await addInstance()).id, (await addInstance()).id];
      const [a, b] = [await unitIn("a", of("a")), await unitIn("b", of("b"))];
      await place(a.id, here);
      const epoch = await place(b.id, there);
      const move = {
        unitId: b.id,
        from: there,
        to: here,
        epoch,
        reason: "SHED",
        ceiling: WIDE,
        plan: "p" as never,
        decision: aDecision(),
      } as const;
      expect(await store.plans.commitMove(move, soon())).toEqual({ kind: "full" });
    });
  });

  describe("groups that labels give a workspace", () => {
    it("are notified and journaled once, and mark the units that live somewhere", async () => {
      const { store, deploy, notificationsOf } = world();
      const { unitId, workspaceId } = await deploy();
      const before = (await read(unitId)).unit;
      expect(await notificationsOf(() => assign(workspaceId, of("a")))).toEqual([`unit:${unitId}`]);
      expect(await read(unitId)).toMatchObject({
        workspace: { groups: of("a") },
        unit: { isRegrouped: true, rowVersion: before.rowVersion + 1 },
      });
      expect(await listed()).toEqual([unitId]);
      expect(await notificationsOf(() => assign(workspaceId, of("a")))).toEqual([]);
      expect(await store.decisions.list({ subject: workspaceId }, 10, soon())).toHaveLength(1);
      expect(await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon())).toMatchObject([{ groups: of("a") }]);
      await assign(workspaceId, { apart: {} });
      expect((await read(unitId)).workspace).not.toHaveProperty("groups");
      expect((await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, soon()))[0]).not.toHaveProperty("groups");
      await assign("nobody" as WorkspaceId, of("a"));
    });

    it("have a first placement that was decided before decided again", async () => {
      const { store, addInstance } = world();
      const { id: here } = await addInstance();
      const { id, rowVersion, workspaceId } = await unitIn("late");
      await assign(workspaceId, of("a"));
      expect((await read(id)).unit).not.toHaveProperty("isRegrouped");
      const placement = { unitId: id, rowVersion, instanceId: here, ceiling: WIDE, decision: aDecision({ subject: id }) };
      expect(await store.placements.commitFirstPlacement(placement, soon())).toEqual({ kind: "stale" });
      expect(await tryPlace(id, here)).toBe("placed");
    });

    it("leave the mark where somebody is from whom the unit must be apart, and take it away where nobody is", async () => {
      const { store, addInstance, place } = world();
      const [here, there] = [(await addInstance()).id, (await addInstance()).id];
      const [a, b] = [await unitIn("a", of("a")), await unitIn("b", of("a"))];
      await place(a.id, here);
      await place(b.id, here);
      await assign(b.workspaceId, of("b"));
      await store.placements.recordRegrouped(b.id, soon());
      expect(await listed()).toEqual([b.id]);
      const refusal = { decision: aDecision({ subject: b.id, verdict: "UNPLACEABLE" }), reason: "APART" };
      await store.placements.recordUnplaceable(b.id, refusal, soon());
      await store.placements.recordUnplaceable(b.id, refusal, soon());
      expect(await store.decisions.list({ subject: b.id, verdict: "UNPLACEABLE" }, 10, soon())).toHaveLength(1);
      const move = await moveOf(b.id, there);
      await store.moves.request(move, soon());
      expect(await listed()).toEqual([]);
      await store.moves.abort(move.id, { message: "", decision: aDecision() } as never, soon());
      expect(await listed()).toEqual([b.id]);
      await assign(b.workspaceId, of("a"));
      await store.placements.recordRegrouped(b.id, soon());
      expect(await listed()).toEqual([]);
      expect((await read(b.id)).unit).not.toHaveProperty("isRegrouped");
      await store.placements.recordRegrouped("nobody" as UnitId, soon());
    });

    it("keep the mark, or keep the other one away, where a group changes while somebody is placed beside it", async () => {
      const { store, addInstance, place } = world();
      for (let index = 0; index < TRIES; index += 1) {
        const { id: here } = await addInstance();
        const [a, b] = [await unitIn(`a${index}`, of("a")), await unitIn(`b${index}`, of("a"))];
        await place(b.id, here);
        const change = async () => {
          await assign(b.workspaceId, of("b"));
          await store.placements.recordRegrouped(b.id, soon());
        };
        const [placed] = await Promise.all([tryPlace(a.id, here), change()]);
        const isMarked = (await read(b.id)).unit.isRegrouped === true;
        expect({ placed, isMarked }).toEqual(placed === "placed" ? { placed, isMarked: true } : { placed: "full", isMarked: false });
      }
    });

    it("drop a move whose target they forbid by the time of its turn", async () => {
      const { store, addInstance, place } = world();
      const [here, there] = [(await addInstance()).id, (await addInstance()).id];
      const [a, b] = [await unitIn("a", of("a")), await unitIn("b", of("a"))];
      await place(a.id, here);
      await place(b.id, there);
      const move = await moveOf(b.id, here);
      expect(await store.moves.request(move, soon())).toEqual({ kind: "requested" });
      await assign(b.workspaceId, of("b"));
      expect(await store.moves.begin(move.id, soon())).toBe("dropped");
    });

    it("say where the others of one live, those with most of them first", async () => {
      const { addInstance, place } = world();
      const together = `${STAGE}=live`;
      const [here, there] = [(await addInstance()).id, (await addInstance()).id];
      for (const [index, at] of [here, there, there].entries()) await place((await unitIn(`t${index}`, { apart: {}, together })).id, at);
      await place((await unitIn("else", { apart: {}, together: `${STAGE}=test` })).id, here);
      const late = await unitIn("late", { apart: {}, together });
      expect((await read(late.id)).companions).toEqual([there, here]);
      expect((await read(late.id)).workspace.groups).toEqual({ apart: {}, together });
      expect((await read((await unitIn("free")).id)).companions).toEqual([]);
    });

    it("tell the watchdog what keeps an application's workspace from others", async () => {
      const { store, addInstance, place } = world();
      const { id: here } = await addInstance();
      for (const [name, groups] of [
        ["a", of("a")],
        ["free", undefined],
      ] as const)
        await place((await unitIn(name, groups)).id, here);
      const { owned } = await store.ownership.listOwned({ after: "", limit: 10 }, soon());
      expect(owned.map(({ argoName, apart }) => [argoName.split("-")[0], apart])).toEqual([
        ["a", { [CUSTOMER]: "a" }],
        ["free", undefined],
      ]);
    });
  });
}
