import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { NO_DIRECTIVE } from "../domain/directive.ts";
import type { InstanceId, PlanId, UnitId, WorkspaceId } from "../domain/ids.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { NO_WISH } from "./eligibility.ts";
import { explainUnit } from "./explain.ts";
import { type PlacementQuestion, placeUnit, type Seat } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import { moveDecision } from "./plan/carry-out.ts";
import { makePlan } from "./plan/make-plan.ts";
import { storedPlanOf } from "./plan/stored-plan.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { aFacts, aRow, aUnitRow } from "./testing/facts.ts";
import { NOON } from "./testing/snapshots.ts";

const CAPACITY = { applications: 100_000, clusterEntries: 10, cachedResources: 1000, milliCpu: 1000, gitPerMinute: 1000 };
const aSeat = (name: string, applications: number, state: Seat["state"] = "ACTIVE"): Seat => ({
  id: name as InstanceId,
  name,
  state,
  weight: 1,
  capacity: CAPACITY,
  load: { ...ZERO_LOAD, applications },
});

function explained(seats: readonly Seat[], owner?: string) {
  const unit: PlacementUnit = {
    id: "u-1" as UnitId,
    workspaceId: "w-1" as WorkspaceId,
    bucket: 0,
    class: "eu/shared/public",
    owner: owner as InstanceId | undefined,
    epoch: 7,
    phase: owner === undefined ? "UNPLACED" : "IDLE",
    load: { ...ZERO_LOAD, applications: 1000 },
    desiredRevision: 1,
    rowVersion: 1,
  };
  const question: PlacementQuestion = { unit, seats, policy: DEFAULT_POLICY };
  const decision = placementDecision(question, placeUnit(question), millis(1_700_000_000_000));
  const stored = JSON.parse(JSON.stringify(decision)) as typeof decision;
  return {
    lines: explainUnit({ unit, namespace: "anna", directive: NO_DIRECTIVE, decisions: [stored], instanceName: (id) => id.toUpperCase() }),
    stored,
    question,
  };
}

