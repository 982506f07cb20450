import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import { millis } from "../domain/clock.ts";
import type { InstanceId, PlanId, UnitId } from "../domain/ids.ts";
import { aDecision, aFleet, anInstance, aPool, CLASS } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const HOUR_MS = 3_600_000;

describe("argosy rebalancing", () => {
  let served: Served;
  const signal = AbortSignal.timeout(60_000);
  beforeAll(async () => {
    served = await serveApi((store) => idleDeps(store));
    const other = aPool("other", { class: { region: "us", tier: "shared", trust: "public" } });
    const rebalancing = [{ class: CLASS, mode: "auto", movesPerHour: 20, movesPerDay: 60 } as const];
    await served.store.fleet.applyFleet(aFleet({ pools: [aPool("standard"), other], rebalancing }), "ada", signal);
    const instance = anInstance({ id: "one" as InstanceId, name: "standard-1", class: CLASS });
    await served.store.fleet.insertInstance(instance, aDecision({ subject: instance.id }), signal);
  });
  afterAll(() => served.close());

  const run = async (...args: readonly string[]) =>
    runCommand(["rebalancing", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });
  const remember = (brokenHoursAgo: readonly number[]): Promise<void> => {
    const since = millis(Date.now() - HOUR_MS);
    const units = [
      { unit: "u" as UnitId, share: 30_000 },
      { unit: "v" as UnitId, share: -10_000 },
    ];
    const promise = {
      plan: "plan" as PlanId,
      instance: "one" as InstanceId,
      dimension: "milliCpu",
      since,
      at: since,
      units,
      before: 0,
    } as const;
    const measured = brokenHoursAgo.map((hours) => ({ at: millis(Date.now() - hours * HOUR_MS), isKept: false }));
    return served.store.loads.recordState(CLASS, { aboveSince: {}, overloadedSince: {}, promises: [promise], measured }, signal);
  };
  const listed = async () => JSON.parse((await run("-o", "json")).out) as readonly unknown[];

  it("says for each class what is declared, what holds now and what is measured", async () => {
    await remember([2]);
    expect(await listed()).toMatchObject([
      {
        ...{ class: CLASS, mode: "auto", modeInForce: "auto", fallsBackUntil: null, movesPerHour: 20, movesPerDay: 60, kept: 0, broken: 1 },
        promises: [{ instance: "standard-1", dimension: "milliCpu", expected: 0.02 }],
      },
      { class: "us/shared/public", mode: "propose", modeInForce: "propose", movesPerHour: null, movesPerDay: null, promises: [] },
    ]);
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/^eu\/shared\/public +auto +auto +20 +60 +0 of 1 +standard-1$/m);
    expect(out).toMatch(/^us\/shared\/public +propose +propose +- +- +0 of 0/m);
  });

  it("says until when a class only proposes whose plans did not do what they promised", async () => {
    await remember([1, 2, 3]);
    expect(await listed()).toMatchObject([{ mode: "auto", modeInForce: "propose", fallsBackUntil: expect.any(String), broken: 3 }, {}]);
    expect((await run()).out).toMatch(/^eu\/shared\/public +auto +propose until 20\S+/m);
    await remember([25, 26, 27]);
    expect(await listed()).toMatchObject([{ modeInForce: "auto", fallsBackUntil: null }, {}]);
  });
});
