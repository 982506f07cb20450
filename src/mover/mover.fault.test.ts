import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RefusedError } from "../domain/errors.ts";
import type { Instance } from "../domain/instance.ts";

import { ANNOTATION_EPOCH } from "../domain/names.ts";
import { ROLE_BINDINGS } from "../reconciler/adapters/kubernetes/types.ts";
import { PROD } from "../reconciler/testing/environments.ts";

import { createFaultPoints, FAULT_MODES } from "../reconciler/testing/faults.ts";
import { eventually } from "../reconciler/testing/until.ts";
import { startWorld, type World } from "../reconciler/testing/world.ts";
import { accountName } from "../shard/names.ts";
import type { TargetClusters } from "../workspace/environment/testing/target-clusters.ts";
import type { ManagedCluster } from "./port.ts";
import { type Elsewhere, type HandOver, startHandOver } from "./testing/hand-over.ts";

const CALLS = new Set([
  ...["readRows", "read", "advance", "commit", "readUnit"],
  ...["list", "create", "patch", "delete", "ask", "raise", "clear"],
]);

const REMOTE_CALLS = ["install", "issueToken", "narrow", "endReading", "writeOwnerBinding", "ask", "removeAccount"];

let world: World;
let over: HandOver;
beforeAll(async () => {
  world = await startWorld();
  over = await startHandOver(world);
});
afterAll(() => world.close());

/** Everything is on the one instance, at work, and nothing is left on the other. */
async function expectMoved(from: Instance, to: Instance): Promise<void> {
  const { rows } = world;
  const left = (await over.observations(from)).map(({ at, epoch, isPaused, arrival, finalizers }) => ({
    at,
    epoch,
    isPaused,
    arrival,
    finalizers,
  }));
  expect(left).toEqual([]);
  const unit = await rows.unit(over.unitId);
  expect(unit).toMatchObject({ owner: to.id, phase: "IDLE" });
  expect(await over.holders()).toEqual([accountName(over.unitId, to.id)]);
  await eventually("the reconciler has acknowledged what the move did", async () => {
    const known = await Promise.all(over.applications.map(({ id }) => rows.acknowledged("application", id)));
    return known.every((each) => each?.instanceId === to.id && each.epoch === unit?.epoch);
  });
  const stand = await over.observations(to);
  expect(stand.map(({ at }) => at.name).sort()).toEqual(over.applications.map(({ argoName }) => argoName).sort());
  for (const observation of stand)
    expect(observation).toMatchObject({ isPaused: false, isAutomated: true, arrival: undefined, finalizers: [], epoch: unit?.epoch });
}

