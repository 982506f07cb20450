import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { VERDICT_LASTS_MS, type VerdictState } from "../domain/health.ts";
import type { InstanceId, MoveId, UnitId, WorkspaceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import type { Partition } from "../domain/partition.ts";
import type { LiveMoves, PlannedLiveMove } from "../mover/port.ts";
import { systemClock } from "../runtime/clock.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createSeededRng } from "../runtime/rng.ts";
import { createMemoryStore, type MemoryStore } from "../store/adapters/memory/memory-store.ts";
import type { PlacementStore } from "../store/placement/port.ts";
import { aFleet, aRollout, aWaveInstance, WIDE } from "../store/testing/builders.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createScheduler, type Scheduler } from "./controller.ts";
import { reviewDecision } from "./review.ts";

const CLASS = "eu/shared/public";
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };
const never = new AbortController().signal;

let store: MemoryStore;
let schedulers: Scheduler[];
/** Live moves that were asked for, and how that is answered. */
let asked: PlannedLiveMove[];
let askFor: LiveMoves["askFor"];
beforeEach(() => {
  asked = [];
  askFor = (planned) => {
    asked.push(planned);
    return Promise.resolve({ kind: "asked", id: "m" as MoveId });
  };
  store = createMemoryStore({ clock: systemClock });
  schedulers = [];
});
afterEach(async () => void (await Promise.all(schedulers.map((scheduler) => scheduler.stop()))));

function start(placements: PlacementStore = store.placements, partition = EVERYTHING): void {
  const rng = createSeededRng(`scheduler ${schedulers.length}`);
  const scheduler = createScheduler({
    store: { placements, changes: store.changes, directives: store.directives, rollouts: store.rollouts },
    moving: { askFor: (planned, signal) => askFor(planned, signal) },
    partition,
    clock: systemClock,
    rng,
    log: silentLog,
    metrics: noMetrics,
  });
  schedulers.push(scheduler);
  scheduler.start(never);
}

const aDecision = (subject: string): Decision => ({
  at: millis(0),
  subject,
  kind: "instance",
  verdict: "ACTIVE",
  rule: "TEST",
  details: {},
});

/** An instance with capacity for `applications`, of which placements use nine in ten. */
async function addInstance(name: string, applications: number, state: Instance["state"] = "ACTIVE", className = CLASS): Promise<void> {
  const instance: Instance = {
    id: name as InstanceId,
    name,
    engineCluster: "eu-1",
    namespace: `argocd-${name}`,
    pool: "standard",
    class: className,
    version: "3.5.7",
    desiredVersion: "3.5.7",
    state,
    stateSince: millis(0),
    reason: "",
    attempt: 0,
    capacity: { ...ZERO_LOAD, applications: applications * 1000 },
    weight: 1,
    appliedHash: "",
    cause: undefined,
    halt: "none",
    failsOver: false,
    entries: "shared",
    revision: 1,
  };
  await store.fleet.insertInstance(instance, aDecision(name), never);
}

const ids = createCountingIds();
/** Records one application in a workspace of its own; returns the unit that is made for it. */
async function addUnit(namespace: string, name = "app"): Promise<UnitId> {
  const unitId = ids.next<UnitId>();
  await store.intents.recordDeployments(
    [
      {
        workspace: { plane: "kubernetes", apiCluster: "api", namespace, namespaceUid: `uid of ${namespace}`, trustClass: "public" },
        newIds: { workspaceId: ids.next(), unitId, applicationId: ids.next(), operationId: ids.next() },
        class: CLASS,
        name,
        uid: `uid of ${namespace}/${name}`,
        generation: 1,
        spec: {
          source: { repoUrl: "https://git.example/x", path: "a", targetRevision: "" },
          destination: {},
          type: "automated",
          createNamespace: false,
        },
        argoName: `${namespace}-${name}`,
      },
    ],
    never,
  );
  return unitId;
}
const ownerOf = async (id: UnitId) => (await store.placements.readUnit(id, never))?.unit.owner;
const verdictsOf = async (id: UnitId) => (await store.decisions.list({ subject: id }, 10, never)).map(({ verdict }) => verdict);

