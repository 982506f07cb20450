import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId, UnitId, WorkspaceId } from "../domain/ids.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { explainUnit } from "./explain.ts";
import { type PlacementQuestion, placeUnit, type Seat } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import { DEFAULT_POLICY } from "./policy.ts";

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
  return { lines: explainUnit({ unit, namespace: "anna", decisions: [stored], instanceName: (id) => id.toUpperCase() }), stored, question };
}

describe("explaining a placement", () => {
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
    const lines = explainUnit({ unit, namespace: "anna", decisions: [{ ...stored, rule: "LEAST_LOADED" }], instanceName: String });
    expect(lines[1]).toContain("no candidate of the ring stayed under 60 % (fleet mean 0 %), it was the least loaded that did");
  });

  it("goes by the newest placement, whatever was decided since about other things", () => {
    const { stored, question } = explained([aSeat("c", 0)], "c");
    const unit = question.unit as PlacementUnit;
    const newest = { ...stored, kind: "instance" as const, details: {} };
    const older = { ...stored, rule: "LEAST_LOADED" };
    const lines = explainUnit({ unit, namespace: "anna", decisions: [newest, stored, older], instanceName: String });
    expect(lines[1]).toContain("it is preferred");
  });

  it("says so when nothing has room", () => {
    const { lines } = explained([aSeat("a", 0, "CREATING")]);
    expect(lines[0]).toBe("workspace anna waits for capacity, class eu/shared/public");
    expect(lines.join("\n")).toContain("no instance had room under 90 %");
    expect(lines.join("\n")).toContain("refused: A, it is CREATING");
    expect(lines.at(-1)).toBe("  it is placed as soon as an instance has room");
  });

  it("says that an instance without capacity has none", () => {
    const question: PlacementQuestion = {
      unit: { id: "u-1" as UnitId, load: { ...ZERO_LOAD, applications: 1000 } },
      seats: [{ ...aSeat("a", 0), capacity: ZERO_LOAD }],
      policy: DEFAULT_POLICY,
    };
    const decision = placementDecision(question, placeUnit(question), millis(0));
    const unit = explained([]).question.unit as PlacementUnit;
    expect(explainUnit({ unit, namespace: "anna", decisions: [decision], instanceName: String })[2]).toBe(
      "  refused: a, it has no capacity for it in applications, the bound was 90 %",
    );
  });

  it("says so when there is no instance at all, or nothing was decided", () => {
    expect(explained([]).lines[1]).toContain("there was no instance in its class");
    const { question } = explained([]);
    const unit = { ...(question.unit as PlacementUnit) };
    expect(explainUnit({ unit, namespace: "anna", decisions: [], instanceName: String })).toEqual([
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