describe("a hand-over", () => {
  it("takes a unit there and back, and leaves nothing behind (I4)", async () => {
    for (let round = 0; round < 2; round += 1) {
      const { id, from, to } = await over.begin();
      const worker = over.worker();
      await over.workUntilEnd(id, () => worker);
      expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "DONE", message: "" });
      await expectMoved(from, to);
    }
  });

  it.each(FAULT_MODES)("is completed by another worker when any call of the first %s, and the worker dies of it (I5)", async (mode) => {
    const broke = new Set<string>();
    // Every sixth call each, not the same ones: a hand-over has more than a hundred, and takes most of a second.
    for (let index = FAULT_MODES.indexOf(mode); ; index += 6) {
      const points = createFaultPoints(CALLS);
      const { id, from, to } = await over.begin();
      points.arm(index, mode);
      const [first, second] = [over.worker(points.wrap), over.worker()];
      await over.workUntilEnd(id, () => (points.broke() === undefined ? first : second));
      await expectMoved(from, to).catch((error: unknown) => {
        throw new Error(`call ${index}, ${points.broke()}`, { cause: error });
      });
      const name = points.broke();
      if (name === undefined) break;
      broke.add(name);
    }
    expect(broke.size).toBeGreaterThan(CALLS.size / 3);
  });

  it.each(["REVOKE", "GRANT"] as const)(
    "ends though another owner binding with a forged epoch replaces the real one in %s, and reports it (I4)",
    async (phase) => {
      const { id, from, to } = await over.begin();
      const at = { namespace: "team-a", name: "argosy-deployer" };
      const forge = async (): Promise<void> => {
        await world.hands.api.delete(ROLE_BINDINGS, at, {}, world.signal);
        const metadata = { ...at, annotations: { [ANNOTATION_EPOCH]: "99999999999" } };
        const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
        const forged = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata, roleRef, subjects: [] };
        await world.hands.api.create(ROLE_BINDINGS, forged, world.signal);
      };
      let forgeries = 0;
      // The moment the row is in the phase, in the middle of a run.
      const entering = async (isEntered: Promise<boolean>): Promise<boolean> => {
        const outcome = await isEntered;
        const row = await world.rows.memory.moves.read(id, world.signal);
        if (row?.phase !== phase || forgeries > 0) return outcome;
        forgeries += 1;
        await forge();
        return outcome;
      };
      const { moves } = world.rows.memory;
      const watched: typeof moves = {
        ...moves,
        advance: (...call) => entering(moves.advance(...call)),
        commit: (...call) => entering(moves.commit(...call)),
      };
      const worker = over.worker((port) => ((port as unknown) === moves ? (watched as unknown as typeof port) : port));
      await over.workUntilEnd(id, () => worker);
      expect(forgeries).toBe(1);
      expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "DONE", message: "" });
      await expectMoved(from, to);
      await eventually("it is reported", async () => {
        const reported = await world.rows.store.decisions.list({ subject: over.unitId, kind: "owner-binding" }, 10, world.signal);
        return reported.length > 0;
      });
    },
  );

  it("says what an API server refuses, and goes on when it does not any more (I4)", async () => {
    const { id, from, to } = await over.begin();
    let isQuotaFull = true;
    const quota = new Error('rolebindings "argosy-deployer" is forbidden: exceeded quota');
    const refusing = <T extends object>(port: T): T => {
      if (!("ask" in port) || !("patch" in port)) return port;
      const real = port as unknown as ManagedCluster;
      const patch: ManagedCluster["patch"] = async (...call) => {
        if (isQuotaFull) throw new RefusedError("changing an object", { code: "kube.refused", cause: quota });
        return real.patch(...call);
      };
      return { ...port, patch };
    };
    const worker = over.worker(refusing);
    for (let round = 0; round < 10; round += 1) {
      await worker.carryOn(id, world.signal).catch(() => undefined);
      await over.observe();
    }
    const { message } = (await world.rows.memory.moves.read(id, world.signal)) ?? {};
    expect(message).toBe('for a write that is refused: rolebindings "argosy-deployer" is forbidden: exceeded quota');
    isQuotaFull = false;
    await over.workUntilEnd(id, () => worker);
    await expectMoved(from, to);
  });

  it("is carried out by two workers at once as by one (I5)", async () => {
    const { id, from, to } = await over.begin();
    const [one, two] = [over.worker(), over.worker()];
    let turn = 0;
    await over.workUntilEnd(id, () => ({
      carryOn: async (move, signal) => {
        turn += 1;
        await Promise.allSettled([one.carryOn(move, signal), turn % 2 === 0 ? two.carryOn(move, signal) : undefined]);
      },
    }));
    await expectMoved(from, to);
  });
});

