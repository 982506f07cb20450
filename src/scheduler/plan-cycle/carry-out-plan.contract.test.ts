import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { createMoveRequests } from "../../mover/request-moves.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createUuidIds } from "../../runtime/ids.ts";
import { createPostgresStore } from "../../store/adapters/postgres/postgres-store.ts";
import type { Store } from "../../store/port.ts";
import { CLASS } from "../../store/testing/builders.ts";
import { startTestServer, type TestServer } from "../../store/testing/test-server.ts";
import { soon } from "../../store/testing/world.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { describePlan } from "../plan/describe-plan.ts";
import { reviewDecision, reviewPlan } from "../review.ts";
import { type PlannedFleet, plannedFleet } from "../testing/fleet.ts";
import { createPlanRequests, type PlanRequests } from "./carry-out-plan.ts";

describe("plan requests on PostgreSQL", () => {
  let server: TestServer;
  let store: Store;
  let fleet: PlannedFleet;
  let requestPorts: readonly PlanRequests[];
  beforeAll(async () => {
    server = await startTestServer();
    const { url } = await server.createMigrated();
    store = await createPostgresStore({ url, clock: systemClock, log: silentLog, metrics: noMetrics, poolSize: 8 });
    fleet = await plannedFleet(store, systemClock);
    const parts = { store, clock: systemClock, ids: createUuidIds(systemClock), log: silentLog };
    requestPorts = [1, 2].map(() => createPlanRequests({ ...parts, moving: createMoveRequests(parts) }));
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  it("store plans that can be read, described and reviewed, and make each move once if two carry out the same plan", async () => {
    const [requests, other] = requestPorts as readonly [PlanRequests, PlanRequests];
    const made = await requests.plan(CLASS, { kind: "drain", instance: fleet.full, subject: "standard-1", actor: "otto" }, soon());
    const plan = await store.plans.read(made.id, soon());
    expect(plan).toEqual(made);
    expect(reviewPlan(plan!)).toBe(true);
    expect(describePlan(plan!).join("\n")).toContain("shop-00: standard-1 → standard-2, FORCED");
    const steps = (await Promise.all([requests, other].map(({ apply }) => apply(made.id, { actor: "anna" }, soon())))).flat();
    // A step whose unit is at its target already counts as moved, whoever moved it.
    expect(steps).toHaveLength(36);
    expect(steps.filter(({ outcome }) => !["moved", "dropped"].includes(outcome))).toEqual([]);
    expect(new Set(steps.filter(({ outcome }) => outcome === "moved").map(({ unit }) => unit)).size).toBe(18);
    expect((await store.fleet.countUnits(soon())).get(fleet.roomy.id)).toBe(18);
    const { moves, units } = await store.plans.readFacts(CLASS, millis(0), soon());
    expect(moves).toHaveLength(18);
    expect(units.every(({ movedAt }) => movedAt !== undefined)).toBe(true);
    const decisions = await store.decisions.list({ verdict: "MOVED" }, 100, soon());
    expect(decisions.map(reviewDecision)).toEqual(Array.from({ length: 18 }, () => true));
  });
});
