import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import type { Instance } from "../domain/instance.ts";
import type { Move, MovePhase } from "../domain/move.ts";
import { LEFT_BEHIND, TAKEN_ON, worse } from "../domain/move-messages.ts";
import type { UnitToPrepare } from "../reconciler/port.ts";
import { PROD } from "../reconciler/testing/environments.ts";
import { createFaultPoints, FAULT_MODES } from "../reconciler/testing/faults.ts";
import { eventually } from "../reconciler/testing/until.ts";
import { startWorld, type World } from "../reconciler/testing/world.ts";
import { systemClock } from "../runtime/clock.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { accountName } from "../shard/names.ts";
import { WIDE } from "../store/testing/builders.ts";
import { requestMove } from "./request-moves.ts";
import { type Elsewhere, type HandOver, startHandOver } from "./testing/hand-over.ts";

const CALLS = new Set([
  ...["readRows", "read", "advance", "commit", "readUnit"],
  ...["list", "create", "patch", "delete", "ask", "raise", "clear", "enteredFreely"],
]);

let world: World;
let over: HandOver;
let elsewhere: Elsewhere;
beforeAll(async () => {
  world = await startWorld();
  over = await startHandOver(world, { isElsewhere: true });
  elsewhere = over.elsewhere as Elsewhere;
});
afterAll(() => world.close());

/** Refuses, and counts, every call that goes to the instance once it is cut off. */
function cutOff({ namespace }: Instance, isCut: () => boolean = () => true) {
  const went: string[] = [];
  const isThere = (first: unknown): boolean => {
    const { namespace: there, metadata } = first as { readonly namespace?: string; readonly metadata?: { readonly namespace?: string } };
    const { instance, isAway } = first as Partial<UnitToPrepare>;
    return (there ?? metadata?.namespace ?? (isAway === true ? undefined : instance?.namespace)) === namespace;
  };
  const wrap = <T extends object>(port: T): T => {
    if (!("list" in port && "patch" in port && "create" in port) && !("raise" in port && "clear" in port)) return port;
    const guarded = Object.entries(port).map(([name, call]) => {
      const guard = async (...args: readonly unknown[]): Promise<unknown> => {
        if (!isCut() || !isThere(args[0])) return (call as (...given: readonly unknown[]) => Promise<unknown>)(...args);
        went.push(name);
        throw new UnavailableError("reaching a source that is cut off", { code: "test.cut" });
      };
      return [name, guard] as const;
    });
    return Object.fromEntries(guarded) as T;
  };
  return { went, wrap };
}

const standing = async (instance: Instance) =>
  (await over.observations(instance)).map(({ at, uid, resourceVersion, isPaused, isAutomated }) => ({
    ...{ name: at.name, uid, resourceVersion, isPaused, isAutomated },
  }));

async function expectOwnedBy(to: Instance): Promise<void> {
  const { rows } = world;
  const unit = await rows.unit(over.unitId);
  expect(unit).toMatchObject({ owner: to.id, phase: "IDLE" });
  expect(await over.holders()).toEqual([accountName(over.unitId, to.id)]);
  expect(elsewhere.clusters.holdersAt()).toEqual([elsewhere.account(to)]);
  await eventually("the reconciler has acknowledged what the move did", async () => {
    const known = await Promise.all(over.applications.map(({ id }) => rows.acknowledged("application", id)));
    return known.every((each) => each?.instanceId === to.id && each.epoch === unit?.epoch);
  });
  for (const observation of await over.observations(to))
    expect(observation).toMatchObject({ isPaused: false, isAutomated: true, arrival: undefined, finalizers: [], epoch: unit?.epoch });
  expect(await over.observations(to)).toHaveLength(over.applications.length);
}

/** What a fail-over left goes as the sweep takes it, so that the next one finds the instance as a stranger. */
async function sweepUp(instance: Instance): Promise<void> {
  for (const { at } of await over.observations(instance)) await over.remove(instance, at.name);
}

