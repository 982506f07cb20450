import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CostReportView } from "../src/api/routes/cost.ts";
import type { WorkspaceTop } from "../src/api/routes/loads.ts";
import type { PlanView } from "../src/api/routes/plans.ts";
import type { ExplanationView } from "../src/api/schema.ts";
import { addUsage, USAGE_DIMENSIONS } from "../src/domain/usage.ts";
import { answerOf, argosy, argosyProcess, inOneLine } from "./command-line.ts";
import { TENANTS, type Tenant } from "./load-tenants.ts";
import { type LoadWorld, type Measured, openLoads } from "./load-world.ts";
import { IS_LONG, openWorld, report, type World } from "./world.ts";

/** By how much both accounts may differ for a workspace with a fair share of its instance. */
/** Over hundreds of comparisons. Over dozens, within a minute, chance is larger; the difference is printed. */
const TOLERANCE = IS_LONG ? 0.2 : 0.35;
/** Below this share, rounding to thousandths of a core, and one slow comparison, are more than the tolerance. */
const FAIR_SHARE = 0.15;
/** Comparisons of each workspace to wait for: with few of them the times are chance. */
const ENOUGH = IS_LONG ? 200 : 30;

/** Of what an instance took. */
const MOST_UNATTRIBUTED = 0.05;

let world: World;
let loads: LoadWorld;
let measured: Measured;
beforeAll(async () => {
  world = openWorld();
  loads = await openLoads(world);
  await loads.settle();
  measured = await loads.measure(ENOUGH);
}, 1_200_000);
afterAll(() => loads.close());

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

describe("the load of workspaces", () => {
  it("is attributed to six of them on three instances as the controllers' own logs say", async () => {
    const { shares } = measured;
    for (const { workspace, instance, dealt, milliCpu, logged, comparisons } of shares) {
      const differs = `${percent(Math.abs(dealt - logged) / logged)} off`;
      report(
        `${workspace} on ${instance}: dealt ${percent(dealt)} (${milliCpu.toFixed(1)} mCPU), logged ${percent(logged)} in ${comparisons} comparisons, ${differs}`,
      );
    }
    expect(shares.map(({ workspace }) => workspace).sort()).toEqual(TENANTS.map(({ name }) => name).sort());
    const fair = shares.filter(({ logged }) => logged >= FAIR_SHARE);
    expect(fair.length).toBeGreaterThanOrEqual(5);
    expect(fair.filter(({ dealt, logged }) => Math.abs(dealt - logged) > TOLERANCE * logged)).toEqual([]);
  });

  it("is accounted for to them by the hour as the logs say, and with what is nobody's it is all that each instance took", () => {
    for (const { workspace, accounted, logged } of measured.shares)
      report(
        `${workspace}: accounted ${percent(accounted)}, logged ${percent(logged)}, ${percent(Math.abs(accounted - logged) / logged)} off`,
      );
    const fair = measured.shares.filter(({ logged }) => logged >= FAIR_SHARE);
    expect(fair.filter(({ accounted, logged }) => Math.abs(accounted - logged) > TOLERANCE * logged)).toEqual([]);
    expect(measured.usages).toHaveLength(3);
    for (const { instance, seconds, counters, workspaces, base, unattributed, canaries } of measured.usages) {
      const all = addUsage(addUsage(workspaces, base), unattributed);
      for (const dimension of USAGE_DIMENSIONS) {
        const parts = [workspaces, base, unattributed].map((usage) => percent(usage[dimension] / all[dimension]));
        report(
          `${instance} in ${seconds.toFixed(0)} s, ${dimension} ${all[dimension]}: workspaces ${parts[0]}, base ${parts[1]}, unattributed ${parts[2]}`,
        );
        expect(unattributed[dimension]).toBeLessThanOrEqual(all[dimension] * MOST_UNATTRIBUTED);
      }
      report(`${instance}: canaries have ${percent(canaries)} of the time of comparisons in its log`);
      expect(all).toMatchObject(counters);
    }
  });

  it("is shown by `argosy cost`, by workspace and with what is the instances' own", async () => {
    const { items } = await answerOf<CostReportView>(world, ["cost", "--since", "1h"]);
    for (const { name } of TENANTS) {
      const line = items.find((one) => one.name === name);
      expect(line).toMatchObject({ of: "workspace", cost: null });
      for (const taken of [line?.controllerCpuMs, line?.repoServerCpuMs, line?.memoryKibS]) expect(taken).toBeGreaterThan(0);
    }
    expect(items.filter(({ of }) => of === "base")).toHaveLength(1);
    const { out } = await argosy(world, "cost", "--by", "instance", "-o", "csv");
    for (const { instance } of TENANTS) expect(out).toContain(`\n${instance},workspace,`);
  });

  it("is shown by `argosy top`, with the instance", async () => {
    const rows = await answerOf<readonly WorkspaceTop[]>(world, ["top", "workspaces", "--limit", "1000"]);
    const own = new Map(rows.map((row) => [row.workspace, row]));
    for (const { name, instance, applications, isElsewhere } of TENANTS)
      expect(own.get(name)).toMatchObject({
        ...{ instance, part: 0, load: { applications, clusterEntries: isElsewhere === true ? 1 : 0 } },
        ...{ recent: { milliCpu: expect.any(Number) }, measuredAt: expect.any(String) },
      });
  });
});

