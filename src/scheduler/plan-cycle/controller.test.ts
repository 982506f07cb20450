import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Millis } from "../../domain/clock.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { PlanId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import { nextStarts } from "../../mover/next-starts.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createVirtualClock, type VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import type { startCron } from "../../runtime/timer/cron.ts";
import type { MemoryChangeFeed } from "../../store/adapters/memory/change-feed.ts";
import { createMemoryStore, type MemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { aDecision, anObject, CLASS } from "../../store/testing/builders.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { type PlannedFleet, plannedFleet } from "../testing/fleet.ts";
import { createPlanRequests } from "./carry-out-plan.ts";
import { createPlanCycle, type PlanCycle } from "./controller.ts";
import { createDrainRequests } from "./empty-instance.ts";

const never = new AbortController().signal;
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };
const CYCLE_MS = 120_000;

describe("planning again and again", () => {
  let clock: VirtualClock;
  let store: MemoryStore;
  let fleet: PlannedFleet;
  let cycle: PlanCycle;
  let followed: string[];
  beforeEach(async () => {
    followed = [];
    clock = createVirtualClock();
    store = createMemoryStore({ clock });
    fleet = await plannedFleet(store, clock);
  });
  afterEach(() => cycle.stop());

  const start = async (partition = EVERYTHING, relieves = false, timer?: typeof startCron): Promise<void> => {
    const parts = { store, clock, ids: createCountingIds(), log: silentLog };
    const moving = createMoveRequests(parts);
    const requests = createPlanRequests({ ...parts, moving });
    const followUp: typeof requests.followUp = async (name, actor, signal) => {
      followed.push(`${name} for ${actor}`);
      await requests.followUp(name, actor, signal);
    };
    const planning = { ...requests, followUp };
    cycle = createPlanCycle({
      ...(timer === undefined ? {} : { startCron: timer }),
      ...{ moving, planning, relieves, draining: createDrainRequests({ ...parts, planning, moving }) },
      ...{ store, partition, clock, rng: createSeededRng("plans"), ids: createCountingIds(), log: silentLog, metrics: noMetrics },
    });
    cycle.start(never);
    await cycle.idle();
  };
  const pass = async (cycles: number, total?: number): Promise<void> => {
    for (let index = 0; index < cycles; index += 1) {
      await fleet.report(total);
      await clock.advance(CYCLE_MS);
      await vi.waitFor(() => cycle.idle());
    }
  };
  const judge = (at: Millis, state: InstanceVerdict["state"]): Promise<void> => {
    const verdict: InstanceVerdict = {
      ...{ instanceId: fleet.full.id, state, cause: "queue", text: "", evidence: [], at, since: at },
      ...{ component: undefined, baseline: undefined },
    };
    return store.health.record([{ sample: { at, signals: {} }, verdict, keepSince: at }], never);
  };
  const plans = () => store.plans.list({}, 100, never);

  it("proposes a plan once an instance has been too full for half a day, and not again until that plan expires", async () => {
    await start();
    await pass(20);
    expect(await plans()).toEqual([]);
    expect(Object.keys((await store.loads.readState(CLASS, never)).aboveSince)).toEqual([fleet.full.id]);
    await pass(360);
    expect(await plans()).toMatchObject([{ actor: "scheduler", goal: "rebalance", moves: [{ from: fleet.full.id, reason: "SHED" }] }]);
    const [decision] = await store.decisions.list({ kind: "plan" }, 1, never);
    expect(decision).toMatchObject({ verdict: "PROPOSED", details: { actor: "scheduler" } });
  });

  it.each([true, false])(
    "plans relief for an instance with the verdict overloaded at once, and carries it out if it may: %s",
    async (relieves) => {
      await start(EVERYTHING, relieves);
      await pass(2);
      expect(await plans()).toEqual([]);
      await judge(clock.now(), "overloaded");
      await pass(1);
      const [plan] = await plans();
      expect(plan?.moves.length).toBeGreaterThan(0);
      expect(new Set(plan?.moves.map(({ from, reason }) => `${reason} ${from}`))).toEqual(new Set([`HOT ${fleet.full.id}`]));
      const held = (await store.fleet.countUnits(never)).get(fleet.full.id) ?? 0;
      const moved = (await store.plans.listSteps({ plan: plan?.id as PlanId }, never)).filter(({ outcome }) => outcome === "moved");
      expect(moved.length > 0).toBe(relieves);
      expect(18 - held).toBe(moved.length);
    },
  );

  it.each([true, false])("plans within five seconds of a verdict, if the class is of this member's share: %s", async (isMine) => {
    await start({ isMine: () => isMine, onChange: () => () => undefined }, true);
    await fleet.report();
    await clock.advance(30_000);
    const at = clock.now();
    await judge(at, "overloaded");
    await clock.advance(5_000);
    await vi.waitFor(() => cycle.idle());
    const relieving = (await plans()).filter(({ moves }) => moves.some(({ from, reason }) => reason === "HOT" && from === fleet.full.id));
    expect(relieving).toHaveLength(isMine ? 1 : 0);
    // The same verdict once more is no reason to plan.
    const before = followed.length;
    await judge(clock.now(), "overloaded");
    await clock.advance(5_000);
    expect(followed).toHaveLength(before);
  });

  it("plans with the next cycle if the notification of a verdict is lost", async () => {
    await start(EVERYTHING, true);
    await fleet.report();
    await clock.advance(30_000);
    const feed = store.changes as MemoryChangeFeed;
    feed.setAway(true);
    await judge(clock.now(), "overloaded");
    await clock.advance(5_000);
    await vi.waitFor(() => cycle.idle());
    feed.setAway(false);
    expect(await plans()).toEqual([]);
    await pass(1);
    expect((await plans()).flatMap(({ moves }) => moves).filter(({ reason }) => reason === "HOT").length).toBeGreaterThan(0);
  });

  it("requests moves away from an overloaded instance, of which the mover begins four at once", async () => {
    for (const unit of fleet.units.values()) {
      const { epoch } = (await store.placements.readUnit(unit, never))!.unit;
      const subject = fleet.applications.get(unit)!;
      await store.shards.acknowledge([anObject({ instanceId: fleet.full.id, subject, epoch })], never);
    }
    await start(EVERYTHING, true);
    await fleet.report();
    await judge(clock.now(), "overloaded");
    await clock.advance(5_000);
    await vi.waitFor(() => cycle.idle());
    const moves = await store.moves.list({ isLive: true }, 100, never);
    expect(moves.length).toBeGreaterThan(4);
    expect(new Set(moves.map(({ from, phase, reason }) => `${from} ${phase} ${reason}`))).toEqual(
      new Set([`${fleet.full.id} WAITING HOT`]),
    );
    expect(nextStarts(moves)).toHaveLength(4);
  });

  it("proposes nothing while metrics are missing or jump", async () => {
    await start();
    await pass(40, 100_000);
    expect((await plans()).flatMap(({ moves }) => moves)).toEqual([]);
    for (let index = 0; index < 40; index += 1) {
      await clock.advance(CYCLE_MS);
      await vi.waitFor(() => cycle.idle());
    }
    expect(await plans()).toEqual([]);
  });

  it("moves by itself what has not left an instance that is being emptied, and does not propose it once more", async () => {
    await store.fleet.changeInstance(
      { id: fleet.full.id, revision: 1, state: "DRAINING", reason: "test", cause: undefined, attempt: 0, decision: undefined },
      never,
    );
    await start();
    const [plan, ...others] = await plans();
    expect(plan).toMatchObject({ goal: "drain", subject: "standard-1", actor: "scheduler" });
    expect(plan?.moves).toHaveLength(18);
    expect(others).toEqual([]);
    expect(await store.fleet.countUnits(never)).toEqual(new Map([[fleet.roomy.id, 18]]));
    await pass(3);
    expect(await plans()).toHaveLength(1);
  });

  it("follows up exchanges with each cycle", async () => {
    await start();
    expect(followed).toEqual([`${CLASS} for scheduler`]);
    await pass(3);
    expect(followed.length).toBeGreaterThan(2);
  });

  it("plans anew when a freeze begins", async () => {
    const weekend = { name: "weekend", schedule: "0 18 * * 5", durationMs: 62 * 3_600_000, actor: "a", reason: "r", at: clock.now() };
    await store.directives.putFreeze(weekend, aDecision({ kind: "directive", verdict: "FROZEN", rule: "COMMAND" }), never);
    let begin = (): void => undefined;
    await start(EVERYTHING, false, ({ run }) => {
      begin = run;
      return { nextAt: () => undefined };
    });
    const before = followed.length;
    begin();
    await cycle.idle();
    expect(followed.length).toBe(before + 1);
  });

  it("leaves the classes of other members to them", async () => {
    await start({ isMine: (key) => key !== `plan/${CLASS}`, onChange: () => () => undefined });
    await pass(2);
    expect(await store.loads.readState(CLASS, never)).toEqual({ aboveSince: {}, overloadedSince: {} });
  });
});