describe("explaining a placement", () => {
  it("says that somebody changed the register, beside why the unit lives there", () => {
    const { stored } = explained([aSeat("a", 2_000)], "a");
    const reason = "the register was edited and put back";
    const repair = { ...stored, kind: "register", verdict: "REPAIRED", rule: "EDITED", details: { reason } } as const;
    const unit = { id: "u-1", workspaceId: "w-1", bucket: 0, class: "c", owner: "a", epoch: 7, phase: "IDLE" } as unknown as PlacementUnit;
    const about = { unit, namespace: "anna", directive: NO_DIRECTIVE, instanceName: (id: string) => id };
    const lines = explainUnit({ ...about, decisions: [repair, stored] });
    expect(lines[1]).toBe(`  2023-11-14T22:13:20Z ${reason}`);
    expect(lines[2]).toContain("a was chosen");
  });

  it("names the preferred instance, who was refused with numbers, and what would move the unit", () => {
    const { lines } = explained([aSeat("a", 2_000), aSeat("b", 2_000), aSeat("c", 89_500)], "a");
    expect(lines).toEqual([
      "workspace anna lives on A (epoch 7, IDLE), class eu/shared/public",
      "  2023-11-14T22:13:20Z the ring prefers C; A was chosen: the first candidate that stays under 60 % (fleet mean 31.2 %)",
      "  refused: C, it would be at 90.5 % in applications, the bound was 60 %",
      "  a ring that is computed anew does not move it",
    ]);
  });

  it("says when the preferred instance was taken, and when no candidate had room but another instance did", () => {
    expect(explained([aSeat("c", 0)], "c").lines[1]).toContain("C was chosen: it is preferred and stays under 60 % (fleet mean 0 %)");
    const { stored } = explained([aSeat("c", 0)], "c");
    const unit = explained([aSeat("c", 0)], "c").question.unit as PlacementUnit;
    const lines = explainUnit({
      unit,
      namespace: "anna",
      directive: NO_DIRECTIVE,
      decisions: [{ ...stored, rule: "LEAST_LOADED" }],
      instanceName: String,
    });
    expect(lines[1]).toContain("no candidate of the ring stayed under 60 % (fleet mean 0 %), it was the least loaded that did");
  });

  it("tells what people have ordered about it, and that a pin refused an instance", () => {
    const { question } = explained([aSeat("a", 0), aSeat("b", 0)]);
    const wish = { ...NO_WISH, needs: [{ pinnedTo: ["x" as InstanceId] }] };
    const pinned = { ...question, unit: { ...question.unit, wish } };
    const at = millis(1_700_000_000_000);
    const said = { actor: "otto", reason: "gpu", at };
    const lines = explainUnit({
      ...{ unit: question.unit as PlacementUnit, namespace: "anna", instanceName: (id) => id.toUpperCase() },
      directive: { pin: { ...said, kind: "instance", instance: "x" as InstanceId }, hold: { ...said, until: millis(at + 60_000) } },
      decisions: [placementDecision(pinned, placeUnit(pinned), at)],
    });
    expect(lines[1]).toBe("  pinned to X, said otto at 2023-11-14T22:13:20Z: gpu");
    expect(lines[2]).toBe("  not moved until 2023-11-14T22:14:20Z unless it must be, said otto at 2023-11-14T22:13:20Z: gpu");
    expect(lines).toContain("  refused: A, the workspace is pinned to X");
  });

  it("tells the last move with its plan, its cause and who was passed over", () => {
    const A = aRow("a");
    const facts = aFacts([A, aRow("b")], [aUnitRow("x", "a", 10)]);
    const made = makePlan(facts, { kind: "drain", instance: A }, { at: NOON });
    const plan = storedPlanOf(made, { id: "p-1" as PlanId, goal: "drain", subject: "a", actor: "otto", at: NOON });
    const decision = moveDecision(plan, plan.moves[0]!, { at: NOON, actor: "anna" });
    const unit = { ...(explained([aSeat("c", 0)]).question.unit as PlacementUnit), owner: "i-b" as InstanceId };
    const lines = (details: typeof decision.details) =>
      explainUnit({
        unit,
        namespace: "x",
        directive: NO_DIRECTIVE,
        decisions: [{ ...decision, details }],
        instanceName: (id) => id.slice(2),
      });
    expect(lines(decision.details).slice(1)).toEqual([
      "  2023-11-14T22:13:20Z moved from a to b, FORCED: plan p-1, carried out by anna",
      "  because it may not stay: it is DRAINING",
      ...made.plan.records[0]!.answer.refusals.map(() => expect.stringContaining("  refused: a, it is DRAINING")),
    ]);
    expect(lines({ ...decision.details, record: null })).toHaveLength(2);
  });

  it("goes by the newest placement, whatever was decided since about other things", () => {
    const { stored, question } = explained([aSeat("c", 0)], "c");
    const unit = question.unit as PlacementUnit;
    const newest = { ...stored, kind: "instance" as const, details: {} };
    const older = { ...stored, rule: "LEAST_LOADED" };
    const lines = explainUnit({
      unit,
      namespace: "anna",
      directive: NO_DIRECTIVE,
      decisions: [newest, stored, older],
      instanceName: String,
    });
    expect(lines[1]).toContain("it is preferred");
  });

  it("says so when nothing has room", () => {
    const { lines } = explained([aSeat("a", 0, "CREATING")]);
    expect(lines[0]).toBe("workspace anna waits for capacity, class eu/shared/public");
    expect(lines.join("\n")).toContain("no instance had room under 90 %");
    expect(lines.join("\n")).toContain("refused: A, it is CREATING");
    expect(lines.at(-1)).toBe("  it is placed as soon as an instance has room");
  });

  it("says how many more were refused where not all are named", () => {
    const { lines } = explained(Array.from({ length: 40 }, (_, index) => aSeat(`i${index}`, 95_000, index < 30 ? "ACTIVE" : "DRAINING")));
    expect(lines.filter((line) => line.includes("refused: I"))).toHaveLength(20);
    expect(lines.at(-2)).toBe("  refused: 20 more of the 40 instances (30 ACTIVE, 10 DRAINING)");
  });

  it("says that an instance without capacity has none", () => {
    const question: PlacementQuestion = {
      unit: { id: "u-1" as UnitId, load: { ...ZERO_LOAD, applications: 1000 } },
      seats: [{ ...aSeat("a", 0), capacity: ZERO_LOAD }],
      policy: DEFAULT_POLICY,
    };
    const decision = placementDecision(question, placeUnit(question), millis(0));
    const unit = explained([]).question.unit as PlacementUnit;
    expect(explainUnit({ unit, namespace: "anna", directive: NO_DIRECTIVE, decisions: [decision], instanceName: String })[2]).toBe(
      "  refused: a, it has no capacity for it in applications, the bound was 90 %",
    );
  });

  it("says so when there is no instance at all, or nothing was decided", () => {
    expect(explained([]).lines[1]).toContain("there was no instance in its class");
    const { question } = explained([]);
    const unit = { ...(question.unit as PlacementUnit) };
    expect(explainUnit({ unit, namespace: "anna", directive: NO_DIRECTIVE, decisions: [], instanceName: String })).toEqual([
      "workspace anna waits for capacity, class eu/shared/public",
      "  nothing was decided about it yet",
    ]);
  });

  it("gives the recorded verdict again when the recorded question is asked again (P5)", () => {
    const { stored } = explained([aSeat("a", 59_500), aSeat("b", 10_000), aSeat("c", 2_000)], "c");
    const details = stored.details as unknown as {
      readonly chosen: string;
      readonly load: typeof ZERO_LOAD;
      readonly seats: readonly Seat[];
      readonly policy: typeof DEFAULT_POLICY;
    };
    const again = placeUnit({ unit: { id: stored.subject as UnitId, load: details.load }, seats: details.seats, policy: details.policy });
    expect(again).toMatchObject({ kind: "chosen", instance: details.chosen, rule: stored.rule });
  });
});