const eventually = (what: string, holds: () => Promise<boolean>) =>
  vi.waitFor(async () => expect(await holds(), what).toBe(true), { timeout: 20_000, interval: 2 });

describe("a unit without owner", () => {
  /** More than one sweep tries. */
  const MANY = 1_001;

  it("is found behind any number of units of other processes' shares", async () => {
    await addInstance("a", 100);
    for (let index = 0; index < MANY; index += 1) await addUnit(`theirs ${index}`);
    const unit = await addUnit("anna");
    start(store.placements, { ...EVERYTHING, isMine: (id) => id === unit });
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
  });

  it("has its turn behind any number of units that fit nowhere", async () => {
    await addInstance("a", 1);
    const units: UnitId[] = [];
    for (let index = 0; index < MANY; index += 1) units.push(await addUnit(`anna ${index}`));
    const last = units.at(-1) as UnitId;
    const isTried = async (id: UnitId) => (await verdictsOf(id)).includes("UNPLACEABLE");
    start();
    await eventually("the others were tried", async () => isTried(units[MANY - 2] as UnitId));
    await addInstance("b", 1, "CORDONED");
    await eventually("the next sweep continues after them", async () => isTried(last));
  });

  it("is placed as soon as it is recorded, with its decision in the journal", async () => {
    await addInstance("a", 100);
    start();
    const unit = await addUnit("anna");
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
    expect((await store.placements.readUnit(unit, never))?.unit).toMatchObject({ phase: "IDLE", epoch: 1 });
    expect((await store.decisions.list({ subject: unit }, 10, never))[0]).toMatchObject({
      kind: "placement",
      verdict: "CHOSEN",
      rule: "PREFERRED",
      details: { chosen: "a" },
    });
  });

  it("is found if it was recorded while nobody listened", async () => {
    await addInstance("a", 100);
    const unit = await addUnit("anna");
    start();
    await eventually("it is placed", async () => (await ownerOf(unit)) !== undefined);
  });

  it("waits, and says so, until an instance has room", async () => {
    await addInstance("warming", 100, "WARMING");
    start();
    const unit = await addUnit("anna");
    await eventually("it is known to wait", async () => (await verdictsOf(unit)).includes("UNPLACEABLE"));
    expect(await ownerOf(unit)).toBeUndefined();
    await addInstance("a", 100);
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
  });

  it("is journaled once for each reason, however often loads change", async () => {
    await addInstance("a", 2);
    let [asked, read] = [0, 0];
    start({
      ...store.placements,
      recordUnplaceable: async (...refusal) => {
        await store.placements.recordUnplaceable(...refusal);
        asked += 1;
      },
      readUnits: async (...units) => {
        const found = await store.placements.readUnits(...units);
        read += 1;
        return found;
      },
    });
    const anna = await addUnit("anna");
    await eventually("one has a place", async () => (await ownerOf(anna)) === "a");
    const unit = await addUnit("ben");
    await eventually("the other has none", async () => asked > 0);
    const [before, once] = [read, asked];
    await addUnit("anna", "second");
    await addInstance("gone", 1, "RETIRED");
    await eventually("it was tried again", async () => read > before);
    expect(asked).toBe(once);
    expect(await verdictsOf(unit)).toEqual(["UNPLACEABLE"]);
    await addInstance("warming", 100, "WARMING");
    await eventually("another reason is another entry", async () => (await verdictsOf(unit)).length === 2);
  });

  it("stays where it is when a better instance comes (P5)", async () => {
    await addInstance("a", 100);
    start();
    const units = await Promise.all(["anna", "ben", "cleo", "dora"].map((namespace) => addUnit(namespace)));
    for (const unit of units) await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
    await addInstance("b", 100_000);
    const late = await addUnit("emil");
    await eventually("the next one is placed", async () => (await ownerOf(late)) !== undefined);
    expect(await Promise.all(units.map(ownerOf))).toEqual(["a", "a", "a", "a"]);
  });

  it("is placed when the database is back", async () => {
    await addInstance("a", 100);
    const unit = await addUnit("anna");
    store.setAway(true);
    start();
    store.setAway(false);
    await eventually("it is placed", async () => (await ownerOf(unit)) !== undefined);
  });

  it("goes where people have pinned its workspace, and waits while that has no room", async () => {
    await addInstance("a", 100);
    await addInstance("b", 1, "CORDONED");
    const unit = await addUnit("anna");
    const { workspaceId } = (await store.placements.readUnit(unit, never))?.unit ?? { workspaceId: "" as WorkspaceId };
    const said = { actor: "otto", reason: "test", at: millis(0) };
    const pinTo = (instance: string) =>
      store.directives.direct(
        { workspaceId, change: { pin: { ...said, kind: "instance", instance: instance as InstanceId } }, decision: aDecision(workspaceId) },
        never,
      );
    await pinTo("b");
    start();
    await eventually("it is known to wait", async () => (await verdictsOf(unit)).includes("UNPLACEABLE"));
    const [refused] = await store.decisions.list({ subject: unit }, 1, never);
    expect(refused?.details).toMatchObject({
      constraints: { needs: [{ pinnedTo: ["b"] }] },
      refusals: expect.arrayContaining([{ instance: "a", rule: "PINNED", wants: "b", has: "a" }]),
    });
    await pinTo("a");
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
  });

  it("of another process's share is left to that process", async () => {
    await addInstance("a", 100);
    const mine = new Set<string>();
    start(store.placements, { isMine: (key) => mine.has(key), onChange: () => () => undefined });
    const [theirs, ours] = [await addUnit("theirs"), await addUnit("ours")];
    mine.add(ours);
    await store.fleet.insertInstance(
      { ...(await store.fleet.listInstances(never))[0], id: "b" as InstanceId, name: "b", namespace: "argocd-b" } as Instance,
      aDecision("b"),
      never,
    );
    await eventually("ours is placed", async () => (await ownerOf(ours)) !== undefined);
    expect(await ownerOf(theirs)).toBeUndefined();
  });
});

