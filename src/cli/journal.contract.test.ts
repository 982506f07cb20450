import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planningDeps } from "../api/testing/planning-deps.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import { systemClock } from "../runtime/clock.ts";
import { type PlannedFleet, plannedFleet } from "../scheduler/testing/fleet.ts";
import { runCommand } from "./testing/run-command.ts";

describe("the journal on the command line", () => {
  let served: Served;
  let fleet: PlannedFleet;
  let plan: string;
  const runAs = (role: "viewer" | "approver", ...args: readonly string[]) =>
    runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token(role) });
  const run = (...args: readonly string[]) => runAs("viewer", ...args);
  const rowsOf = (text: string) => text.split("\n").map((line) => line.split(/\s{2,}/));
  beforeEach(async () => {
    served = await serveApi(planningDeps);
    fleet = await plannedFleet(served.store, systemClock);
    await runAs("approver", "pin", "shop-01", "--to", "standard-1", "--reason", "near its data");
    plan = /plan (\S+):/.exec((await runAs("approver", "plan", "drain", "standard-1")).out)?.[1] ?? "";
    await runAs("approver", "apply", plan);
  });
  afterEach(() => served.close());

  it("shows the journal by workspace, kind, verdict and age, with who said so", async () => {
    expect(rowsOf((await run("journal", "--workspace", "shop-01", "--kind", "directive")).out)).toEqual([
      ["AT", "KIND", "ABOUT", "VERDICT", "RULE", "BY"],
      [expect.any(String), "directive", "shop-01", "PINNED", "COMMAND", "anna"],
    ]);
    const moved = rowsOf((await run("journal", "--verdict", "MOVED", "--since", "1h")).out);
    expect(moved).toHaveLength(18);
    expect(moved[1]).toEqual([expect.any(String), "placement", expect.stringMatching(/^shop-\d\d$/), "MOVED", "FORCED", "anna"]);
    expect((await run("journal", "--workspace", "shop-01", "-o", "wide")).out).toContain("near its data");
    expect(rowsOf((await run("journal", "--subject", plan)).out).map(([, , , verdict]) => verdict)).toEqual([
      "VERDICT",
      "APPLIED",
      "PROPOSED",
    ]);
    expect(rowsOf((await run("journal", "--instance", "standard-1", "--limit", "1")).out)).toHaveLength(2);
  });

  it("asks decisions again, and ends with 1 when one does not follow from its facts (P5)", async () => {
    const { out, code } = await run("journal", "--verdict", "MOVED", "--review");
    expect(code).toBe(0);
    expect(
      new Set(
        rowsOf(out)
          .slice(1)
          .map((row) => row.at(-1)),
      ),
    ).toEqual(new Set(["yes"]));
    const signal = AbortSignal.timeout(5000);
    const [good] = await served.store.decisions.list({ verdict: "MOVED" }, 1, signal);
    const { record } = good!.details as { readonly record: { readonly cause: object } };
    const cause = { rule: "ABOVE", share: 1, limit: 2, load: {}, capacity: {}, forMs: 0, persistMs: 1 };
    await served.store.decisions.append([{ ...good!, details: { ...good!.details, record: { ...record, cause } } }], signal);
    const again = await run("journal", "--verdict", "MOVED", "--review");
    expect(again.code).toBe(1);
    expect(rowsOf(again.out).filter((row) => row.at(-1) === "NO")).toHaveLength(1);
    expect(JSON.parse((await run("journal", "--verdict", "MOVED", "--limit", "1", "-o", "json")).out)).toMatchObject([{ holds: null }]);
  });

  it("keeps an explanation to the width of a terminal, whatever reasons it repeats", async () => {
    const reason = "its disk is odd, and whoever wants to know more asks those who look after the disks of this region";
    await runAs("approver", "cordon", "standard-2", "--reason", reason);
    const { out } = await run("explain", "instance/standard-2");
    expect(out.replace(/\s+/g, " ")).toContain(reason);
    expect(Math.max(...out.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  it("explains an instance and a plan beside a workspace", async () => {
    const instance = await run("explain", "instance/standard-2");
    expect(instance.code).toBe(0);
    expect(instance.out).toMatch(/^instance standard-2 is ACTIVE since /);
    expect(instance.out).toContain("  17 applications of 20, 85 %");
    expect(instance.out).toContain("  it was measured at ");
    const explained = await run("explain", `plan/${plan}`);
    expect(explained.out).toMatch(/^plan \S+: emptying standard-1/);
    expect(explained.out).toContain("carried out at ");
    expect(explained.out).toMatch(/no instance has room for\n {2}shop-01: it may not stay: it is DRAINING/);
    expect(explained.out).toMatch(/each choice, asked again, gives the recorded answer$/);
    expect((await run("explain", "workspace/shop-00")).out).toBe("because");
    expect(JSON.parse((await run("explain", "instance/standard-1", "-o", "json")).out)).toMatchObject({
      instance: { name: "standard-1", units: 1 },
    });
    expect((await served.store.fleet.countUnits(AbortSignal.timeout(5000))).get(fleet.full.id)).toBe(1);
  });

  it.each([
    [["explain", "instance/nobody"], 1, "there is no instance nobody; `argosy get instances` lists them"],
    [["explain", "plan/nobody"], 1, "there is no plan nobody; `argosy get plans` lists them"],
    [["journal", "--workspace", "nobody"], 1, "there is no workspace nobody; `argosy get workspaces` lists them"],
    [["journal", "--since", "yesterday"], 2, "--since: yesterday is no length of time. Give one like 90m, 4h or 7d."],
  ])("answers %j with exit code %i and what to do", async (args, code, err) => {
    expect(await run(...args)).toEqual({ out: "", err, code });
  });
});