describe("a hand-over of a unit that deploys to an environment too", () => {
  let elsewhere: Elsewhere;
  beforeAll(async () => {
    await world.close();
    world = await startWorld();
    over = await startHandOver(world, { isElsewhere: true });
    elsewhere = over.elsewhere as Elsewhere;
  });

  /** The account of the one instance is the only one there, and it alone may write. */
  async function expectMovedThere(from: Instance, to: Instance): Promise<void> {
    await expectMoved(from, to);
    const account = elsewhere.account(to);
    expect([elsewhere.clusters.accountsAt(PROD), elsewhere.clusters.holdersAt()]).toEqual([[account], [account]]);
    expect([await elsewhere.tokenOn(to), await elsewhere.tokenOn(from)]).toEqual([`token-of-${account}`, undefined]);
  }

  it("takes its account along there and back, each instance with one of its own (I4, I8)", async () => {
    for (let round = 0; round < 2; round += 1) {
      const { id, from, to } = await over.begin();
      const worker = over.worker();
      await over.workUntilEnd(id, () => worker);
      expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "DONE", message: "" });
      await expectMovedThere(from, to);
    }
  });

  /** Has the cluster serve other kinds just before an owner binding there names an instance: too late for what read it before. */
  const changingKinds = (mark: string) => {
    return <T extends object>(port: T): T => {
      if (!("writeOwnerBinding" in port)) return port;
      const real = port as unknown as TargetClusters;
      const writeOwnerBinding: TargetClusters["writeOwnerBinding"] = (target, ownerBinding, signal) => {
        if (ownerBinding.bindings[0]?.subjects.length !== 0) elsewhere.clusters.serveKinds(mark);
        return real.writeOwnerBinding(target, ownerBinding, signal);
      };
      return { ...port, writeOwnerBinding };
    };
  };
  /** What was asked of an instance at the moment at which the move enters a phase. */
  const askedWhenEntering = (phase: string, to: Instance) => {
    const seen: (string | undefined)[] = [];
    const { moves } = world.rows.memory;
    const advance: typeof moves.advance = async (id, step, signal) => {
      if (step.to === phase) seen.push(await elsewhere.readAgainAt(to));
      return moves.advance(id, step, signal);
    };
    const watched = { ...moves, advance };
    return { seen, wrap: <T extends object>(port: T): T => ((port as unknown) === moves ? (watched as unknown as T) : port) };
  };

  it("leaves the former owner with what any account reads before it takes its rights, and asks nobody to read the cluster anew", async () => {
    const { id, from, to } = await over.begin();
    const entering = askedWhenEntering("FENCE", to);
    const before = elsewhere.clusters.narrowed().length;
    const worker = over.worker(entering.wrap);
    await over.workUntilEnd(id, () => worker);
    expect(entering.seen).toEqual([undefined]);
    expect(new Set(elsewhere.clusters.narrowed().slice(before))).toEqual(new Set([elsewhere.account(from)]));
    expect(await elsewhere.readAgainAt(to)).toBeUndefined();
    await expectMovedThere(from, to);
    await elsewhere.install();
    expect(await elsewhere.readAgainAt(to)).toBeUndefined();
  });

  it("lets the former owner read until it cannot come back any more, and no longer", async () => {
    const { id, from, to } = await over.begin();
    const ended: (readonly string[])[] = [];
    const before = elsewhere.clusters.ended().length;
    const { moves } = world.rows.memory;
    const note = () => ended.push(elsewhere.clusters.ended().slice(before));
    const watched: typeof moves = {
      ...moves,
      commit(...call) {
        note();
        return moves.commit(...call);
      },
      advance(...call) {
        if (call[1].to === "ACTIVATE") note();
        return moves.advance(...call);
      },
    };
    const worker = over.worker((port) => ((port as unknown) === moves ? (watched as unknown as typeof port) : port));
    await over.workUntilEnd(id, () => worker);
    expect(ended).toEqual([[], expect.arrayContaining([elsewhere.account(from)])]);
    expect(elsewhere.clusters.ended().slice(before)).not.toContain(elsewhere.account(to));
    await expectMovedThere(from, to);
  });

  it("has its new owner read the cluster anew, before it works with it, where a group came to be since it read it", async () => {
    const { id, from, to } = await over.begin();
    const entering = askedWhenEntering("ACTIVATE", to);
    const changing = changingKinds("kinds-2");
    const worker = over.worker((port) => entering.wrap(changing(port)));
    await over.workUntilEnd(id, () => worker);
    expect(entering.seen).toEqual([expect.stringMatching(/^\d{4}-.*Z$/)]);
    await expectMovedThere(from, to);
    expect(await elsewhere.readAgainAt(to)).toBe(entering.seen[0]);
    // What an owner visits with finds it all there.
    await elsewhere.install();
    await expectMovedThere(from, to);
    expect(await elsewhere.readAgainAt(to)).toBe(entering.seen[0]);
  });

  it("that is given up has its old owner read the cluster anew where a group came to be meanwhile", async () => {
    const { id, from, to } = await over.begin();
    elsewhere.clusters.bypass(elsewhere.account(from));
    over.late(61_000);
    const worker = over.worker(changingKinds("kinds-5"));
    await over.workUntilEnd(id, () => worker);
    over.late(0);
    elsewhere.clusters.bypass(undefined);
    expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "ABORTED" });
    await eventually("it is asked", async () => (await elsewhere.readAgainAt(from)) !== undefined);
    await expectMovedThere(to, from);
  });

  it("goes on where the cluster does not say what it serves, and is read anew once it does", async () => {
    const { id, from, to } = await over.begin();
    elsewhere.clusters.serveKinds(undefined);
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    expect(await world.rows.memory.moves.read(id, world.signal)).toMatchObject({ phase: "DONE", message: "" });
    await expectMovedThere(from, to);
    expect(await elsewhere.readAgainAt(to)).toBeUndefined();
    elsewhere.clusters.serveKinds("kinds-6");
    await elsewhere.install();
    await eventually("it is asked", async () => (await elsewhere.readAgainAt(to)) !== undefined);
  });

  it("is given up where the old owner may write in the environment by another binding, and names it (I1)", async () => {
    const { id, from, to } = await over.begin();
    elsewhere.clusters.bypass(elsewhere.account(from));
    over.late(61_000);
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    over.late(0);
    elsewhere.clusters.bypass(undefined);
    const move = await world.rows.memory.moves.read(id, world.signal);
    expect(move).toMatchObject({ phase: "ABORTED", message: expect.stringMatching(/OwnerBindingBypassed.*in environment prod/) });
    await expectMovedThere(to, from);
  });

  it("is given up before anything changes where the environment's cluster does not answer, and names it", async () => {
    const { id, from, to } = await over.begin();
    elsewhere.clusters.serve(PROD, "away");
    over.late(11_000);
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    over.late(0);
    const move = await world.rows.memory.moves.read(id, world.signal);
    expect(move).toMatchObject({ phase: "ABORTED", message: expect.stringContaining("environment prod: no answer from its cluster") });
    expect(move?.marks.map(({ phase }) => phase)).not.toContain("FENCE");
    expect((await world.rows.memory.shards.readUnit(over.unitId, world.signal))?.environments[0]?.unreachableSince).toBeDefined();
    elsewhere.clusters.serve(PROD, "the user's");
    await expectMoved(to, from);
    expect(elsewhere.clusters.holdersAt()).toEqual([elsewhere.account(from)]);
  });

  it("leaves a stopped source although the environment's cluster is away, and what deploys there waits for an account", async () => {
    const { rows, signal } = world;
    const { id, from, to } = await over.begin();
    const { revision, state, reason, attempt } = (await rows.memory.fleet.readInstance(from.id, signal)) as Instance;
    const change = { id: from.id, revision, state, reason, cause: undefined, attempt, decision: undefined };
    await rows.memory.fleet.changeInstance({ ...change, halt: "seen" }, signal);
    elsewhere.clusters.serve(PROD, "away");
    const worker = over.worker();
    await over.workUntilEnd(id, () => worker);
    expect(await rows.memory.moves.read(id, signal)).toMatchObject({ phase: "DONE", message: "" });
    expect(await rows.unit(over.unitId)).toMatchObject({ owner: to.id, phase: "IDLE" });
    expect(await over.observations(from)).toEqual([]);
    const [own, remote] = over.applications;
    expect((await over.observations(to)).map(({ at }) => at.name)).toEqual([own?.argoName]);
    expect([await over.holders(), await elsewhere.tokenOn(from), await elsewhere.tokenOn(to)]).toEqual([
      [accountName(over.unitId, to.id)],
      undefined,
      undefined,
    ]);
    expect(
      await rows.memory.environments.listWithoutAccount({ apiCluster: "api", environments: [elsewhere.id], units: [] }, signal),
    ).toMatchObject([{ id: elsewhere.id }]);

    elsewhere.clusters.serve(PROD, "the user's");
    await elsewhere.install();
    await eventually("what deploys there stands", async () => (await over.observations(to)).some(({ at }) => at.name === remote?.argoName));
    await expectMovedThere(from, to);
    const { revision: now } = (await rows.memory.fleet.readInstance(from.id, signal)) as Instance;
    await rows.memory.fleet.changeInstance({ ...change, revision: now, halt: "none", failsOver: false }, signal);
  });

  it.each(FAULT_MODES)("is completed by another worker when any call of the first %s, and the worker dies of it (I5)", async (mode) => {
    const broke = new Set<string>();
    for (let index = FAULT_MODES.indexOf(mode); ; index += 8) {
      const points = createFaultPoints(new Set([...CALLS, ...REMOTE_CALLS]));
      const { id, from, to } = await over.begin();
      points.arm(index, mode);
      const [first, second] = [over.worker(points.wrap), over.worker()];
      await over.workUntilEnd(id, () => (points.broke() === undefined ? first : second));
      await expectMovedThere(from, to).catch((error: unknown) => {
        throw new Error(`call ${index}, ${points.broke()}`, { cause: error });
      });
      const name = points.broke();
      if (name === undefined) break;
      broke.add(name);
    }
    expect(REMOTE_CALLS.filter((call) => broke.has(call)).length).toBeGreaterThan(1);
  });
});