const endOf = (id: Move["id"]) => world.rows.memory.moves.read(id, world.signal);

describe("a fail-over", () => {
  it("hands a unit over without one call to its source, which stays as it is and is refused everywhere (I1, I2, I8)", async () => {
    for (let round = 0; round < 2; round += 1) {
      const { id, from, to } = await over.begin({ isFailOver: true });
      const before = await standing(from);
      const { went, wrap } = cutOff(from);
      const worker = over.worker(wrap);
      await over.workUntilEnd(id, () => worker);
      expect(await endOf(id)).toMatchObject({ phase: "DONE", message: LEFT_BEHIND, isFailOver: true });
      expect(went).toEqual([]);
      expect(await standing(from)).toEqual(before);
      expect(before).toHaveLength(over.applications.length);
      await expectOwnedBy(to);
      expect(elsewhere.clusters.accountsAt(PROD)).toEqual([elsewhere.account(to)]);
      expect(await over.accounts()).toEqual([accountName(over.unitId, to.id)]);
      await sweepUp(from);
    }
  });

  it("takes the statuses that were recorded for what was before, and compares on the target before the source loses its right", async () => {
    const { id, from, to } = await over.begin({ isFailOver: true });
    const { wrap } = cutOff(from);
    const worker = over.worker(wrap);
    await over.workUntilEnd(id, () => worker);
    const move = await endOf(id);
    const before = new Map(move?.baseline.map(({ name, health }) => [name, health]));
    expect(before).toEqual(new Map(over.applications.map(({ argoName }) => [argoName, "Healthy"])));
    expect(move?.marks.map(({ phase }) => phase)).toEqual([
      ...["WAITING", "PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT", "GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"],
    ]);
    await expectOwnedBy(to);
    await sweepUp(from);
  });

  it("is given up where the source may enter an environment with its user's own credential, and names it (I1)", async () => {
    const { id, from, to } = await over.begin({ isFailOver: true });
    await elsewhere.enterFreely(from);
    const { went, wrap } = cutOff(from);
    const worker = over.worker(wrap);
    await over.workUntilEnd(id, () => worker);
    expect(await endOf(id)).toMatchObject({ phase: "ABORTED", message: expect.stringContaining("environment prod with the user's own") });
    expect((await endOf(id))?.marks.map(({ phase }) => phase)).not.toContain("FENCE");
    expect(went).toEqual([]);
    expect(await over.observations(to)).toEqual([]);
    await expectOwnedBy(from);
  });

  it("is given up, and its unit is the source's again, where the old account is still let write (I1)", async () => {
    const { id, from, to } = await over.begin({ isFailOver: true });
    elsewhere.clusters.bypass(elsewhere.account(from));
    over.late(61_000);
    const { went, wrap } = cutOff(from);
    const worker = over.worker(wrap);
    await over.workUntilEnd(id, () => worker);
    over.late(0);
    elsewhere.clusters.bypass(undefined);
    expect(await endOf(id)).toMatchObject({ phase: "ABORTED", message: expect.stringContaining("OwnerBindingBypassed") });
    expect(went).toEqual([]);
    expect(await over.observations(to)).toEqual([]);
    await expectOwnedBy(from);
  });

  it.each(FAULT_MODES)("is completed by another worker when any call of the first %s, and the worker dies of it (I5)", async (mode) => {
    const broke = new Set<string>();
    for (let index = FAULT_MODES.indexOf(mode); ; index += 10) {
      const points = createFaultPoints(CALLS);
      const { id, from, to } = await over.begin({ isFailOver: true });
      const { went, wrap } = cutOff(from);
      points.arm(index, mode);
      const [first, second] = [over.worker((port) => points.wrap(wrap(port))), over.worker(wrap)];
      await over.workUntilEnd(id, () => (points.broke() === undefined ? first : second));
      await expectOwnedBy(to).catch((error: unknown) => {
        throw new Error(`call ${index}, ${points.broke()}`, { cause: error });
      });
      expect(went).toEqual([]);
      await sweepUp(from);
      const name = points.broke();
      if (name === undefined) break;
      broke.add(name);
    }
    expect(broke.size).toBeGreaterThan(CALLS.size / 4);
  });

  it("leaves a move that was given up nothing to do at a source that cannot be reached (I4)", async () => {
    const { id, from, to } = await over.begin();
    const { went, wrap } = cutOff(from);
    const worker = over.worker(wrap);
    await worker.carryOn(id, world.signal).catch(() => undefined);
    expect(went).not.toEqual([]);
    const decision = {
      at: 0 as never,
      subject: over.unitId,
      kind: "placement",
      verdict: "MOVE_ABORTED",
      rule: "COMMAND",
      details: {},
    } as const;
    await world.rows.memory.moves.abort(id, { message: "given up by otto", decision }, world.signal);
    await over.workUntilEnd(id, () => worker);
    expect(await endOf(id)).toMatchObject({ phase: "ABORTED", message: "given up by otto" });
    expect(await over.observations(to)).toEqual([]);
    await expectOwnedBy(from);
  });
});

