import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { NO_DIRECTIVE } from "../domain/directive.ts";
import type { InstanceId, MoveId, PlanId, UnitId, WorkspaceId } from "../domain/ids.ts";
import { asLoadVector, ZERO_LOAD } from "../domain/load.ts";
import type { Move } from "../domain/move.ts";
import { parseDecision } from "../domain/parse-decision.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { Candidate } from "./candidate.ts";
import { NO_CONSTRAINTS } from "./eligibility.ts";
import { type Explained, explainUnit as explainAll } from "./explain.ts";
import { type PlacementQuestion, placeUnit } from "./place-unit.ts";
import { placementDecision } from "./placement-decision.ts";
import { makePlan } from "./plan/make-plan.ts";
import { storedPlanOf } from "./plan/stored-plan.ts";
import { moveDecision } from "./plan/validate-step.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import { aFacts, aRow, aUnitRow } from "./testing/facts.ts";
import { NOON } from "./testing/snapshots.ts";

/** Nothing is under way, and no plan proposes anything. */
const explainUnit = (about: Omit<Explained, "owner" | "move" | "plans" | "now"> & Partial<Explained>): readonly string[] => {
  const owner = about.unit.owner === undefined ? undefined : aRow(about.unit.owner.replace(/^i-/, ""));
  return explainAll({ owner, move: undefined, plans: [], now: NOON, ...about });
};

const STAYS = "it stays where it is: nothing asks for a move, and a ring that is computed anew does not move it";
const CAPACITY = asLoadVector({ applications: 100_000, clusterEntries: 10, cachedResources: 1000, milliCpu: 1000, gitPerMinute: 1000 });
const aCandidate = (name: string, applications: number, state: Candidate["state"] = "ACTIVE"): Candidate => ({
  id: name as InstanceId,
  name,
  state,
  weight: 1,
  capacity: CAPACITY,
  load: { ...ZERO_LOAD, applications },
});

function explained(candidates: readonly Candidate[], owner?: string) {
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
  const question: PlacementQuestion = { unit, candidates, policy: DEFAULT_POLICY };
  const decision = placementDecision(question, placeUnit(question), millis(1_700_000_000_000));
  const stored = JSON.parse(JSON.stringify(decision)) as typeof decision;
  return {
    lines: explainUnit({ unit, namespace: "anna", directive: NO_DIRECTIVE, decisions: [stored], instanceName: (id) => id.toUpperCase() }),
    stored,
    question,
  };
}

