import { describe, expect, it } from "vitest";
import { millis } from "../../../domain/clock.ts";
import type { InstanceId, MoveId, PlanId, UnitId } from "../../../domain/ids.ts";
import type { MovePhase } from "../../../domain/move.ts";
import { givenUpBy, type MoveMessage, TAKEN_ON, worse } from "../../../domain/move-messages.ts";
import { PHASES } from "../../../domain/move-phases.ts";
import type { RequestedMove } from "../../move/port.ts";
import { aClaim, aConnection, aDecision, anIntent, anObject, aSpec, aStatus, CLASS, WIDE } from "../builders.ts";
import { type Deployed, soon, type World } from "../world.ts";

const FORWARD: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];
const LATER: readonly MovePhase[] = ["GRANT", "ACTIVATE", "VERIFY", "CLEANUP"];

export function describeMoves(world: () => World): void {
  const requestOf = (deployed: Pick<Deployed, "unitId" | "epoch">, to: InstanceId, over: Partial<RequestedMove> = {}): RequestedMove => ({
    ...{
      id: `move-of-${deployed.unitId}` as MoveId,
      unitId: deployed.unitId,
      to,
      epoch: deployed.epoch,
      kind: "voluntary",
      reason: "FORCED",
    },
    ...{ plan: undefined, reverses: undefined, isFailOver: false, actor: "otto", ceiling: WIDE },
    decision: aDecision({ subject: deployed.unitId, verdict: "MOVE_REQUESTED", rule: "COMMAND" }),
    ...over,
  });
  const read = async (id: MoveId) => await world().store.moves.read(id, soon());
  /** A unit whose move to another instance has begun. */
  const begun = async (namespace = "team") => {
    const { store, deploy, addInstance } = world();
    const deployed = await deploy({ namespace });
    const { id: to } = await addInstance();
    const requestedMove = requestOf(deployed, to);
    expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "requested" });
    expect(await store.moves.begin(requestedMove.id, soon())).toBe("begun");
    return { deployed, to, id: requestedMove.id, toEpoch: (await read(requestedMove.id))?.toEpoch ?? 0 };
  };
  /** Goes on to a phase before GRANT. */
  const reach = async (id: MoveId, phase: MovePhase) => {
    for (const [index, from] of FORWARD.entries()) {
      if (from === phase) return;
      const to = FORWARD[index + 1] as MovePhase;
      expect(await world().store.moves.advance(id, { from, to, message: "" }, soon())).toBe(true);
    }
  };
  const committed = async () => {
    const move = await begun();
    await reach(move.id, "COMMIT");
    expect(await world().store.moves.commit(move.id, aDecision({ subject: move.deployed.unitId, verdict: "MOVED" }), soon())).toBe(true);
    return move;
  };

  describe("a move that is asked for", () => {
    it("keeps that nobody goes to its source", async () => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      const requestedMove = requestOf(deployed, to, { kind: "evacuation", isFailOver: true });
      expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "requested" });
      expect(await read(requestedMove.id)).toMatchObject({ kind: "evacuation", isFailOver: true });
      expect((await store.moves.list({ unitId: deployed.unitId }, 1, soon())).map(({ isFailOver }) => isFailOver)).toEqual([true]);
    });

    it("waits for its turn without an epoch and leaves the unit as it is", async () => {
      const { store, deploy, addInstance, unit } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      const before = await unit(deployed.applicationId);
      const requestedMove = requestOf(deployed, to);
      expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "requested" });
      const { at } = requestedMove.decision;
      expect(await read(requestedMove.id)).toEqual({
        ...{
          id: requestedMove.id,
          unitId: deployed.unitId,
          from: deployed.instanceId,
          to,
          fromEpoch: deployed.epoch,
          toEpoch: 0,
          phase: "WAITING",
        },
        ...{
          phaseSince: at,
          kind: "voluntary",
          reason: "FORCED",
          plan: undefined,
          reverses: undefined,
          isFailOver: false,
          actor: "otto",
          createdAt: at,
        },
        ...{ endedAt: undefined, message: "", messageCode: undefined, baseline: [], marks: [{ phase: "WAITING", at }] },
      });
      expect(await unit(deployed.applicationId)).toEqual(before);
      expect(await store.decisions.list({ subject: deployed.unitId }, 1, soon())).toEqual([requestedMove.decision]);
      expect(await store.shards.listActing(to, soon())).toEqual([]);
    });

    it("is one at a time for a unit, and the same request again is the same move", async () => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      const requestedMove = requestOf(deployed, to);
      await store.moves.request(requestedMove, soon());
      expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "requested" });
      expect(await store.moves.request({ ...requestedMove, id: "another" as MoveId }, soon())).toEqual({
        kind: "moving",
        id: requestedMove.id,
      });
      expect(await store.moves.list({}, 10, soon())).toHaveLength(1);
    });

    it.each([
      ["of another epoch", { epoch: 99 }, "stale"],
      ["that is not there", { unitId: "nobody" as UnitId }, "stale"],
      ["to an instance that is not there", { to: "nowhere" as InstanceId }, "full"],
      ["to an instance without room", { ceiling: { ...WIDE, applications: 999 } }, "full"],
    ] as const)("is refused for a unit %s", async (_what, over, kind) => {
      const { store, deploy, addInstance } = world();
      const requestedMove = { ...requestOf(await deploy(), (await addInstance()).id), ...over };
      expect(await store.moves.request(requestedMove, soon())).toEqual({ kind });
      expect(await store.moves.list({}, 10, soon())).toEqual([]);
    });

    it("is refused to where the unit lives, and to an instance that takes nothing", async () => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      expect(await store.moves.request(requestOf(deployed, deployed.instanceId), soon())).toEqual({ kind: "stale" });
      const { id } = await addInstance({ state: "DRAINING" });
      expect(await store.moves.request(requestOf(deployed, id), soon())).toEqual({ kind: "full" });
    });

    it("has room kept for it: what waits counts at the target", async () => {
      const { store, deploy, addInstance } = world();
      const { id: to } = await addInstance();
      const ceiling = { ...WIDE, applications: 1_500 };
      const first = await deploy({ namespace: "one" });
      expect(await store.moves.request(requestOf(first, to, { ceiling }), soon())).toEqual({ kind: "requested" });
      const second = await deploy({ namespace: "two" });
      expect(await store.moves.request(requestOf(second, to, { ceiling }), soon())).toEqual({ kind: "full" });
      await store.moves.abort(`move-of-${first.unitId}` as MoveId, { message: "", decision: aDecision() }, soon());
      expect(await store.moves.request(requestOf(second, to, { ceiling }), soon())).toEqual({ kind: "requested" });
    });

    it("has an entry kept for it where each workspace has one", async () => {
      const { store, deploy, addInstance } = world();
      const { id: to } = await addInstance({ entries: "per-workspace" });
      const ceiling = { ...WIDE, clusterEntries: 1 };
      const first = await deploy({ namespace: "one" });
      expect(await store.moves.request(requestOf(first, to, { ceiling }), soon())).toEqual({ kind: "requested" });
      const second = await deploy({ namespace: "two" });
      expect(await store.moves.request(requestOf(second, to, { ceiling }), soon())).toEqual({ kind: "full" });
      expect(await store.moves.request(requestOf(second, to, { ceiling: { ...WIDE, clusterEntries: 2 } }), soon())).toEqual({
        kind: "requested",
      });
    });

    it("keeps moves without a hand-over away", async () => {
      const { store, deploy, addInstance } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      await store.moves.request(requestOf(deployed, to), soon());
      const move = {
        unitId: deployed.unitId,
        from: deployed.instanceId,
        to,
        epoch: deployed.epoch,
        reason: "SHED",
        ceiling: WIDE,
      } as const;
      expect(await store.plans.commitMove({ ...move, plan: "p" as never, decision: aDecision() }, soon())).toEqual({ kind: "stale" });
    });
  });

  it("a workspace that ended is not forgotten before the move of its unit has ended; one that waits goes with it", async () => {
    const { store, remove, deploy } = world();
    const end = async ({ workspaceId, intent, applicationId }: Deployed) => {
      await store.intents.recordWorkspaceEnds([workspaceId], soon());
      await remove(intent);
      await store.shards.forgetApplications([applicationId], soon());
      return store.shards.forgetWorkspace(workspaceId, soon());
    };
    const { deployed, id, to } = await begun();
    expect(await end(deployed)).toBe(false);
    expect(await store.moves.abort(id, { message: "", decision: aDecision() }, soon())).toBe(true);
    expect(await store.shards.forgetWorkspace(deployed.workspaceId, soon())).toBe(false);
    expect(await store.moves.advance(id, { from: "ABORT", to: "ABORTED", message: "" }, soon())).toBe(true);
    expect(await store.shards.forgetWorkspace(deployed.workspaceId, soon())).toBe(true);
    const waiting = await deploy({ namespace: "waiting" });
    expect(await store.moves.request(requestOf(waiting, to), soon())).toEqual({ kind: "requested" });
    expect(await end(waiting)).toBe(true);
    expect(await store.moves.list({}, 10, soon())).toEqual([]);
  });

  it.each(LATER)("a move in %s ends with a fail-over of its unit from where it brought that, in one transaction", async (phase) => {
    const { store, addInstance, unit, notificationsOf } = world();
    const { id, deployed, to, toEpoch } = await committed();
    for (const [index, from] of LATER.entries()) {
      if (from === phase) break;
      await store.moves.advance(id, { from, to: LATER[index + 1] as MovePhase, message: "" }, soon());
    }
    const requestedMove = requestOf({ unitId: deployed.unitId, epoch: toEpoch }, (await addInstance()).id, {
      id: "next" as MoveId,
      isFailOver: true,
    });
    const before = [await read(id), await unit(deployed.applicationId)];
    const moving = { kind: "moving", id };
    for (const over of [{ isFailOver: false }, { epoch: deployed.epoch }, { to }])
      expect(await store.moves.request({ ...requestedMove, ...over }, soon())).toEqual(moving);
    expect(await store.moves.request({ ...requestedMove, ceiling: { ...WIDE, applications: 999 } }, soon())).toEqual({ kind: "full" });
    expect([await read(id), await unit(deployed.applicationId)]).toEqual(before);
    const notifications = await notificationsOf(async () =>
      expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "requested" }),
    );
    const freed = phase === "CLEANUP" ? [] : [`application:${deployed.applicationId}`, `unit:${deployed.unitId}`];
    expect([...notifications].sort()).toEqual([`move:${id}`, `move:${requestedMove.id}`, ...freed].sort());
    expect(await read(id)).toMatchObject({ phase: "REDIRECTED", message: TAKEN_ON, endedAt: expect.any(Number) });
    expect(await unit(deployed.applicationId)).toMatchObject({ owner: to, epoch: toEpoch, phase: "IDLE" });
    expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "requested" });
    expect(await store.moves.begin(requestedMove.id, soon())).toBe("begun");
    expect(await read(requestedMove.id)).toMatchObject({ from: to, fromEpoch: toEpoch, phase: "PREPARE" });
  });

  it.each(FORWARD)("a move in %s is not ended by a fail-over: there it can be given up", async (phase) => {
    const { store, addInstance } = world();
    const { id, deployed } = await begun();
    await reach(id, phase);
    const { id: to } = await addInstance();
    for (const epoch of [deployed.epoch, (await read(id))?.toEpoch ?? 0]) {
      const requestedMove = requestOf({ unitId: deployed.unitId, epoch }, to, { id: "next" as MoveId, isFailOver: true });
      expect(await store.moves.request(requestedMove, soon())).toEqual({ kind: "moving", id });
    }
    expect(await read(id)).toMatchObject({ phase });
  });

  describe("a move that begins", () => {
    it("takes an epoch of the global sequence and the unit, and tells", async () => {
      const { store, deploy, addInstance, unit, notificationsOf } = world();
      const deployed = await deploy();
      const { id: to } = await addInstance();
      const requestedMove = requestOf(deployed, to);
      await store.moves.request(requestedMove, soon());
      const notifications = await notificationsOf(() => store.moves.begin(requestedMove.id, soon()));
      expect(notifications).toEqual([`move:${requestedMove.id}`, `unit:${deployed.unitId}`]);
      const move = await read(requestedMove.id);
      expect(move).toMatchObject({ phase: "PREPARE", toEpoch: deployed.epoch + 1, fromEpoch: deployed.epoch });
      expect(move?.marks.map(({ phase }) => phase)).toEqual(["WAITING", "PREPARE"]);
      expect(await unit(deployed.applicationId)).toMatchObject({ phase: "MOVING", owner: deployed.instanceId, epoch: deployed.epoch });
      expect(await store.moves.begin(requestedMove.id, soon())).toBe("stale");
      for (const instance of [to, deployed.instanceId]) expect(await store.shards.listActing(instance, soon())).toEqual([deployed.unitId]);
    });

    it("waits while an application of the unit is being deleted (I6)", async () => {
      const { store, deploy, addInstance, remove } = world();
      const deployed = await deploy();
      const requestedMove = requestOf(deployed, (await addInstance()).id);
      await store.moves.request(requestedMove, soon());
      await remove(deployed.intent);
      expect(await store.moves.begin(requestedMove.id, soon())).toBe("leaving");
      await store.shards.forgetApplications([deployed.applicationId], soon());
      expect(await store.moves.begin(requestedMove.id, soon())).toBe("begun");
    });

    it("does not wait for the end of a deletion that its source may never end, where nobody goes there", async () => {
      const { store, deploy, addInstance, remove } = world();
      const deployed = await deploy();
      const requestedMove = requestOf(deployed, (await addInstance()).id, { isFailOver: true });
      await store.moves.request(requestedMove, soon());
      await remove(deployed.intent);
      expect(await store.moves.begin(requestedMove.id, soon())).toBe("begun");
    });

    it("has ended when its target takes nothing any more by then", async () => {
      const { store, deploy, addInstance, unit } = world();
      const deployed = await deploy();
      const target = await addInstance();
      const requestedMove = requestOf(deployed, target.id);
      await store.moves.request(requestedMove, soon());
      const change = {
        id: target.id,
        revision: target.revision,
        state: "DRAINING",
        reason: "",
        cause: undefined,
        attempt: 0,
        decision: undefined,
      } as const;
      await store.fleet.changeInstance(change, soon());
      expect(await store.moves.begin(requestedMove.id, soon())).toBe("dropped");
      expect(await read(requestedMove.id)).toMatchObject({ phase: "ABORTED", message: expect.stringContaining("took nothing") });
      expect(await unit(deployed.applicationId)).toMatchObject({ phase: "IDLE", owner: deployed.instanceId, epoch: deployed.epoch });
    });

    it("keeps both its instances from being sent away until it has ended", async () => {
      const { store } = world();
      const { id, deployed, to } = await begun();
      const held = async () => [...(await store.fleet.countUnits(soon()))].map(([instance]) => instance).sort();
      const send = async (instanceId: InstanceId) => {
        const row = await store.fleet.readInstance(instanceId, soon());
        const change = {
          id: instanceId,
          revision: row?.revision ?? 0,
          state: "DRAINING",
          reason: "",
          cause: undefined,
          attempt: 0,
        } as const;
        return store.fleet.changeInstance({ ...change, onlyIfEmpty: true, decision: undefined }, soon());
      };
      expect(await held()).toEqual([deployed.instanceId, to].sort());
      await expect(send(to)).rejects.toMatchObject({ code: "store.instance-held" });
      await reach(id, "COMMIT");
      await store.moves.commit(id, aDecision(), soon());
      expect(await held()).toEqual([deployed.instanceId, to].sort());
      await expect(send(deployed.instanceId)).rejects.toMatchObject({ code: "store.instance-held" });
      for (const [index, from] of LATER.entries())
        await store.moves.advance(id, { from, to: LATER[index + 1] ?? "DONE", message: "" }, soon());
      expect(await held()).toEqual([to]);
      expect(await send(deployed.instanceId)).toMatchObject({ state: "DRAINING" });
    });

    it("has ended when the unit is another's by then", async () => {
      const { store } = world();
      const { id, deployed, to } = await begun();
      await store.moves.abort(id, { message: "", decision: aDecision() }, soon());
      await store.moves.advance(id, { from: "ABORT", to: "ABORTED", message: "" }, soon());
      const epoch = (await world().unit(deployed.applicationId)).epoch;
      expect(await store.moves.request(requestOf({ ...deployed, epoch }, to, { id: "second" as MoveId }), soon())).toEqual({
        kind: "requested",
      });
      expect(await store.moves.request(requestOf({ ...deployed, epoch }, to, { id: "third" as MoveId }), soon())).toMatchObject({
        kind: "moving",
      });
    });
  });

  describe("the phases of a move", () => {
    it("change once, whoever else wants to, and keep the message and the baseline they were given", async () => {
      const { store } = world();
      const { id } = await begun();
      const baseline = [{ name: "web", sync: "Synced", health: "Healthy", conditions: [] }] as const;
      const advance = { from: "PREPARE", to: "FENCE", message: "because", baseline } as const;
      const answers = await Promise.all([1, 2, 3].map(() => store.moves.advance(id, advance, soon())));
      expect(answers.filter(Boolean)).toHaveLength(1);
      await store.moves.note(id, "PREPARE", "too late", soon());
      expect(await read(id)).toMatchObject({ phase: "FENCE", message: "because", baseline });
      await store.moves.note(id, "FENCE", "for the sync of web to end", soon());
      expect(await read(id)).toMatchObject({ message: "for the sync of web to end", baseline });
    });

    it("keep the code of what is said: of a wait, of what was worse, of who gave it up, and none where nothing is said", async () => {
      const { store } = world();
      const { id } = await begun();
      const code = async () => (await read(id))?.messageCode;
      await store.moves.note(id, "PREPARE", "for copies", soon());
      expect(await code()).toBe("WAITS");
      await store.moves.advance(id, { from: "PREPARE", to: "FENCE", message: "" }, soon());
      expect(await code()).toBeUndefined();
      await store.moves.abort(id, { ...givenUpBy("otto"), decision: aDecision() }, soon());
      expect(await read(id)).toMatchObject({ phase: "ABORT", messageCode: "GIVEN_UP" });
      await store.moves.advance(id, { from: "ABORT", to: "ABORTED", ...worse("for web") }, soon());
      expect(await code()).toBe("WORSE");
    });

    it("are found live until they have ended, newest first, by unit too", async () => {
      const { store } = world();
      const first = await begun("one");
      const second = await begun("two");
      await store.moves.abort(first.id, { message: "enough", decision: aDecision() }, soon());
      await store.moves.advance(first.id, { from: "ABORT", to: "ABORTED", message: "enough" }, soon());
      expect((await store.moves.list({ isLive: true }, 10, soon())).map(({ id }) => id)).toEqual([second.id]);
      const third = await begun("three");
      const live = async (of: Parameters<typeof store.moves.listLive>[0]) => (await store.moves.listLive(of, soon())).map(({ id }) => id);
      expect(await live({})).toEqual((await store.moves.list({ isLive: true }, 10, soon())).map(({ id }) => id));
      expect(await live({})).toHaveLength(2);
      for (const instanceId of [third.to, third.deployed.instanceId]) expect(await live({ instanceId })).toEqual([third.id]);
      await store.moves.abort(third.id, { message: "enough", decision: aDecision() }, soon());
      await store.moves.advance(third.id, { from: "ABORT", to: "ABORTED", message: "enough" }, soon());
      expect(await live({})).toEqual([second.id]);
      expect(await store.moves.list({}, 10, soon())).toHaveLength(3);
      expect(await store.moves.list({ unitId: first.deployed.unitId }, 10, soon())).toMatchObject([
        { phase: "ABORTED", message: "enough" },
      ]);
      for (const instanceId of [second.to, second.deployed.instanceId])
        expect((await store.moves.list({ instanceId }, 10, soon())).map(({ id }) => id)).toEqual([second.id]);
      expect(await store.moves.list({ plan: "of-nobody" as PlanId }, 10, soon())).toEqual([]);
      expect((await read(first.id))?.endedAt).toBeGreaterThan(0);
    });

    it("are read with all that their steps are decided from, as it stands at one moment", async () => {
      const { store, deploy, addInstance, record, remove } = world();
      const environment = await store.environments.claim({ ...aClaim(), workspace: anIntent().workspace }, soon());
      await store.environments.connect(aConnection(environment.id), soon());
      const deployed = await deploy({ spec: { ...aSpec(), destination: { environment: "prod" } } });
      const other = await record();
      const requestedMove = requestOf(deployed, (await addInstance()).id);
      await store.moves.request(requestedMove, soon());
      const single = async () => {
        const known = await store.shards.readUnit(deployed.unitId, soon());
        const rows = await store.shards.readApplications([deployed.applicationId, other.applicationId].sort(), soon());
        return {
          move: await read(requestedMove.id),
          source: await store.fleet.readInstance(deployed.instanceId, soon()),
          target: await store.fleet.readInstance(requestedMove.to, soon()),
          unit: {
            ...{ unit: known?.unit, workspace: known?.workspace, environments: known?.environments },
            applications: rows.map(({ application, environment: named }) => ({ application, environment: named })),
          },
          takers: [],
        };
      };
      const waiting = await store.moves.readRows(requestedMove.id, soon());
      expect(waiting).toEqual(await single());
      expect(waiting?.unit.environments.map(({ id }) => id)).toEqual([environment.id]);
      await store.moves.begin(requestedMove.id, soon());
      const baseline = [{ name: "web", sync: "Synced", health: "Healthy", conditions: [] }] as const;
      await store.moves.advance(requestedMove.id, { from: "PREPARE", to: "FENCE", message: "", baseline }, soon());
      await remove(other);
      const later = await store.moves.readRows(requestedMove.id, soon());
      expect(later).toEqual(await single());
      expect(later?.unit.applications.filter(({ application }) => application.deletedAt !== undefined)).toHaveLength(1);
      expect(await store.moves.readRows("nobody" as MoveId, soon())).toBeUndefined();
    });
  });

  describe("units that live moves are asked for", () => {
    it("tell where they are going until they are there, and which users' clusters they deploy to", async () => {
      const { store, deploy, addInstance } = world();
      const environment = await store.environments.claim({ ...aClaim(), workspace: anIntent().workspace }, soon());
      await store.environments.connect(aConnection(environment.id), soon());
      const deployed = await deploy({ spec: { ...aSpec(), destination: { environment: "prod" } } });
      const plain = await deploy({ namespace: "plain" });
      const { id: to } = await addInstance();
      const going = async () =>
        (await store.plans.readFacts(CLASS, millis(0), soon())).units.find(({ unit }) => unit.id === deployed.unitId)?.movingTo;
      expect(await going()).toBeUndefined();
      const requestedMove = requestOf(deployed, to, { plan: "plan-1" as PlanId });
      await store.moves.request(requestedMove, soon());
      expect(await going()).toBe(to);
      expect((await store.moves.list({ plan: "plan-1" as PlanId }, 10, soon())).map(({ id }) => id)).toEqual([requestedMove.id]);
      const clusters = await store.moves.listClusters([deployed.unitId, plain.unitId], soon());
      expect([...clusters]).toEqual([[deployed.unitId, ["https://prod.example:6443"]]]);
      await store.moves.begin(requestedMove.id, soon());
      await reach(requestedMove.id, "COMMIT");
      await store.moves.commit(requestedMove.id, aDecision(), soon());
      expect(await going()).toBeUndefined();
    });
  });

  describe("moves that were given up", () => {
    it("count as failures of their class if they had begun and no person gave them up", async () => {
      const { store, deploy, addInstance } = world();
      const failures = async () => (await store.plans.readFacts(CLASS, millis(0), soon())).failures;
      const end = async (id: MoveId, said: Pick<MoveMessage, "message"> & Partial<MoveMessage>) => {
        await store.moves.abort(id, { ...said, decision: aDecision() }, soon());
        await store.moves.advance(id, { from: "ABORT", to: "ABORTED", ...said }, soon());
      };
      const first = await begun("one");
      await end(first.id, { message: "the target was not ready" });
      const failed = await failures();
      const at = (await read(first.id))?.endedAt;
      expect(failed).toEqual([{ unit: first.deployed.unitId, to: first.to, at }]);
      await end((await begun("two")).id, givenUpBy("otto"));
      const deployed = await deploy({ namespace: "three" });
      const requestedMove = requestOf(deployed, (await addInstance()).id);
      await store.moves.request(requestedMove, soon());
      await store.moves.abort(requestedMove.id, { message: "it waited", decision: aDecision() }, soon());
      expect(await failures()).toEqual(failed);
      expect((await store.plans.readFacts(CLASS, millis((at ?? 0) + 1), soon())).failures).toEqual([]);
    });
  });

  describe("the commit of a move", () => {
    it("forgets the trouble that the source has met with: the target has not tried yet", async () => {
      const { store } = world();
      const { deployed, id } = await begun();
      const note = {
        applicationId: deployed.applicationId,
        state: "In_Progress",
        attempts: 1,
        message: "Trying again: no answer",
      } as const;
      await store.shards.recordProgress([{ ...note, blockage: undefined }], soon());
      const trouble = async () => (await store.intents.readByIds([deployed.applicationId], soon()))[0]?.trouble;
      expect(await trouble()).toBe(note.message);
      await reach(id, "COMMIT");
      await store.moves.commit(id, aDecision(), soon());
      expect(await trouble()).toBeUndefined();
    });

    it("gives the unit to the target under the move's epoch, and what is wanted with it, in one", async () => {
      const { store, unit, notificationsOf, acknowledgeUnit } = world();
      const { deployed, to, id, toEpoch } = await begun();
      await acknowledgeUnit(deployed);
      await reach(id, "COMMIT");
      const decision = aDecision({ subject: deployed.unitId, verdict: "MOVED", rule: "FORCED" });
      const notifications = await notificationsOf(async () => expect(await store.moves.commit(id, decision, soon())).toBe(true));
      expect(notifications).toEqual([`application:${deployed.applicationId}`, `move:${id}`, `unit:${deployed.unitId}`]);
      expect(await unit(deployed.applicationId)).toMatchObject({ owner: to, epoch: toEpoch, phase: "MOVING" });
      expect(await read(id)).toMatchObject({ phase: "GRANT" });
      expect(await store.decisions.list({ subject: deployed.unitId }, 1, soon())).toEqual([decision]);
      expect(await store.shards.listLagging([deployed.instanceId], 10, soon())).toEqual({ applications: [], units: [] });
      expect(await store.shards.listLagging([to], 10, soon())).toEqual({
        applications: [deployed.applicationId],
        units: [deployed.unitId],
      });
      expect(await store.moves.commit(id, decision, soon())).toBe(false);
      expect((await unit(deployed.applicationId)).epoch).toBe(toEpoch);
      const { moves } = await store.plans.readFacts((await unit(deployed.applicationId)).class, 0 as never, soon());
      expect(moves).toMatchObject([{ unit: deployed.unitId, from: deployed.instanceId, to }]);
    });

    it("is refused in every phase but COMMIT", async () => {
      const { store, unit } = world();
      const { deployed, id } = await begun();
      await reach(id, "REVOKE");
      expect(await store.moves.commit(id, aDecision(), soon())).toBe(false);
      expect(await unit(deployed.applicationId)).toMatchObject({ owner: deployed.instanceId, epoch: deployed.epoch });
    });

    it("refuses the old owner's acknowledgements and statuses from then on, and takes the new one's (I7)", async () => {
      const { store } = world();
      const { deployed, to, toEpoch } = await committed();
      const late = { subject: deployed.applicationId, instanceId: deployed.instanceId, epoch: deployed.epoch };
      expect(await store.shards.acknowledge([anObject(late), anObject({ ...late, epoch: toEpoch })], soon())).toBe(0);
      expect(await store.statuses.recordStatuses([aStatus({ ...late, applicationId: deployed.applicationId })], soon())).toEqual([]);
      expect(await store.shards.acknowledge([anObject({ ...late, instanceId: to, epoch: toEpoch })], soon())).toBe(1);
    });

    it("and an abort that race leave one of the two", async () => {
      const { store, unit } = world();
      for (let round = 0; round < 10; round += 1) {
        const { deployed, to, id, toEpoch } = await begun(`team-${round}`);
        await reach(id, "COMMIT");
        const [isCommitted, isAborted] = await Promise.all([
          store.moves.commit(id, aDecision(), soon()),
          store.moves.abort(id, { message: "", decision: aDecision() }, soon()),
        ]);
        expect(isCommitted).not.toBe(isAborted);
        const after = await unit(deployed.applicationId);
        if (isCommitted) expect(after).toMatchObject({ owner: to, epoch: toEpoch });
        else expect(after.owner).toBe(deployed.instanceId);
        if (isAborted) expect(after.epoch).toBeGreaterThan(toEpoch);
      }
    });

    it("gives the unit back once it is verified, and tells everybody who waited", async () => {
      const { store, unit, notificationsOf } = world();
      const { deployed, id } = await committed();
      for (const [from, to] of [
        ["GRANT", "ACTIVATE"],
        ["ACTIVATE", "VERIFY"],
      ] as const)
        await store.moves.advance(id, { from, to, message: "" }, soon());
      expect((await unit(deployed.applicationId)).phase).toBe("MOVING");
      const notifications = await notificationsOf(() => store.moves.advance(id, { from: "VERIFY", to: "CLEANUP", message: "" }, soon()));
      expect(notifications).toEqual([`application:${deployed.applicationId}`, `move:${id}`, `unit:${deployed.unitId}`]);
      expect((await unit(deployed.applicationId)).phase).toBe("IDLE");
      await store.moves.advance(id, { from: "CLEANUP", to: "DONE", message: "" }, soon());
      expect(await store.shards.listActing(deployed.instanceId, soon())).toEqual([]);
    });
  });

  describe("a move that is given up", () => {
    it.each(FORWARD)("in %s leaves the unit where it is under an epoch that is newer than the move's", async (phase) => {
      const { store, unit, acknowledgeUnit, notificationsOf } = world();
      const { deployed, id, toEpoch } = await begun();
      await acknowledgeUnit(deployed);
      await reach(id, phase);
      const decision = aDecision({ subject: deployed.unitId, verdict: "MOVE_ABORTED", rule: "COMMAND" });
      const notifications = await notificationsOf(async () =>
        expect(await store.moves.abort(id, { message: "otto", decision }, soon())).toBe(true),
      );
      expect(notifications).toEqual([`application:${deployed.applicationId}`, `move:${id}`, `unit:${deployed.unitId}`]);
      const after = await unit(deployed.applicationId);
      expect(after).toMatchObject({ owner: deployed.instanceId, phase: "IDLE" });
      expect(after.epoch).toBeGreaterThan(toEpoch);
      expect(await read(id)).toMatchObject({ phase: "ABORT", message: "otto" });
      expect(await store.shards.listLagging([deployed.instanceId], 10, soon())).toEqual({
        applications: [deployed.applicationId],
        units: [deployed.unitId],
      });
      expect(await store.moves.abort(id, { message: "", decision }, soon())).toBe(false);
    });

    it("while it waits has ended at once, and the unit's epoch stays", async () => {
      const { store, deploy, addInstance, unit } = world();
      const deployed = await deploy();
      const requestedMove = requestOf(deployed, (await addInstance()).id);
      await store.moves.request(requestedMove, soon());
      expect(await store.moves.abort(requestedMove.id, { message: "enough", decision: aDecision() }, soon())).toBe(true);
      expect(await read(requestedMove.id)).toMatchObject({ phase: "ABORTED", message: "enough" });
      expect((await unit(deployed.applicationId)).epoch).toBe(deployed.epoch);
    });

    it("too late goes on: after the commit there is no way back but another move", async () => {
      const { id } = await committed();
      expect(await world().store.moves.abort(id, { message: "", decision: aDecision() }, soon())).toBe(false);
      expect(PHASES[(await read(id))?.phase ?? "DONE"].isRevocable).toBe(false);
      expect(await world().store.moves.abort("nobody" as MoveId, { message: "", decision: aDecision() }, soon())).toBe(false);
      expect(await read("nobody" as MoveId)).toBeUndefined();
    });
  });
}