describe("`argosy explain`", () => {
  it("shows for each workspace the preferred instance, the chosen one and by which rule, and which were refused and why", async () => {
    const reported = await Promise.all(TENANTS.map(({ name }) => answerOf<ExplanationView>(world, ["explain", name])));
    for (const [index, { workspace, text, decisions }] of reported.entries()) {
      const { name, instance } = TENANTS[index] as Tenant;
      expect(workspace.units).toMatchObject([{ class: "local/load/public", instance, phase: "IDLE" }]);
      expect(text[0]).toBe(`workspace ${name} lives on ${instance} (epoch ${workspace.units[0]?.epoch}, IDLE), class local/load/public`);
      // Only one instance took units when it came, so any other that the ring prefers was refused.
      const [last] = decisions;
      expect(last).toMatchObject({ kind: "placement", verdict: "CHOSEN" });
      const preferred = /the ring prefers (load-\d); (load-\d) was chosen: /.exec(text.join("\n"));
      expect(preferred?.[2]).toBe(instance);
      expect(last?.rule).toBe(preferred?.[1] === instance ? "PREFERRED" : "SPILL");
      if (preferred?.[1] !== instance) expect(text.map((line) => line.trim())).toContain(`refused: ${preferred?.[1]}, it is CORDONED`);
    }
    expect(inOneLine((await argosy(world, "explain", "load-many")).out)).toContain("workspace load-many lives on load-1");
  });
});

