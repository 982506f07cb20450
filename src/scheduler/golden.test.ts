import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { NO_DIRECTIVE } from "../domain/directive.ts";
import type { InstanceId, PlanId, UnitId, WorkspaceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { addLoad, asLoadVector, type LoadVector, ZERO_LOAD } from "../domain/load.ts";
import type { StoredPlan } from "../domain/plan.ts";
import { explainUnit } from "./explain.ts";
import { explainInstance } from "./explain-instance.ts";
import { firstLoad } from "./load/planning-load.ts";
import { placeUnit } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import type { PlanningFacts, PlanningUnit } from "./plan/assemble.ts";
import { describePlan } from "./plan/describe-plan.ts";
import { type Goal, makePlan } from "./plan/make-plan.ts";
import { storedPlanOf } from "./plan/stored-plan.ts";
import { moveDecision } from "./plan/validate-step.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { aFacts, aReport, aRow, aUnitRow, longAbove } from "./testing/facts.ts";
import { HOUR_MS, NOON } from "./testing/snapshots.ts";

/** What an instance of the README's fleet bears. */
const CAPACITY = asLoadVector({
  applications: 1_000_000,
  clusterEntries: 60,
  cachedResources: 250_000,
  milliCpu: 2_000,
  gitPerMinute: 600_000,
});

const anInstance = (name: string, over: Partial<Instance> = {}): Instance => aRow(name, { capacity: CAPACITY, ...over });

/** Workspaces of 60 small applications each, called `<instance>-00` and so on. */
function workspaces(instance: string, count: number, over: (index: number) => Partial<PlanningUnit> = () => ({})): readonly PlanningUnit[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `${instance}-${String(index).padStart(2, "0")}`;
    return aUnitRow(name, instance, firstLoad(60, 0), { isDeployed: true, ...over(index) });
  });
}

/** Facts of which every instance has just reported the sum of what its units are planned with. */
function facts(instances: readonly Instance[], units: readonly PlanningUnit[], over: Partial<PlanningFacts> = {}): PlanningFacts {
  const totalOf = (id: InstanceId): LoadVector =>
    units.filter(({ unit }) => unit.owner === id).reduce((total, { unit }) => addLoad(total, unit.load), ZERO_LOAD);
  return aFacts(instances, units, { instanceLoads: instances.map(({ id }) => aReport(id, NOON, totalOf(id))), ...over });
}

/** A plan as it is read from its row. */
function planOf(about: PlanningFacts, goal: Goal = { kind: "rebalance" }): StoredPlan {
  const made = makePlan(about, goal, { at: NOON });
  const plan = storedPlanOf(made, {
    ...{
      id: "p-1" as PlanId,
      goal: goal.kind,
      subject: (goal.kind === "add" ? goal.instance?.pool : goal.instance?.name) ?? "",
      actor: "otto",
      at: NOON,
    },
  });
  return JSON.parse(JSON.stringify(plan)) as StoredPlan;
}

const [a, b, c] = [anInstance("a"), anInstance("b"), anInstance("c")];
const said = { actor: "otto", reason: "quarter's end", at: millis(NOON - HOUR_MS) };
const overloaded = { state: { aboveSince: {}, overloadedSince: { [a.id]: millis(NOON - 600_000) } } };
const crowded = [...workspaces("a", 13), ...workspaces("b", 5), ...workspaces("c", 3)];
const hold = (index: number): Partial<PlanningUnit> =>
  index === 0 ? { directive: { pin: undefined, hold: { ...said, until: millis(NOON + HOUR_MS) } } } : {};
const cooling = (index: number): Partial<PlanningUnit> => (index === 1 ? { movedAt: millis(NOON - HOUR_MS) } : {});
const pinned = (index: number): Partial<PlanningUnit> =>
  index === 0 ? { directive: { pin: { ...said, kind: "instance", instance: b.id }, hold: undefined } } : {};
const freeze = { ...said, name: "launch", reason: "big day", schedule: undefined, durationMs: 3 * HOUR_MS };