describe("a unit that is to have another class", () => {
  const OTHER = "eu/shared/internal";
  const assign = async (unit: UnitId): Promise<void> => {
    const workspaceId = (await store.placements.readUnit(unit, never))?.unit.workspaceId as WorkspaceId;
    await store.intents.assignClass({ workspaceId, class: OTHER, trustClass: "internal", decision: aDecision(workspaceId) }, never);
  };
  const settled = async (): Promise<UnitId> => {
    await addInstance("a", 100);
    start();
    const unit = await addUnit("anna");
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
    return unit;
  };
  const addOther = (name: string, applications = 100) => addInstance(name, applications, "ACTIVE", OTHER);

  it("is asked to be moved to an instance of that class, chosen as for a new unit, and not asked for again while it is moved", async () => {
    const unit = await settled();
    await addOther("b");
    await assign(unit);
    await eventually("a move was asked for", async () => asked.length > 0);
    expect(asked[0]).toMatchObject({
      ...{ unitId: unit, to: "b", epoch: 1, kind: "voluntary", reason: "FORCED", plan: undefined, actor: "scheduler" },
      words: "its workspace is to have class eu/shared/internal",
    });
    const request = { ...asked[0], id: "m" as MoveId, reverses: undefined, isFailOver: false, decision: aDecision(unit) };
    expect(await store.moves.request(request as never, never)).toEqual({ kind: "requested" });
    expect(await store.moves.begin("m" as MoveId, never)).toBe("begun");
    const before = asked.length;
    await addInstance("c", 1, "CORDONED");
    const late = await addUnit("late");
    await eventually("another was placed since", async () => (await ownerOf(late)) !== undefined);
    expect(asked.length).toBe(before);
  });

  it("stays where none of that class has room, says why once, and goes when one has", async () => {
    const unit = await settled();
    await assign(unit);
    await eventually("it is known to stay", async () => (await verdictsOf(unit)).includes("UNPLACEABLE"));
    const [decision] = await store.decisions.list({ subject: unit, verdict: "UNPLACEABLE" }, 10, never);
    expect(decision).toMatchObject({ rule: "NOTHING_FITS", details: { wantedClass: OTHER, chosen: null } });
    await addOther("b");
    await eventually("a move was asked for", async () => asked.length > 0);
    expect((await verdictsOf(unit)).filter((verdict) => verdict === "UNPLACEABLE")).toHaveLength(1);
  });

  it("stays where it cannot be handed over, and the journal says why", async () => {
    askFor = () => Promise.resolve({ kind: "refused", why: "b runs an older release" });
    const unit = await settled();
    await addOther("b");
    await assign(unit);
    await eventually("it is known to stay", async () => (await verdictsOf(unit)).includes("UNPLACEABLE"));
    const [decision] = await store.decisions.list({ subject: unit, verdict: "UNPLACEABLE" }, 10, never);
    expect(decision).toMatchObject({ rule: "NOT_MOVABLE", details: { wantedClass: OTHER, reason: "b runs an older release" } });
  });

  it.each(["hold", "freeze", "rollout"] as const)("waits for the end of a %s", async (what) => {
    const unit = await settled();
    const said = { actor: "otto", reason: "test", at: systemClock.now() };
    const workspaceId = (await store.placements.readUnit(unit, never))?.unit.workspaceId as WorkspaceId;
    const rollout = aRollout({ createdAt: said.at, instances: [aWaveInstance({ id: "b" as InstanceId })] });
    const hold = (until: number) =>
      store.directives.direct({ workspaceId, change: { hold: { ...said, until: millis(until) } }, decision: aDecision(unit) }, never);
    const begin = {
      hold: () => hold(systemClock.now() + 3_600_000),
      freeze: () => store.directives.putFreeze({ ...said, name: "f", schedule: undefined, durationMs: 3_600_000 }, aDecision("f"), never),
      rollout: () => store.rollouts.create(rollout, aDecision("r"), never),
    };
    const end = {
      hold: () => hold(systemClock.now()),
      freeze: () => store.directives.dropFreeze("f", aDecision("f"), never),
      rollout: () => store.rollouts.change({ rollout: { ...rollout, state: "DONE" }, decision: undefined }, never),
    };
    await begin[what]();
    await addOther("b");
    await assign(unit);
    const other = await addUnit("ben");
    await eventually("another was placed since", async () => (await ownerOf(other)) === "a");
    expect(asked).toEqual([]);
    await end[what]();
    await addInstance("c", 1, "CORDONED");
    await eventually("a move was asked for", async () => asked.length > 0);
  });

  it("is given the class where it lives on an instance of it already", async () => {
    await addOther("b");
    const unit = await addUnit("anna");
    const found = await store.placements.readUnit(unit, never);
    const placement = { unitId: unit, rowVersion: found?.unit.rowVersion ?? 0, instanceId: "b" as InstanceId };
    await store.placements.commitFirstPlacement({ ...placement, ceiling: WIDE, decision: aDecision(unit) }, never);
    await assign(unit);
    start();
    await eventually("it has it", async () => (await store.placements.readUnit(unit, never))?.unit.class === OTHER);
    expect(asked).toEqual([]);
  });
});

