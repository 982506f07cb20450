import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WhatIfView } from "../api/routes/what-if.ts";
import { planningDeps } from "../api/testing/planning-deps.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import type { PlanId } from "../domain/ids.ts";
import { systemClock } from "../runtime/clock.ts";
import { type PlannedFleet, plannedFleet } from "../scheduler/testing/fleet.ts";
import { aFleet, aPool, CLASS } from "../store/testing/builders.ts";
import { deployOne } from "./testing/deploy-one.ts";
import { runCommand } from "./testing/run-command.ts";

describe("plans on the command line", () => {
  let served: Served;
  let fleet: PlannedFleet;
  beforeEach(async () => {
    served = await serveApi(planningDeps);
    fleet = await plannedFleet(served.store, systemClock);
  });
  afterEach(() => served.close());
  const runAs = (role: "viewer" | "operator" | "approver", ...args: readonly string[]) =>
    runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token(role) });
  const run = (...args: readonly string[]) => runAs("operator", ...args);
  const idOf = (text: string): string => /plan (\S+):/.exec(text)?.[1] ?? "";

  it("says what draining an instance would move, and what each move is for", async () => {
    const { out, code } = await run("plan", "drain", "standard-1");
    expect(code).toBe(0);
    expect((await run("plan", "drain", "standard-1", "--exit-code")).code).toBe(1);
    expect(out).toMatch(/^plan \S+: emptying standard-1 in class\s+eu\/shared\/public, asked for by otto at /);
    expect(out).toContain("  metrics are trusted");
    expect(out).toContain("18 moves (18 FORCED) of 100 % of the load and 18 of 18 workspaces");
    expect(out.replace(/\s+/g, " ")).toContain("by an approver (it moves much: 18 of 18 workspaces, an operator may move 5, or 10 %)");
    expect(out).toMatch(/shop-00: standard-1 → standard-2, FORCED\n {4}it may not stay: it is DRAINING; moves 1 applications/);
  });

  it("ends with 0 when nothing should move, and says what holds moves up", async () => {
    const { out, code } = await run("plan");
    expect(code).toBe(0);
    expect(out).toContain("  moves nothing");
    expect(out).toContain("PERSISTENCE: standard-1 has been too full for 0 min, 720 min are needed");
  });

  it("says what would become of a class if something were different, and keeps nothing", async () => {
    await served.store.fleet.applyFleet(aFleet({ pools: [aPool("standard")] }), "ada", AbortSignal.timeout(60_000));
    const { out, code } = await run("plan", "--what-if", "instances=standard:1", "--what-if", "load=shop-00:3");
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, " ")).toMatch(
      /^if pool standard had 1 instance more and shop-00 took 3 times what it takes, class eu\/shared\/public would in the end be so:/,
    );
    expect(out).toMatch(/^ {2}standard-1: 90 % with 18 units → \d+(\.\d)? % with \d+ units$/m);
    expect(out).toMatch(/^ {2}standard-3: not there → /m);
    const view = JSON.parse((await run("plan", "--what-if", "load=*:0.5", "--class", CLASS, "-o", "json")).out) as WhatIfView;
    expect(view).toMatchObject({ class: CLASS, moves: 0, instances: [{ before: { share: 0.9 }, after: { share: 0.45, units: 18 } }, {}] });
    expect((await run("get", "plans")).out).not.toContain("rebalance");
  });

  it.each([
    [["--what-if", "instances=standard:x"], "--what-if: instances=standard:x is nothing that can be supposed"],
    [["--what-if", "pools=standard:1"], "Give instances=<pool>:-2"],
    [["drain", "--what-if", "load=*:2"], "goal: says nothing beside --what-if"],
    [["--exit-code", "--what-if", "load=*:2"], "--exit-code: says nothing beside --what-if"],
    [["--what-if", "instances=standard:-3"], "pool standard has 2 instances. Suppose at most 2 fewer"],
    [["--what-if", "release=standard:9.9.9"], "pool standard cannot have release 9.9.9"],
    [["--what-if", "load=nobody:2"], "there is no workspace nobody"],
    [["--what-if", "load=shop-00:-1"], "suppose.0.times"],
  ])("refuses %j, and says what to do", async (args, said) => {
    await served.store.fleet.applyFleet(aFleet({ pools: [aPool("standard")] }), "ada", AbortSignal.timeout(60_000));
    const { err, code } = await run("plan", ...args);
    expect(code).not.toBe(0);
    expect(err.replace(/\s+/g, " ")).toContain(said);
  });

  it("gives programs every field", async () => {
    const { out, code } = await run("plan", "drain", "standard-1", "-o", "json");
    expect(code).toBe(0);
    const [plan] = JSON.parse(out) as readonly Record<string, unknown>[];
    expect(plan).toMatchObject({ goal: "drain", subject: "standard-1", class: CLASS, approval: ["WORKSPACES"], appliedAt: null });
    expect(plan?.["records"]).toHaveLength(18);
    expect(plan?.["report"]).toMatchObject({ lowerBound: { moves: 18 }, metrics: { kind: "trusted" } });
  });

  it("lists plans, shows one again, and carries it out for whoever may", async () => {
    const id = idOf((await run("plan", "drain", "standard-1")).out);
    expect((await run("get", "plans")).out.split("\n")[1]?.split(/\s{2,}/)).toEqual([
      id.slice(0, 18),
      "drain standard-1",
      "18",
      expect.any(String),
      "otto",
      "-",
    ]);
    const listed = JSON.parse((await run("get", "plans", "-o", "json")).out);
    expect(JSON.parse((await run("get", "plans", id, "-o", "json")).out)).toEqual(listed);
    expect((await run("get", "plans", "nothing")).err).toBe("there are no plans named nothing");
    expect((await run("describe", "plan", id)).out).toContain("goal: drain");
    const refused = await run("apply", id);
    expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("token otto has role operator, this needs approver") });
    const { out, code } = await runAs("approver", "apply", id);
    expect(code).toBe(0);
    expect(out).toMatch(/^18 of 18 moves made, 0 asked for as live moves, 0 left\n {2}shop-\d\d: standard-1 → standard-2, moved/);
    expect((await served.store.fleet.countUnits(AbortSignal.timeout(5000))).get(fleet.roomy.id)).toBe(18);
  });

  it("asks for a live move of what is deployed, and shows how far each is", async () => {
    const namespace = await deployOne(served, fleet);
    const plan = await run("plan", "drain", "standard-1");
    expect(plan.out).toContain(`${namespace}: standard-1 → standard-2, FORCED, takes a live move`);
    const id = idOf(plan.out);
    const { out, code } = await runAs("approver", "apply", id);
    expect(code).toBe(0);
    expect(out).toContain("17 of 18 moves made, 1 asked for as live moves, 0 left");
    expect(out).toContain(`${namespace}: standard-1 → standard-2, a live move waits for its turn`);
    expect((await run("explain", `plan/${id}`)).out).toContain("carried out: 17 moved, 0 under way, 1 wait for their turn, 0 refused");
    const [live] = await served.store.moves.list({ plan: id as PlanId }, 10, AbortSignal.timeout(5000));
    await run("move", "abort", live!.id);
    expect((await run("explain", `plan/${id}`)).out).toContain(`  ${namespace}: standard-1 → standard-2, left: given up by otto`);
  });

  it("supposes what is not there, and carries that out for nobody", async () => {
    const { out, code } = await run("plan", "add", "standard");
    expect(code).toBe(0);
    expect(out).toContain("about a fleet that is not there: it is never carried out; change fleet.yaml");
    expect(out).toContain("→ one more of standard, FILL");
    expect(await runAs("approver", "apply", idOf(out))).toMatchObject({ code: 1, err: expect.stringContaining("change fleet.yaml") });
  });

  it.each([
    [["plan", "drain"], 2, "subject: does not say what to drain. Name an instance"],
    [["plan", "drain", "nobody"], 1, "there is no instance nobody; `argosy get instances` lists them"],
    [["plan", "add", "nothing"], 1, "subject: there is no pool nothing with an instance. Use one of standard"],
    [["plan", "rebalance", "x"], 2, "subject: evens out whole classes. Leave the name out, or name a class"],
    [["plan", "--class", "us"], 1, "class: there is no class us. Use one of eu/shared/public"],
    [["apply", "nobody"], 1, "there is no plan nobody; `argosy get plans` lists them"],
    [["apply"], 2, "apply: does not say what to apply, or says two things. Name a plan, or give a file with -f."],
    [["apply", "p", "--prune"], 2, "--prune: says nothing about a plan. `argosy explain plan/ID` shows it."],
  ])("answers %j with exit code %i and what to do", async (args, code, err) => {
    expect(await run(...args)).toEqual({ out: "", err, code });
  });

  it("is for operators, and refuses a goal nobody knows", async () => {
    expect(await runAs("viewer", "plan")).toMatchObject({ code: 1, err: expect.stringContaining("this needs operator") });
    expect(await run("plan", "party")).toMatchObject({ code: 2, err: expect.stringContaining("goal") });
  });
});