/** What a person reads, by the name of the file it is kept in. */
const REPORTS: Readonly<Record<string, () => readonly string[]>> = {
  "plan-relieves-an-overloaded-instance": () => describePlan(planOf(facts([a, b, c], crowded, overloaded))),
  "plan-sheds-what-was-too-full-for-hours": () =>
    describePlan(
      planOf(
        facts([a, b], [...workspaces("a", 15, (index) => ({ ...hold(index), ...cooling(index) })), ...workspaces("b", 2)], longAbove("a")),
      ),
    ),
  "plan-fills-a-new-instance": () => {
    const fresh = anInstance("c", { stateSince: millis(NOON - HOUR_MS) });
    return describePlan(planOf(facts([a, b, fresh], [...workspaces("a", 12), ...workspaces("b", 12)])));
  },
  "plan-empties-an-instance": () => {
    const leaving = anInstance("b", { state: "DRAINING" });
    return describePlan(
      planOf(facts([a, leaving, c], [...workspaces("a", 12), ...workspaces("b", 4, pinned), ...workspaces("c", 2)]), {
        kind: "drain",
        instance: leaving,
      }),
    );
  },
  "plan-is-frozen": () =>
    describePlan(planOf(facts([a, b], [...workspaces("a", 15), ...workspaces("b", 2)], { ...longAbove("a"), freezes: [freeze] }))),
  "plan-without-metrics": () => {
    const about = facts([a, b], [...workspaces("a", 15), ...workspaces("b", 2)], longAbove("a"));
    return describePlan(planOf({ ...about, instanceLoads: [aReport(a.id, millis(NOON - HOUR_MS))] }));
  },
  "plan-with-one-instance-more": () =>
    describePlan(planOf(facts([a, b], [...workspaces("a", 12), ...workspaces("b", 10)]), { kind: "add", instance: a })),
  "plan-with-one-instance-less": () =>
    describePlan(
      planOf(facts([a, b, c], [...workspaces("a", 12), ...workspaces("b", 4), ...workspaces("c", 2)]), { kind: "remove", instance: b }),
    ),
  "workspace-that-was-moved": () => explainedMove(),
  "workspace-that-waits": () => explainedWait(),
  "instance-that-is-overloaded": () =>
    explainInstance({
      ...{
        instance: a,
        load: workspaces("a", 13).reduce((total, { unit }) => addLoad(total, unit.load), ZERO_LOAD),
        units: 13,
        decisions: [],
      },
      ...{ measured: { at: NOON, total: ZERO_LOAD }, aboveSince: millis(NOON - HOUR_MS), overloadedSince: millis(NOON - 600_000) },
    }),
};

const nameOf = (id: string): string => id.replace(/^i-/, "");

/** Placed by the ring first, then moved by the plan that relieves its instance. */
function explainedMove(): readonly string[] {
  const plan = planOf(facts([a, b, c], crowded, overloaded));
  const [move] = plan.moves;
  const row = crowded.find(({ unit }) => unit.id === move?.unit);
  if (move === undefined || row === undefined) throw new Error("the plan moves nothing");
  const first = placed(row.unit.id, firstLoad(60, 0));
  const moved = moveDecision(plan, move, { at: millis(NOON + 60_000), actor: "otto" });
  const unit = { ...row.unit, owner: move.to, epoch: 8 };
  const owner = [a, b, c].find(({ id }) => id === move.to);
  return explainUnit({
    ...{ unit, owner, namespace: row.namespace, directive: NO_DIRECTIVE, move: undefined, plans: [], now: millis(NOON + HOUR_MS) },
    ...{ decisions: [moved, first.decision], instanceName: nameOf },
  });
}

/** No instance may take it. */
function explainedWait(): readonly string[] {
  const { decision } = placed("u-large" as UnitId, firstLoad(1_200, 0));
  const { unit } = aUnitRow("large", undefined, firstLoad(1_200, 0));
  return explainUnit({
    ...{ unit, owner: undefined, namespace: "large", directive: NO_DIRECTIVE, move: undefined, plans: [], now: NOON },
    ...{ decisions: [decision], instanceName: nameOf },
  });
}

function placed(id: UnitId, load: LoadVector) {
  const candidates = [a, b, c].map((instance, index) => ({ ...instance, load: firstLoad(200 * index, 0) }));
  const question = { unit: { id, workspaceId: "w" as WorkspaceId, load }, candidates, policy: DEFAULT_POLICY };
  return { decision: JSON.parse(JSON.stringify(placementDecision(question, placeUnit(question), millis(NOON - 24 * HOUR_MS)))) };
}

it.each(Object.entries(REPORTS))("%s reads as in its golden file", (name, render) => {
  const file = new URL(`golden/${name}.txt`, import.meta.url);
  const text = `${render().join("\n")}\n`;
  if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
});