describe("an instance whose version is below the floor", () => {
  it("gets no unit, and the refusal says why", async () => {
    await addInstance("a", 100);
    await store.fleet.applyFleet({ ...aFleet(), versions: { ...aFleet().versions, floor: "3.6.0" } }, "otto", never);
    start();
    const unit = await addUnit("anna");
    await eventually("it was decided", async () => (await verdictsOf(unit)).length > 0);
    expect(await ownerOf(unit)).toBeUndefined();
    const [decision] = await store.decisions.list({ subject: unit }, 1, never);
    expect(decision?.details).toMatchObject({ refusals: [{ instance: "a", rule: "FLOOR" }] });
  });
});

describe("a unit whose instances are judged", () => {
  const judged = async (name: string, state: VerdictState, agoMs = 0): Promise<void> => {
    const at = millis(systemClock.now() - agoMs);
    const verdict = { instanceId: name as InstanceId, at, since: at, state, cause: "controller-stopped", component: "controller" } as const;
    const said = { text: "", evidence: [], baseline: undefined };
    await store.health.record([{ sample: { at, signals: {} }, verdict: { ...verdict, ...said }, keepSince: at }], never);
  };
  const placed = async (): Promise<InstanceId | undefined> => {
    const unit = await addUnit("anna");
    await eventually("it was decided", async () => (await verdictsOf(unit)).length > 0);
    const [decision] = await store.decisions.list({ subject: unit }, 1, never);
    if (decision === undefined || !reviewDecision(decision)) throw new Error("the journal gives another answer");
    return ownerOf(unit);
  };

  it("goes to no instance that stands still or fails, waits if all do, and is placed when one works again", async () => {
    for (const [name, state] of [
      ["a", "stalled"],
      ["b", "failed"],
    ] as const) {
      await addInstance(name, 100);
      await judged(name, state);
    }
    start();
    const unit = await addUnit("anna");
    await eventually("it was decided", async () => (await verdictsOf(unit)).length > 0);
    expect(await ownerOf(unit)).toBeUndefined();
    const [decision] = await store.decisions.list({ subject: unit }, 1, never);
    expect(decision?.details).toMatchObject({ refusals: expect.arrayContaining([{ instance: "a", rule: "HEALTH", health: "stalled" }]) });
    await addInstance("c", 100);
    await eventually("it is placed", async () => (await ownerOf(unit)) === "c");
  });

  it("goes to an instance without a fresh verdict before one whose health is unknown", async () => {
    await addInstance("a", 100);
    await judged("a", "unknown");
    await addInstance("b", 100);
    await judged("b", "stalled", VERDICT_LASTS_MS + 1_000);
    start();
    expect(await placed()).toBe("b");
  });

  it("is placed if the health of every instance is unknown", async () => {
    await addInstance("a", 100);
    await judged("a", "unknown");
    start();
    expect(await placed()).toBe("a");
  });
});

