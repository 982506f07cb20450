import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { InstanceState } from "../domain/instance.ts";
import { aDecision, aFleet, anInstance, aPool, CLASS } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const HOUR_MS = 3_600_000;

describe("argosy capacity", () => {
  let served: Served;
  const signal = AbortSignal.timeout(60_000);
  const scaled = aPool("standard", { instances: { min: 1, max: 5, scaling: "auto" } });
  const us = aPool("us", { class: { region: "us", tier: "shared", trust: "public" } });
  beforeAll(async () => {
    served = await serveApi((store) => idleDeps(store));
    await served.store.fleet.applyFleet(aFleet({ pools: [scaled, us] }), "ada", signal);
    const states: readonly InstanceState[] = ["ACTIVE", "ACTIVE", "WARMING", "DRAINING", "RETIRED"];
    for (const [index, state] of states.entries()) {
      const name = `standard-${index + 1}`;
      const instance = anInstance({ id: name as InstanceId, name, class: CLASS, pool: "standard", state });
      await served.store.fleet.insertInstance(instance, aDecision({ subject: name }), signal);
    }
  });
  afterAll(() => served.close());

  const run = (...args: readonly string[]) =>
    runCommand(["capacity", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });
  const decide = (over: object = {}) => {
    const at = millis(Date.now() - 2 * HOUR_MS);
    const sizing = { at, dimension: "milliCpu", soon: 700_000, later: 720_000, withoutOne: 880_000, ...over } as const;
    const sizes = { standard: { instances: 3, at, reason: "80 % in milliCpu are expected within a day" } };
    return served.store.loads.recordState(CLASS, { aboveSince: {}, overloadedSince: {}, sizes, sizing }, signal);
  };
  const listed = async () => JSON.parse((await run("-o", "json")).out) as readonly unknown[];

  it("says of each pool how many there are, how many there are to be, and why", async () => {
    expect(await listed()).toMatchObject([{ pool: "standard", scaling: "auto", wanted: 1, since: null, expected: null }, { pool: "us" }]);
    await decide();
    expect(await listed()).toMatchObject([
      {
        ...{
          pool: "standard",
          class: CLASS,
          scaling: "auto",
          min: 1,
          max: 5,
          wanted: 3,
          instances: 3,
          serving: 2,
          since: expect.any(String),
        },
        expected: { dimension: "milliCpu", soon: 0.7, later: 0.72, withoutOne: 0.88 },
        ...{ reason: "80 % in milliCpu are expected within a day", spareSince: null, shortSince: null },
      },
      { pool: "us", scaling: "fixed", instances: 0, serving: 0, reason: "", since: null, expected: null },
    ]);
    const { code, out } = await run();
    expect(code).toBe(0);
    expect(out).toMatch(/^standard +1–5 +3 +2 of 3 +70 % +72 % +88 % +120m/m);
    expect(out).toMatch(/^us +fixed +\d+ +0 of 0 +- +- +- +-/m);
  });

  it("says which declared peak counts, and until when", async () => {
    const hour = (ahead: number) => new Date(Date.now() + ahead * HOUR_MS).getUTCHours();
    const peaks = [
      { name: "mornings", schedule: `0 ${hour(-1)} * * *`, duration: "3h", factor: 1.5 },
      { name: "launch", schedule: `0 ${hour(3)} * * *`, duration: "1d", instances: 4 },
      // In three days.
      { name: "fair", schedule: `0 ${hour(0)} * * ${(new Date().getUTCDay() + 3) % 7}`, duration: "1h", factor: 9 },
    ];
    const pool = { ...scaled, instances: { ...scaled.instances, peaks } };
    await served.store.fleet.applyFleet(aFleet({ pools: [pool, us] }), "ada", signal);
    const times = { from: expect.stringMatching(/:00:00Z$/), until: expect.stringMatching(/:00:00Z$/) };
    expect(await listed()).toMatchObject([
      {
        peaks: [
          { name: "mornings", ...times, factor: 1.5, instances: null },
          { name: "launch", ...times, factor: null, instances: 4 },
        ],
      },
      { peaks: [] },
    ]);
    expect((await run()).out.replaceAll(/\s+/g, " ")).toMatch(
      /mornings from \S+ until \S+: 1\.5 times as much; launch from \S+ until \S+: at least 4 instances/,
    );
    await served.store.fleet.applyFleet(aFleet({ pools: [scaled, us] }), "ada", signal);
  });

  it("says which instances were given more than their pool declares, and which cannot be given what they ran out of", async () => {
    const resources = { ...scaled.resources, max: { controller: { memory: "8Gi" } } };
    await served.store.fleet.applyFleet(aFleet({ pools: [{ ...scaled, resources }, us] }), "ada", signal);
    const at = millis(Date.now() - HOUR_MS);
    const { id, revision, state, reason, cause, attempt } = (await served.store.fleet.listInstances(signal))[0]!;
    const raised = { amounts: { "controller.memory": "6Gi" }, at, before: {} };
    await served.store.fleet.changeInstance({ id, revision, state, reason, cause, attempt, raised, decision: undefined }, signal);
    const limit = { amount: "controller.memory", given: "8Gi", why: "MAXIMUM", since: at, seenAt: at } as const;
    await served.store.loads.recordState(CLASS, { aboveSince: {}, overloadedSince: {}, limits: { "standard-2": limit } }, signal);
    const amounts = [{ amount: "controller.memory", declared: "1Gi", given: "6Gi" }];
    expect(await listed()).toMatchObject([
      {
        raising: {
          instances: [{ instance: "standard-1", underWay: true, raised: amounts }],
          limited: [{ instance: "standard-2", amount: "controller.memory", given: "8Gi", why: "MAXIMUM", since: expect.any(String) }],
        },
      },
      { raising: null },
    ]);
    expect((await run("-o", "wide")).out.replaceAll(/\s+/g, " ")).toContain(
      "standard-1 controller.memory 6Gi (under way) standard-2 controller.memory, of which it has 8Gi",
    );
    const asked = await runCommand(["get", "instances", "-o", "json"], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });
    expect(JSON.parse(asked.out)).toEqual(expect.arrayContaining([expect.objectContaining({ name: "standard-1", raised: amounts })]));
    await served.store.fleet.applyFleet(aFleet({ pools: [scaled, us] }), "ada", signal);
  });

  it("says since when more are needed than may be", async () => {
    await decide({ shortSince: millis(Date.now() - HOUR_MS), withoutOne: 100_000_000 });
    expect((await run()).out).toMatch(/^standard .* >999 % /m);
    expect(await listed()).toMatchObject([{ shortSince: expect.any(String) }, { shortSince: null }]);
    expect((await run()).out).toMatch(/^standard .* 3, more /m);
  });
});