describe("explaining a placement", () => {
  it("says that somebody changed the owner binding, besides why the unit lives there", () => {
    const { stored } = explained([aCandidate("a", 2_000)], "a");
    const reason = "the owner binding was edited and put back";
    const repair = { ...stored, kind: "owner-binding", verdict: "REPAIRED", rule: "EDITED", details: { reason } } as const;
    const unit = { id: "u-1", workspaceId: "w-1", bucket: 0, class: "c", owner: "a", epoch: 7, phase: "IDLE" } as unknown as PlacementUnit;
    const about = { unit, namespace: "anna", directive: NO_DIRECTIVE, instanceName: (id: string) => id };
    const lines = explainUnit({ ...about, decisions: [repair, stored] });
    expect(lines[2]).toBe(`  2023-11-14T22:13:20Z ${reason}`);
    expect(lines[4]).toContain("a was chosen");
  });

  it("names the preferred instance, the refused ones with numbers, and what would move the unit", () => {
    const { lines } = explained([aCandidate("a", 2_000), aCandidate("b", 2_000), aCandidate("c", 89_500)], "a");
    expect(lines).toEqual([
      "workspace anna lives on A (epoch 7, IDLE), class eu/shared/public",
      `  next: ${STAYS}`,
      "  2023-11-14T22:13:20Z placed on A: the first candidate of the ring with room",
      "    the ring prefers C; A was chosen: the first candidate that stays under 60 % (fleet mean 31.2 %)",
      "    refused: C, it would be at 90.5 % in applications, the bound was 60 %",
    ]);
  });

  it("says when the preferred instance was taken, and when no candidate had room but another instance did", () => {
    expect(explained([aCandidate("c", 0)], "c").lines[3]).toContain("C was chosen: it is preferred and stays under 60 % (fleet mean 0 %)");
    const { stored } = explained([aCandidate("c", 0)], "c");
    const unit = explained([aCandidate("c", 0)], "c").question.unit as PlacementUnit;
    const lines = explainUnit({
      unit,
      namespace: "anna",
      directive: NO_DIRECTIVE,
      decisions: [{ ...stored, rule: "LEAST_LOADED" }],
      instanceName: String,
    });
    expect(lines[3]).toContain("no candidate of the ring stayed under 60 % (fleet mean 0 %), it was the least loaded that did");
  });

  it("says what people have ordered about it, and that a pin refused an instance", () => {
    const { question } = explained([aCandidate("a", 0), aCandidate("b", 0)]);
    const constraints = { ...NO_CONSTRAINTS, needs: [{ pinnedTo: ["x" as InstanceId] }] };
    const pinned = { ...question, unit: { ...question.unit, constraints } };
    const at = millis(1_700_000_000_000);
    const said = { actor: "otto", reason: "gpu", at };
    const lines = explainUnit({
      ...{ unit: question.unit as PlacementUnit, namespace: "anna", instanceName: (id) => id.toUpperCase() },
      directive: { pin: { ...said, kind: "instance", instance: "x" as InstanceId }, hold: { ...said, until: millis(at + 60_000) } },
      decisions: [placementDecision(pinned, placeUnit(pinned), at)],
    });
    expect(lines[1]).toBe("  pinned to X, said otto at 2023-11-14T22:13:20Z: gpu");
    expect(lines[2]).toBe("  not moved until 2023-11-14T22:14:20Z unless it must be, said otto at 2023-11-14T22:13:20Z: gpu");
    expect(lines).toContain("    refused: A, the workspace is pinned to X");
  });

  it("says which class it is to have, by whose order, and what keeps it until then", () => {
    const unit = {
      ...(explained([aCandidate("a", 0)]).question.unit as PlacementUnit),
      owner: "i-a" as InstanceId,
      wantedClass: "eu/gold/public",
    };
    const said = { actor: "otto", reason: "bought gold", at: millis(NOON - 1_000) };
    const about = { unit, namespace: "anna", decisions: [], instanceName: (id: string) => id.slice(2) };
    const lines = explainUnit({ ...about, directive: { ...NO_DIRECTIVE, assigned: { ...said, class: "eu/gold/public" } } });
    expect(lines[0]).toBe("workspace anna lives on a (epoch 7, UNPLACED), class eu/shared/public, and is to have eu/gold/public");
    expect(lines[1]).toMatch(/^ {2}assigned to class eu\/gold\/public, said otto at .*: bought gold$/);
    const next = "  next: it is handed over to an instance of class eu/gold/public, which it is to have";
    expect(lines[2]).toBe(`${next}, as soon as one takes it: what was decided last says what keeps it`);
    const hold = { ...said, until: millis(NOON + 60_000) };
    expect(explainUnit({ ...about, directive: { ...NO_DIRECTIVE, hold } })[2]).toContain(`${next}, once it may be moved: after `);
    const freeze = { ...said, name: "launch", schedule: undefined, durationMs: 60_000 };
    expect(explainUnit({ ...about, directive: NO_DIRECTIVE, freezes: [freeze] })[1]).toMatch(
      /, once no freeze holds: after .* \(launch: bought gold\)$/,
    );
  });

  it("shows the last move with its plan, its cause and the instances that were passed over", () => {
    const A = aRow("a");
    const facts = aFacts([A, aRow("b")], [aUnitRow("x", "a", 10)]);
    const made = makePlan(facts, { kind: "drain", instance: A }, { at: NOON });
    const plan = storedPlanOf(made, { id: "p-1" as PlanId, goal: "drain", subject: "a", actor: "otto", at: NOON });
    const decision = moveDecision(plan, plan.moves[0]!, { at: NOON, actor: "anna" });
    const unit = { ...(explained([aCandidate("c", 0)]).question.unit as PlacementUnit), owner: "i-b" as InstanceId };
    const lines = (details: typeof decision.details) =>
      explainUnit({
        unit,
        namespace: "x",
        directive: NO_DIRECTIVE,
        decisions: [{ ...decision, details }],
        instanceName: (id) => id.slice(2),
      });
    expect(lines(decision.details).slice(2)).toEqual([
      "  2023-11-14T22:13:20Z moved from a to b, FORCED: plan p-1, carried out by anna",
      "    because it may not stay: it is DRAINING",
      ...made.plan.records[0]!.answer.refusals.map(() => expect.stringContaining("    refused: a, it is DRAINING")),
    ]);
    expect(lines({ ...decision.details, record: null })).toHaveLength(3);
  });

  it("explains the newest placement, whatever else was decided since", () => {
    const { stored, question } = explained([aCandidate("c", 0)], "c");
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
    expect(lines.join("\n")).toContain("it is preferred");
    expect(lines.filter((line) => line.includes("was chosen"))).toHaveLength(1);
  });

  it("says so when nothing has room", () => {
    const { lines } = explained([aCandidate("a", 0, "CREATING")]);
    expect(lines[0]).toBe("workspace anna waits for capacity, class eu/shared/public");
    expect(lines.join("\n")).toContain("no instance had room under 90 %");
    expect(lines.join("\n")).toContain("refused: A, it is CREATING");
    expect(lines[1]).toBe("  next: it is placed as soon as an instance has room");
  });

  it("says how many more were refused where not all are named", () => {
    const { lines } = explained(
      Array.from({ length: 40 }, (_, index) => aCandidate(`i${index}`, 95_000, index < 30 ? "ACTIVE" : "DRAINING")),
    );
    expect(lines.filter((line) => line.includes("refused: I"))).toHaveLength(20);
    expect(lines.at(-1)).toBe("    refused: 20 more of the 40 instances (30 ACTIVE, 10 DRAINING)");
  });

  it("says that an instance without capacity has none", () => {
    const question: PlacementQuestion = {
      unit: { id: "u-1" as UnitId, load: { ...ZERO_LOAD, applications: 1000 } },
      candidates: [{ ...aCandidate("a", 0), capacity: ZERO_LOAD }],
      policy: DEFAULT_POLICY,
    };
    const decision = placementDecision(question, placeUnit(question), millis(0));
    const unit = explained([]).question.unit as PlacementUnit;
    expect(explainUnit({ unit, namespace: "anna", directive: NO_DIRECTIVE, decisions: [decision], instanceName: String }).at(-1)).toBe(
      "    refused: a, it has no capacity for it in applications, the bound was 90 %",
    );
  });

  it("says so when there is no instance at all, or nothing was decided", () => {
    expect(explained([]).lines[3]).toContain("there was no instance in its class");
    const { question } = explained([]);
    const unit = { ...(question.unit as PlacementUnit) };
    expect(explainUnit({ unit, namespace: "anna", directive: NO_DIRECTIVE, decisions: [], instanceName: String })).toEqual([
      "workspace anna waits for capacity, class eu/shared/public",
      "  next: it is placed as soon as an instance has room",
      "  nothing was decided about it yet",
    ]);
  });

  it("says which part of a workspace it is, and what passes between it and another one", () => {
    const { question } = explained([]);
    const of = (bucket: number, over: Partial<PlacementUnit>): PlacementUnit => ({
      ...(question.unit as PlacementUnit),
      ...{ id: `part-${bucket}` as PlacementUnit["id"], bucket, owner: "a" as PlacementUnit["owner"], phase: "IDLE", ...over },
    });
    const linesOf = (...parts: readonly PlacementUnit[]) =>
      parts.map((unit) =>
        explainUnit({ ...{ unit, parts, namespace: "anna", directive: NO_DIRECTIVE, decisions: [], instanceName: String } }).filter(
          (line) => /part|leave/.test(line),
        ),
      );
    expect(linesOf(of(0, {}))).toEqual([[]]);
    expect(linesOf(of(0, {}), of(1, { owner: "b" as PlacementUnit["owner"] }))).toEqual([["  part 0 of 2 parts"], ["  part 1 of 2 parts"]]);
    expect(linesOf(of(0, {}), of(1, { tookFrom: "part-0" as PlacementUnit["id"] }))).toEqual([
      ["  part 0 of 2 parts", "  is to leave a: part 1 has taken over what stays there"],
      ["  part 1 of 2 parts", "  has taken applications over from part 0, and stays on a until that is gone from there"],
    ]);
    expect(linesOf(of(0, {}), of(1, { joins: "part-0" as PlacementUnit["id"] }))[1]).toEqual([
      "  part 1 of 2 parts",
      "  is joined with part 0, which takes its applications over once both are on one instance",
    ]);
  });

  it("rests on records from which the recorded verdict follows again (P5)", () => {
    const { stored } = explained([aCandidate("a", 59_500), aCandidate("b", 10_000), aCandidate("c", 2_000)], "c");
    const details = stored.details as unknown as {
      readonly chosen: string;
      readonly load: typeof ZERO_LOAD;
      readonly candidates: readonly Candidate[];
      readonly policy: typeof DEFAULT_POLICY;
    };
    const again = placeUnit({
      unit: { id: stored.subject as UnitId, load: details.load },
      candidates: details.candidates,
      policy: details.policy,
    });
    expect(again).toMatchObject({ kind: "chosen", instance: details.chosen, rule: stored.rule });
  });

  describe("that was moved", () => {
    const at = millis(1_700_000_000_000);
    const unit = { ...aUnitRow("x", "b", 10).unit, class: "c" };
    const about = { unit, namespace: "x", directive: NO_DIRECTIVE, instanceName: (id: string) => id.slice(2), owner: aRow("b") };
    const move: Move = {
      ...{ id: "m-1" as MoveId, unitId: unit.id, from: "i-a" as InstanceId, to: "i-b" as InstanceId, fromEpoch: 6, toEpoch: 7 },
      ...{ phase: "REVOKE", phaseSince: at, kind: "voluntary", reason: "FORCED", plan: undefined, isFailOver: false, reverses: undefined },
      ...{ actor: "otto", createdAt: at, endedAt: undefined, message: "for two refusals", messageCode: "WAITS", baseline: [], marks: [] },
    };
    const decided = (verdict: string, details: Decision["details"], rule = "FORCED"): Decision => ({
      ...{ at, subject: unit.id, kind: "placement", verdict, rule },
      details,
    });
    const placed = decided("CHOSEN", { chosen: "i-a" }, "PREFERRED");
    const moved = { move: "m-1", from: "i-a", to: "i-b", fromEpoch: 6, toEpoch: 7, moveKind: "voluntary", actor: "otto", phase: "COMMIT" };

    it("shows a live move, which is recorded without its basis, and everything before it", () => {
      const asked = decided("MOVE_REQUESTED", { move: "m-1", to: "i-b", actor: "otto" }, "COMMAND");
      expect(explainUnit({ ...about, decisions: [decided("MOVED", moved), asked, placed] }).slice(2)).toEqual([
        "  2023-11-14T22:13:20Z moved from a to b, asked for by otto",
        "  2023-11-14T22:13:20Z move to b asked for by otto",
        "  2023-11-14T22:13:20Z placed on a: the ring prefers it",
      ]);
    });

    it("takes the basis of a move from the plan whose step it was", () => {
      const A = aRow("a");
      const made = makePlan(aFacts([A, aRow("b")], [aUnitRow("x", "a", 10)]), { kind: "drain", instance: A }, { at: NOON });
      const plan = storedPlanOf(made, { id: "p-1" as PlanId, goal: "drain", subject: "a", actor: "otto", at: NOON });
      const decisions = [decided("MOVED", { ...moved, plan: plan.id })];
      expect(explainUnit({ ...about, decisions, plans: [plan] }).slice(2)).toEqual([
        "  2023-11-14T22:13:20Z moved from a to b, FORCED: plan p-1, carried out by otto",
        "    because it may not stay: it is DRAINING",
        "    refused: a, it is DRAINING",
      ]);
      expect(explainUnit({ ...about, decisions, plans: [] })).toHaveLength(3);
    });

    it("takes neither the request nor the end of a move for the decision that put it where it is", () => {
      const gaveUp = decided("MOVE_ABORTED", { ...moved, reason: "given up by anna" }, "COMMAND");
      const lines = explainUnit({ ...about, decisions: [gaveUp, placed] });
      expect(lines[2]).toBe("  2023-11-14T22:13:20Z the move to b was ended in COMMIT: given up by anna");
      expect(lines[3]).toBe("  2023-11-14T22:13:20Z placed on a: the ring prefers it");
    });

    it("says what is under way, who asked for it, and what is next", () => {
      const lines = (over: Partial<Move>) => explainUnit({ ...about, decisions: [], move: { ...move, ...over } }).slice(1, 3);
      expect(lines({})).toEqual([
        "  being moved from a to b: in REVOKE since 2023-11-14T22:13:20Z, asked for by otto; waits for two refusals",
        "  next: b takes over; `argosy move abort m-1` leaves it where it is",
      ]);
      expect(lines({ phase: "WAITING", message: "", plan: "p-1" as PlanId })[0]).toBe(
        "  waits for its turn to be moved from a to b: in WAITING since 2023-11-14T22:13:20Z, asked for by otto, a step of plan p-1",
      );
      expect(lines({ phase: "CLEANUP", isFailOver: true })[0]).toContain("a fail-over");
      expect(lines({ phase: "CLEANUP" })[1]).toBe("  next: b has taken over; what is left on a is removed");
      expect(lines({ phase: "ABORT" })[1]).toBe("  next: it stays on a, once b is empty of it");
    });

    it("says what an order that is not carried out yet waits for, and who may carry it out", () => {
      const pin = { ...{ actor: "otto", reason: "gpu", at }, kind: "instance" as const, instance: "i-a" as InstanceId };
      const directive = { pin, hold: undefined };
      const next = (over: Partial<Explained>) => explainUnit({ ...about, directive, decisions: [], ...over })[2];
      expect(next({})).toBe("  next: it is to go to a, as ordered: `argosy plan` says how; the scheduler proposes it within two minutes");
      expect(next({ owner: aRow("a") })).toBe(`  next: ${STAYS}`);
      const pool = { ...{ actor: "otto", reason: "gpu", at }, kind: "pool" as const, pool: "gpu" };
      expect(next({ directive: { pin: pool, hold: undefined } })).toContain("it is to go to pool gpu");
      const facts = aFacts([aRow("a"), aRow("b")], [aUnitRow("x", "b", 10, { directive })]);
      const made = makePlan(facts, { kind: "rebalance" }, { at: NOON });
      const plan = storedPlanOf(made, { id: "p-2" as PlanId, goal: "rebalance", subject: "", actor: "scheduler", at: NOON });
      const proposes = "  next: `argosy apply p-2` moves it to a (FORCED, proposed by scheduler, until 2023-11-14T23:13:20Z)";
      expect(plan.moves).toHaveLength(1);
      const withApproval = (approval: readonly string[]) => ({ ...plan, report: { ...plan.report, approval } });
      expect(next({ plans: [withApproval([])] })).toBe(proposes);
      expect(next({ plans: [withApproval(["SHARE"])] })).toBe(`${proposes}; it needs an approver (it moves much: share)`);
      expect(
        next({
          plans: [
            { ...plan, appliedAt: NOON },
            { ...plan, expiresAt: NOON },
            { ...plan, goal: "add" },
          ],
        }),
      ).toContain("as ordered");
      expect(next({ unit: { ...unit, epoch: 8 }, plans: [plan] })).toContain("as ordered");
    });

    it("says that its instance is emptied, has failed or is gone", () => {
      const next = (owner: Explained["owner"]) => explainUnit({ ...about, owner, decisions: [] })[1];
      expect(next(aRow("b", { state: "DRAINING" }))).toContain("`argosy drain b` shows how far that is");
      expect(next(aRow("b", { state: "FAILED" }))).toContain("b has failed");
      expect(next(undefined)).toContain("its instance is gone");
    });

    it("shows no more entries than a person reads, and always the one that put it where it is", () => {
      const asked = Array.from({ length: 40 }, () => decided("MOVE_REQUESTED", { to: "i-b" }, "COMMAND"));
      const lines = explainUnit({ ...about, decisions: [...asked, placed] });
      expect(lines.at(-2)).toBe("  2023-11-14T22:13:20Z placed on a: the ring prefers it");
      expect(lines.at(-1)).toBe("  and 28 more: `argosy journal --workspace x`");
    });

    it("shows entries of any version", () => {
      const kept = fc.dictionary(
        fc.constantFrom("record", "refusals", "bound", "mean", "chosen", "from", "to", "plan", "reason"),
        fc.jsonValue(),
      );
      const verdict = fc.constantFrom("CHOSEN", "UNPLACEABLE", "MOVED", "MOVE_REQUESTED", "MOVE_ABORTED", "RECOVERED", "SPLIT", "LATER");
      fc.assert(
        fc.property(verdict, kept, (name, details) => {
          const decision = parseDecision(decided(name, details as Decision["details"]));
          const lines = explainUnit({ ...about, decisions: [decision] });
          expect(lines.length).toBeGreaterThan(2);
          expect(lines.join("\n")).not.toMatch(/undefined|null|\[object/);
        }),
      );
    });
  });
});

describe("a workspace in groups", () => {
  const groups = { apart: { "class.argosy.dev/customer": "acme" }, together: "class.argosy.dev/product=shop" };
  const about = { namespace: "anna", directive: NO_DIRECTIVE, decisions: [], instanceName: (id: string) => id };

  it("reads which, and that it may have to leave after they were changed", () => {
    const { unit } = aUnitRow("anna", "a", 1);
    expect(explainUnit({ ...about, unit, groups })).toContain(
      "  in groups by labels of its namespace: class.argosy.dev/customer=acme apart from other values, class.argosy.dev/product=shop together where that is possible",
    );
    expect(explainUnit({ ...about, unit: { ...unit, isRegrouped: true }, groups }).join("\n")).toContain("next: its groups were changed");
    expect(explainUnit({ ...about, unit })).toHaveLength(3);
  });
});