describe("schedulers that race", () => {
  it("fill no instance beyond what it may hold, and place all that fit", async () => {
    await addInstance("a", 20);
    await addInstance("b", 20);
    for (let each = 0; each < 3; each += 1) start();
    const units = await Promise.all(Array.from({ length: 50 }, (_, index) => addUnit(`ns-${index}`)));
    const owners = async () => Promise.all(units.map(ownerOf));
    await eventually("both are full", async () => (await owners()).filter((owner) => owner !== undefined).length === 36);
    const fleet = await store.placements.readFleet(CLASS, never);
    expect(fleet.instances.map(({ units: held }) => held)).toEqual([18, 18]);
    for (const unit of units) await eventually("it is decided", async () => (await verdictsOf(unit)).length > 0);
  });

  it("choose again when the instance they chose filled up, and stop when somebody else placed the unit", async () => {
    await addInstance("a", 100);
    const outcomes = ["full", "stale"] as const;
    let asked = 0;
    start({
      ...store.placements,
      commitFirstPlacement: async (placement, signal) => {
        const kind = outcomes[asked];
        asked += 1;
        return kind === undefined ? store.placements.commitFirstPlacement(placement, signal) : { kind };
      },
    });
    const unit = await addUnit("anna");
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
    expect(asked).toBe(3);
  });

  it("do not give up a unit whose chosen instances keep filling up", async () => {
    await addInstance("a", 100);
    let isFilling = true;
    let asked = 0;
    start({
      ...store.placements,
      commitFirstPlacement: async (placement, signal) => {
        asked += 1;
        return isFilling ? { kind: "full" } : store.placements.commitFirstPlacement(placement, signal);
      },
    });
    const unit = await addUnit("anna");
    await eventually("it was tried often", async () => asked > 5);
    isFilling = false;
    await eventually("it is placed", async () => (await ownerOf(unit)) === "a");
  });
});
