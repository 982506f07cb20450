import { describe, expect, it } from "vitest";
import type { MoveId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { loadVector, ZERO_LOAD } from "../../../domain/load.ts";
import type { RequestedMove } from "../../move/port.ts";
import type { SplitChange, SplitRow } from "../../split/port.ts";
import { AT, aDecision, anEngineStatus, aSpec, aStatus, CLASS, WIDE } from "../builders.ts";
import { soon, type World } from "../world.ts";

export function describeSplits(world: () => World): void {
  const NOTHING = loadVector(() => 0);
  const to = (environment: string) => ({ spec: { ...aSpec(), destination: { environment } } });
  const list = async (beyond = WIDE): Promise<readonly SplitRow[]> => world().store.splits.list(CLASS, beyond, soon());
  const partOf = async (row: { readonly applicationId: Parameters<World["unit"]>[0] }) => (await world().unit(row.applicationId)).bucket;
  let count = 0;
  const changeOf = ({ workspaceId, units }: SplitRow, over: Partial<SplitChange> = {}): SplitChange => {
    count += 1;
    return {
      workspaceId,
      seen: units.map(({ id, rowVersion }) => ({ id, rowVersion })),
      ...{ parts: 2, openPart: 1, roomySince: undefined, deal: { "cluster a": 0, "cluster b": 1 }, decision: undefined },
      newUnits: [{ id: `unit-of-part-${count}` as UnitId, part: 1 }],
      ...over,
    };
  };

  describe("workspaces that are split", () => {
    it("are listed once they are large, with parts, buckets and applications", async () => {
      const { store, record } = world();
      const a = await record(to("a"));
      await record({ namespace: "small" });
      expect(await list()).toEqual([]);
      expect(await list({ ...WIDE, applications: 1_000 })).toEqual([]);
      const [row, ...others] = await list({ ...WIDE, applications: 999 });
      expect(others).toHaveLength(1);
      const mine = [row, ...others].find((each) => each?.applications[0]?.id === a.applicationId) as SplitRow;
      expect(mine).toMatchObject({ parts: 1, openPart: 0, roomySince: undefined, deal: {}, units: [{ bucket: 0 }] });
      expect(mine.applications).toEqual([
        { id: a.applicationId, name: a.name, part: 0, environment: "a", namespace: "", resources: undefined, hasClusterScoped: false },
      ]);
      expect(await store.splits.list("us/shared/public", NOTHING, soon())).toEqual([]);
    });

    it("are cut before anything of them was placed: applications follow their buckets, loads and parts are reckoned anew", async () => {
      const { store, record, notificationsOf } = world();
      const [a, b, other] = [await record(to("a")), await record(to("b")), await record(to("b"))];
      const [row] = await list(NOTHING);
      const decision = aDecision({ subject: row?.units[0]?.id ?? "", verdict: "SPLIT" });
      const change = changeOf(row as SplitRow, { decision, roomySince: AT });
      const notifications = await notificationsOf(async () => expect(await store.splits.commit(change, soon())).toBe(true));
      const units = await store.placements.readUnitsOf(change.workspaceId, soon());
      expect(notifications).toEqual(units.map(({ id }) => `unit:${id}`).sort());
      expect(await Promise.all([a, b, other].map(partOf))).toEqual([0, 1, 1]);
      const [after] = await list();
      expect(after).toMatchObject({ parts: 2, openPart: 1, roomySince: AT, deal: change.deal });
      expect(after?.units.map(({ load }) => load)).toEqual([
        { ...ZERO_LOAD, applications: 1_000 },
        { ...ZERO_LOAD, applications: 2_000 },
      ]);
      expect(after?.units.every(({ owner, epoch }) => owner === undefined && epoch === 0)).toBe(true);
      expect(await store.decisions.list({ subject: decision.subject }, 1, soon())).toEqual([decision]);
    });

    it("keep what was placed where it is, and new applications go to the part of their bucket, or to the open one", async () => {
      const { store, deploy, record, again } = world();
      const deployed = await deploy(to("b"));
      const [row] = await list(NOTHING);
      expect(await store.splits.commit(changeOf(row as SplitRow), soon())).toBe(true);
      expect(await partOf(deployed)).toBe(0);
      expect(await Promise.all([await record(to("a")), await record(to("b")), await record(to("c"))].map(partOf))).toEqual([0, 1, 1]);
      await again(deployed.intent, { generation: 2, spec: { ...aSpec({ path: "other" }), destination: { environment: "b" } } });
      expect(await partOf(deployed)).toBe(0);
    });

    it("are cut by groups of namespaces where a cluster was", async () => {
      const { store, record } = world();
      await record(to("a"));
      const [row] = await list(NOTHING);
      const deal = Object.fromEntries(Array.from({ length: 16 }, (_, group) => [`cluster big group ${group}`, group % 2]));
      await store.splits.commit(changeOf(row as SplitRow, { deal, openPart: 0 }), soon());
      const parts = new Set<number>();
      for (let index = 0; index < 12; index += 1)
        parts.add(await partOf(await record({ spec: { ...aSpec(), destination: { environment: "big", namespace: `n${index}` } } })));
      expect(parts).toEqual(new Set([0, 1]));
    });

    it.each(["a\0b", "a\ud800b", "\\u0000", "\\\ud83d\ude00"])("are planned and cut whatever names are made of: %j", async (odd) => {
      const { store, deploy, record, unit } = world();
      const { applicationId } = await record(to(odd));
      const deployed = await deploy({ namespace: "other" });
      const [resource] = anEngineStatus().resources;
      const status = { ...anEngineStatus(), resources: [{ ...(resource as NonNullable<typeof resource>), name: odd }] };
      await store.statuses.recordStatuses([aStatus(deployed, { status })], soon());
      const rows = await list(NOTHING);
      const applications = rows.flatMap((row) => row.applications);
      expect(applications.find(({ id }) => id === deployed.applicationId)).toMatchObject({ hasClusterScoped: false });
      const row = rows.find((each) => each.applications[0]?.id === applicationId);
      expect(row?.applications).toMatchObject([{ id: applicationId, namespace: "" }]);
      expect(await store.splits.commit(changeOf(row as SplitRow), soon())).toBe(true);
      expect((await unit(applicationId)).bucket).toBe(0);
    });

    it("are not changed by whoever saw other parts", async () => {
      const { store, record, unit, addInstance, place } = world();
      const a = await record(to("a"));
      const [row] = await list(NOTHING);
      await place((await unit(a.applicationId)).id, (await addInstance()).id);
      expect(await store.splits.commit(changeOf(row as SplitRow), soon())).toBe(false);
      expect(await store.splits.commit({ ...changeOf(row as SplitRow), workspaceId: "nobody" as WorkspaceId }, soon())).toBe(false);
      expect(await list()).toEqual([]);
    });

    it("never meet on one instance, whoever races", async () => {
      const { store, record, unit, addInstance, place } = world();
      const [a, b] = [await record(to("a")), await record(to("b"))];
      const [row] = await list(NOTHING);
      await store.splits.commit(changeOf(row as SplitRow), soon());
      const [first, second] = [await unit(a.applicationId), await unit(b.applicationId)];
      const [here, there] = [(await addInstance()).id, (await addInstance()).id];
      const ask = (at: typeof first) =>
        store.placements.commitFirstPlacement(
          { unitId: at.id, rowVersion: at.rowVersion, instanceId: here, ceiling: WIDE, decision: aDecision({ subject: at.id }) },
          soon(),
        );
      const outcomes = await Promise.all([ask(first), ask(second)]);
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["full", "placed"]);
      const loser = outcomes[0]?.kind === "placed" ? second : first;
      expect((await store.placements.readUnit(loser.id, soon()))?.siblings).toEqual([here]);
      await place(loser.id, there);
    });

    it("never meet on one instance by moves either, begun or not", async () => {
      const { store, record, unit, addInstance, place } = world();
      const [a, b] = [await record(to("a")), await record(to("b"))];
      const [row] = await list(NOTHING);
      await store.splits.commit(changeOf(row as SplitRow), soon());
      const [first, second] = [await unit(a.applicationId), await unit(b.applicationId)];
      const [here, there, third] = [(await addInstance()).id, (await addInstance()).id, (await addInstance()).id];
      const epochs = { [first.id]: await place(first.id, here), [second.id]: await place(second.id, there) };
      const move = ({ id }: typeof first, target: typeof third): RequestedMove => ({
        ...{ id: `move-of-${id}` as MoveId, unitId: id, to: target, epoch: epochs[id] ?? 0, kind: "voluntary", reason: "FORCED" },
        ...{ plan: undefined, reverses: undefined, isFailOver: false, actor: "otto", ceiling: WIDE },
        decision: aDecision({ subject: id }),
      });
      expect(await store.moves.request(move(second, here), soon())).toEqual({ kind: "full" });
      expect(await store.moves.request(move(first, third), soon())).toEqual({ kind: "requested" });
      expect((await store.placements.readUnit(second.id, soon()))?.siblings).toEqual([here, third].sort());
      expect(await store.moves.request(move(second, third), soon())).toEqual({ kind: "full" });
      await store.moves.begin(move(first, third).id, soon());
      expect(await store.moves.request(move(second, third), soon())).toEqual({ kind: "full" });
      const given = { message: "enough", decision: aDecision({ subject: first.id }) };
      expect(await store.moves.abort(move(first, third).id, given, soon())).toBe(true);
      expect(await store.moves.advance(move(first, third).id, { from: "ABORT", to: "ABORTED", message: "" }, soon())).toBe(true);
      expect(await store.moves.request(move(second, third), soon())).toEqual({ kind: "requested" });
    });

    it("are one unit again when the parts that were never placed are given up", async () => {
      const { store, record } = world();
      const [a, b] = [await record(to("a")), await record(to("b"))];
      const [row] = await list(NOTHING);
      await store.splits.commit(changeOf(row as SplitRow), soon());
      const [split] = await list();
      const change = changeOf(split as SplitRow, { parts: 1, openPart: 0, deal: { "cluster a": 0, "cluster b": 0 }, newUnits: [] });
      expect(await store.splits.commit(change, soon())).toBe(true);
      expect(await Promise.all([a, b].map(partOf))).toEqual([0, 0]);
      expect(await store.placements.readUnitsOf(change.workspaceId, soon())).toMatchObject([{ bucket: 0, load: { applications: 2_000 } }]);
      expect(await list()).toEqual([]);
    });

    it("end as others do, with all their parts", async () => {
      const { store, record, remove } = world();
      const [a, b] = [await record(to("a")), await record(to("b"))];
      const [row] = await list(NOTHING);
      await store.splits.commit(changeOf(row as SplitRow), soon());
      await remove(a);
      await remove(b);
      await store.intents.recordWorkspaceEnds([(row as SplitRow).workspaceId], soon());
      expect(await store.placements.readUnitsOf((row as SplitRow).workspaceId, soon())).toEqual([]);
      expect(await list(NOTHING)).toEqual([]);
    });
  });
}