const HOW = {
  kind: "evacuation",
  reason: "FORCED",
  plan: undefined,
  reverses: undefined,
  isFailOver: true,
  actor: "otto",
  ceiling: WIDE,
} as const;
/** A fail-over of the unit as it is now, and what records requests. */
async function failOverTo({ id: to }: Instance) {
  const deps = { store: world.rows.memory, clock: systemClock, ids: createCountingIds() };
  const request = (requestedMove: Parameters<typeof requestMove>[1], target: Instance) =>
    requestMove(deps, requestedMove, target, world.signal);
  const epoch = (await world.rows.unit(over.unitId))?.epoch ?? 0;
  return { request, requestedMove: { ...HOW, unitId: over.unitId, to, epoch } };
}

describe("a move that loses an instance after COMMIT", () => {
  /** Tells of each phase the moment a row is in it, in the middle of a run. */
  const telling = (id: Move["id"], onPhase: (phase: MovePhase | undefined) => void | Promise<void>) => {
    const { moves } = world.rows.memory;
    const reported = async (isEntered: Promise<boolean>): Promise<boolean> => {
      const outcome = await isEntered;
      await onPhase((await endOf(id))?.phase);
      return outcome;
    };
    const watched: typeof moves = {
      ...moves,
      advance: (...call) => reported(moves.advance(...call)),
      commit: (...call) => reported(moves.commit(...call)),
    };
    return <T extends object>(port: T): T => ((port as unknown) === moves ? (watched as unknown as T) : port);
  };

  it.each(["GRANT", "ACTIVATE", "VERIFY", "CLEANUP"] as const)(
    "ends without it, gone in %s, and leaves it to the sweep (I4)",
    async (phase) => {
      const { id, from, to } = await over.begin();
      let isCut = false;
      const { went, wrap } = cutOff(from, () => isCut);
      const tell = telling(id, (entered) => {
        if (entered !== phase) return;
        isCut = true;
        over.late(11_000);
      });
      const worker = over.worker((port) => tell(wrap(port)));
      await over.workUntilEnd(id, () => worker);
      over.late(0);
      expect(await endOf(id)).toMatchObject({ phase: "DONE", message: LEFT_BEHIND });
      expect(new Set(went)).toEqual(new Set(["list"]));
      expect(await over.observations(from)).toHaveLength(over.applications.length);
      await expectOwnedBy(to);
      await sweepUp(from);
    },
  );

  it("goes back to emptying a source that is there again a moment later", async () => {
    const { id, from, to } = await over.begin();
    let isCut = false;
    const { went, wrap } = cutOff(from, () => isCut);
    const tell = telling(id, (entered) => {
      isCut = entered === "CLEANUP";
    });
    const worker = over.worker((port) => tell(wrap(port)));
    await over.workUntilEnd(id, () => {
      if (went.length > 1) isCut = false;
      return worker;
    });
    expect(await endOf(id)).toMatchObject({ phase: "DONE", message: "" });
    expect(await over.observations(from)).toEqual([]);
    await expectOwnedBy(to);
  });

  it("says what was worse, whatever it waits for after that, and then what it leaves", async () => {
    const { id, from, to } = await over.begin();
    let isCut = false;
    const { went, wrap } = cutOff(from, () => isCut);
    const tell = telling(id, async (entered) => {
      if (entered !== "VERIFY") return;
      isCut = true;
      await world.rows.memory.moves.advance(id, { from: "VERIFY", to: "CLEANUP", ...worse("for web") }, world.signal);
    });
    const worker = over.worker((port) => tell(wrap(port)));
    await over.workUntilEnd(id, () => {
      if (went.length > 1) over.late(11_000);
      return worker;
    });
    over.late(0);
    expect(await endOf(id)).toMatchObject({
      phase: "DONE",
      messageCode: "WORSE",
      message: `VERIFY failed, waiting for web; ${LEFT_BEHIND}`,
    });
    await expectOwnedBy(to);
    await sweepUp(from);
  });

  it.each(["GRANT", "ACTIVATE", "VERIFY", "CLEANUP"] as const)(
    "whose target goes in %s ends when a fail-over takes the unit on, without a call to that target (I1, I4, I8)",
    async (phase) => {
      const { id, from, to } = await over.begin();
      let isCut = false;
      const { went, wrap } = cutOff(to, () => isCut);
      const tell = telling(id, (entered) => {
        if (entered !== phase || isCut) return;
        isCut = true;
        throw new UnavailableError("recording that a target is cut off", { code: "test.cut" });
      });
      const worker = over.worker((port) => tell(wrap(port)));
      const untilCut = over.workUntilEnd(id, () => {
        if (isCut) throw new Error("its target is cut off");
        return worker;
      });
      await expect(untilCut).rejects.toThrow("its target is cut off");
      expect((await endOf(id))?.phase).toBe(phase);

      const { memory } = world.rows;
      const { request, requestedMove } = await failOverTo(from);
      const ask = (isFailOver: boolean) => request({ ...requestedMove, isFailOver }, from);
      expect(await ask(false)).toMatchObject({ by: { id }, why: expect.stringContaining("argosy move --fail-over") });
      expect(await request({ ...requestedMove, epoch: requestedMove.epoch - 1 }, from)).toMatchObject({ by: { id } });
      const asked = await ask(true);
      expect(await endOf(id)).toMatchObject({ phase: "REDIRECTED", message: TAKEN_ON, endedAt: expect.any(Number) });
      const next = asked.id as Move["id"];
      expect(await memory.moves.begin(next, world.signal)).toBe("begun");
      expect(await endOf(next)).toMatchObject({ from: to.id, to: from.id, isFailOver: true });
      expect(went).toEqual([]);
      // Somebody late goes on with the first one, too.
      await over.workUntilEnd(next, () => ({
        carryOn: async (move, signal) => void (await Promise.allSettled([worker.carryOn(move, signal), worker.carryOn(id, signal)])),
      }));
      expect(await endOf(next)).toMatchObject({ phase: "DONE", message: LEFT_BEHIND });
      expect(went).toEqual([]);
      await expectOwnedBy(from);
      expect(elsewhere.clusters.accountsAt(PROD)).toEqual([elsewhere.account(from)]);
      await sweepUp(to);
    },
  );

  it("is not ended by a fail-over before COMMIT: there it can be given up", async () => {
    const { id, from, to } = await over.begin();
    const { request, requestedMove } = await failOverTo(to);
    const asked = await request(requestedMove, to);
    expect(asked).toMatchObject({ by: { id }, why: expect.not.stringContaining("--fail-over") });
    expect((await endOf(id))?.phase).toBe("PREPARE");
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    await expectOwnedBy(to);
    expect(await over.observations(from)).toEqual([]);
  });
});