describe("`argosy plan drain`", () => {
  const drained = TENANTS.filter(({ instance }) => instance === "load-1").map(({ name }) => name);
  const others = ["load-2", "load-3"];
  const drain = async (): Promise<{ readonly code: number; readonly plan: PlanView; readonly report: Report }> => {
    const { code, out } = await argosy(world, "plan", "drain", "load-1", "-o", "json");
    const plans = JSON.parse(out) as readonly PlanView[];
    expect(plans).toMatchObject([{ class: "local/load/public", goal: "drain", subject: "load-1", appliedAt: null, holds: true }]);
    const plan = plans[0] as PlanView;
    return { code, plan, report: plan.report as unknown as Report };
  };
  const namesOf = ({ names }: Report, ids: readonly string[]): readonly string[] => ids.map((id) => names.units[id] ?? id).sort();
  beforeAll(async () => {
    expect((await argosy(world, "freeze", "create", "load", "--for", "1h", "--reason", "a story of plans")).code).toBe(0);
  });
  afterAll(async () => {
    for (const name of others) await loads.cordon(name, false);
    expect((await argosy(world, "freeze", "delete", "load")).code).toBe(0);
  });

  it("moves nothing where no other instance takes units, names each refused one and why, and ends with 0", async () => {
    for (const name of others) await loads.cordon(name, true);
    const { code, plan, report: why } = await drain();
    expect({ code, moves: plan.moves }).toEqual({ code: 0, moves: [] });
    expect(
      namesOf(
        why,
        why.unplaceable.flatMap(({ units }) => units),
      ),
    ).toEqual([...drained].sort());
    for (const { cause, answer } of why.unplaceable) {
      expect(cause.rule).toBe("MAY_NOT_STAY");
      const refused = Object.fromEntries(answer.refusals.map(({ instance, state }) => [why.names.instances[instance], state]));
      expect(refused).toEqual({ "load-1": "DRAINING", "load-2": "CORDONED", "load-3": "CORDONED" });
    }
    const text = plan.text.join("\n");
    expect(text).toContain("moves nothing");
    expect(text).toContain("no instance has room for");
    expect(text).toContain("refused load-3: it is CORDONED");
  });

  it("says which units move where and why, what that costs and gains, the least that is needed, and what blocks it, and ends with 2", async () => {
    await loads.cordon("load-2", false);
    const { code, plan, report: why } = await drain();
    expect(code).toBe(0);
    expect(plan.moves.map(({ workspace }) => workspace).sort()).toEqual([...drained].sort());
    for (const move of plan.moves) expect(move).toMatchObject({ from: "load-1", to: "load-2", reason: "FORCED", takesLiveMove: true });
    expect(why.moves).toEqual({ FORCED: 2, HOT: 0, SHED: 0, SWAP: 0, FILL: 0 });
    expect(why.workspaces).toEqual({ moved: 2, of: TENANTS.length });
    // Two workspaces are a large part of a small fleet, but few: an operator may move them.
    expect(plan.approval).toEqual([]);
    expect(why.lowerBound.moves).toBe(2);
    for (const share of [why.moved, why.lowerBound.load]) expect(share > 0 && share <= 1_000_000).toBe(true);
    expect(why.names.instances[why.after.worst]).toBe("load-2");
    // Nothing moves that need not: because of the freeze, or before it because metrics differ too much from earlier ones.
    expect(["FREEZE", "METRICS"]).toContain(why.blockedBy[0]?.rule);
    // The tenants are new: more applications than before are no reason to distrust metrics.
    expect(plan.text.join("\n")).not.toMatch(/the total went from .* (applications|clusterEntries|gitPerMinute)/);
    const refused = plan.records.flatMap((record) => (record as PlanRecord).answer.refusals.map(({ state }) => state));
    expect(refused.every((state) => state === "CORDONED" || state === "DRAINING")).toBe(true);

    const seen = await argosyProcess(world, "plan", "drain", "load-1");
    expect(seen.code).toBe(0);
    for (const name of drained) expect(inOneLine(seen.out)).toContain(`${name}: load-1 → load-2, FORCED, takes a live move`);
    for (const said of ["it may not stay: it is DRAINING; moves", "needed at least: 2 moves of", "before: fullest", "blocked by "])
      expect(inOneLine(seen.out)).toContain(said);
    const explained = await argosy(world, "explain", `plan/${plan.id}`);
    expect(inOneLine(explained.out)).toContain(inOneLine(plan.text.join("\n")));
    expect(inOneLine(explained.out)).toMatch(/each choice, asked again, gives the recorded answer$/);
  });
});

/** The parts of a plan's report that this story reads. */
interface Report {
  readonly moves: Readonly<Record<string, number>>;
  readonly moved: number;
  readonly lowerBound: { readonly load: number; readonly moves: number };
  readonly workspaces: { readonly moved: number; readonly of: number };
  readonly after: { readonly worst: string };
  readonly blockedBy: readonly { readonly rule: string }[];
  readonly unplaceable: readonly PlanRecord[];
  readonly names: { readonly units: Readonly<Record<string, string>>; readonly instances: Readonly<Record<string, string>> };
}

interface PlanRecord {
  readonly units: readonly string[];
  readonly cause: { readonly rule: string };
  readonly answer: { readonly refusals: readonly { readonly instance: string; readonly state?: string }[] };
}
