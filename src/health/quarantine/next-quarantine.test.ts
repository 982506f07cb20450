import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import { NO_DIRECTIVE } from "../../domain/directive.ts";
import type { InstanceId, MoveId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { MovePhase } from "../../domain/move.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { aDecision, anInstance } from "../../store/testing/builders.ts";
import { endDecision, openQuarantines, pinOf, type Quarantine, quarantined } from "./entries.ts";
import { nextQuarantine, type OpenFacts } from "./next-quarantine.ts";

const NOW = millis(1_700_000_000_000);
const HOUR_MS = 3_600_000;
const QUARANTINE: Quarantine = {
  ...{ source: "a" as InstanceId, sourceName: "standard-1", class: "eu/shared/public", namespace: "noisy", at: millis(NOW - 60_000) },
  ...{ workspaceId: "w" as WorkspaceId, unitId: "u" as UnitId, target: "standard-2", pool: "standard", isNew: true },
};
const target = (over: Partial<Instance> = {}): Instance => anInstance({ id: "b" as InstanceId, name: "standard-2", ...over });
const KEPT = target({ state: "CORDONED", ...quarantined(QUARANTINE) });
const OPEN = target();
const on = (owner: string | undefined) => ({ unit: { id: "u", owner } as unknown as PlacementUnit, directive: NO_DIRECTIVE, parts: 1 });
const pinned = (owner: string) => ({ ...on(owner), directive: { ...NO_DIRECTIVE, pin: pinOf(QUARANTINE, OPEN, NOW) } });
const move = (phase: MovePhase) => ({ id: "m" as MoveId, phase });

const next = (over: Partial<OpenFacts>) =>
  nextQuarantine({
    ...{ now: NOW, quarantine: QUARANTINE, isFirst: true, verdict: "overloaded", held: on("a"), freeze: undefined },
    ...{ target: OPEN, targetUnits: 0, refusal: undefined, move: undefined },
    ...over,
  });
const reported = (over: Partial<OpenFacts>): string => {
  const step = next(over);
  if (step.kind === "end") return `${step.outcome}: ${step.text}`;
  return step.kind === "wait" ? `wait for ${step.for}` : step.kind;
};
const none = (why: string): string => `given-up: no instance of its own for noisy: ${why}`;
const FILLING: Quarantine = { ...QUARANTINE, filled: "disk" };
const old = { ...QUARANTINE, at: millis(NOW - HOUR_MS) };

describe("the next step of a quarantine", () => {
  it.each<readonly [string, Partial<OpenFacts>, string]>([
    ["creates the target", { target: undefined }, "create"],
    ["waits until the target serves", { target: target({ state: "WARMING" }) }, "wait for standard-2, which is WARMING"],
    [
      "also where its creation has failed and is tried again",
      { target: target({ state: "FAILED" }) },
      "wait for standard-2, which is FAILED",
    ],
    ["pins the workspace to it", {}, "pin"],
    ["also while the health of the instance is unknown", { verdict: "unknown" }, "pin"],
    ["then requests the live move", { held: pinned("a") }, "move"],
    ["also if the instance is healthy by then", { held: pinned("a"), verdict: "healthy" }, "move"],
    ["waits for the turn of the move", { held: pinned("a"), move: move("WAITING") }, "wait for the turn of its live move"],
    ["cordons the target once the move has begun", { held: pinned("a"), move: move("PREPARE") }, "cordon"],
    ["waits for the end of the move", { held: pinned("a"), move: move("FENCE"), target: KEPT }, "wait for its live move"],
    ["cordons the target also where the move has ended first", { held: pinned("b"), move: move("DONE") }, "cordon"],
    [
      "is done when the workspace lives there alone",
      { held: pinned("b"), move: move("GRANT"), target: KEPT },
      "done: noisy has left standard-1 and lives on standard-2, alone",
    ],
    [
      "also with units that came before the cordon",
      { held: pinned("b"), move: move("DONE"), target: KEPT, targetUnits: 3 },
      "done: noisy has left standard-1 and lives on standard-2, with 2 that came before it was closed",
    ],
    ["gives up when the overload has ended", { verdict: "healthy" }, none("standard-1 is healthy again")],
    ["but not while it fills a repo-server, which is well between two evictions", { verdict: "healthy", quarantine: FILLING }, "pin"],
    ["or another one of the class began before it", { isFirst: false }, none("another one of its class began before it")],
    ["or it takes an hour", { quarantine: old, target: target({ state: "CREATING" }) }, none("standard-2 does not serve yet")],
    ["or a freeze began", { freeze: "release" }, none("a freeze holds: release")],
    ["or the workspace was split", { held: { ...on("a"), parts: 2 } }, none("noisy has 2 parts, which live apart")],
    ["or it has left the instance", { held: on("c") }, none("noisy has left standard-1 meanwhile")],
    ["or is gone", { held: undefined }, none("noisy is gone")],
    ["or other units came to the target first", { targetUnits: 1 }, none("standard-2 serves others by now")],
    ["or the target is drained", { target: target({ state: "DRAINING" }) }, none("standard-2 is DRAINING by now")],
    [
      "or the existing instance that was chosen is gone",
      { target: undefined, quarantine: { ...QUARANTINE, isNew: false } },
      none("standard-2 is gone"),
    ],
    ["or the workspace cannot be moved", { refusal: "it may not" }, none("it may not")],
    ["or its move fails", { held: pinned("a"), move: move("ABORT"), target: KEPT }, none("its live move is ABORT")],
    ["or its move gets no turn", { quarantine: old, held: pinned("a"), move: move("WAITING") }, none("its live move did not get its turn")],
    [
      "is called off by a person who unpins the workspace",
      { held: on("a"), move: move("WAITING") },
      "called-off: a person has unpinned noisy",
    ],
    ["also when it lives on the target", { held: on("b"), target: KEPT }, "called-off: a person has unpinned noisy"],
  ])("%s", (_what, over, expected) => expect(reported(over)).toBe(expected));

  it("undoes what it did, and nothing that a person did", () => {
    expect(next({ held: pinned("a"), move: move("ABORTED"), target: KEPT })).toMatchObject({
      undo: { unpin: true, uncordon: KEPT, abort: undefined },
    });
    expect(next({ quarantine: old, held: pinned("a"), move: move("WAITING") })).toMatchObject({
      undo: { unpin: true, uncordon: undefined, abort: "m" },
    });
    const byHand = target({ state: "CORDONED", reason: "cordoned by ada: broken" });
    expect(next({ target: byHand })).toMatchObject({ undo: { unpin: false, uncordon: undefined, abort: undefined } });
  });
});

describe("quarantines in the journal", () => {
  const { at, ...kept } = QUARANTINE;
  const begun = aDecision({ at, subject: "a", kind: "health", verdict: "QUARANTINE", details: { text: "", quarantine: kept } });
  const advice = aDecision({ at, subject: "a", kind: "health", verdict: "QUARANTINE", details: { text: "", isAdvice: true } });

  it("are open from beginning to end, and advice does not count", () => {
    expect(openQuarantines([advice, begun])).toEqual([QUARANTINE]);
    expect(openQuarantines([endDecision(QUARANTINE, "done", "", NOW), begun])).toEqual([]);
  });

  it("say what the workspace did, in the pin and with the instance that is closed for it", () => {
    expect([pinOf(QUARANTINE, OPEN, NOW).reason, quarantined(QUARANTINE).reason]).toEqual([
      "quarantine: it took most of standard-1",
      "cordoned by health: quarantine of noisy, which took most of standard-1",
    ]);
    expect([pinOf(FILLING, OPEN, NOW).reason, quarantined(FILLING).reason]).toEqual([
      "quarantine: it filled the disk of the repo-server of standard-1",
      "cordoned by health: quarantine of noisy, which filled the disk of the repo-server of standard-1",
    ]);
    const details = { text: "", quarantine: { ...kept, filled: "disk" } };
    expect(openQuarantines([{ ...begun, details }])).toEqual([FILLING]);
  });

  it("are distinguished by when they began, the oldest first", () => {
    const again = { ...begun, at: NOW };
    const other = { ...begun, subject: "c", details: { quarantine: { ...kept, source: "c" } } };
    expect(openQuarantines([again, endDecision(QUARANTINE, "given-up", "", NOW), other, begun]).map((one) => [one.source, one.at])).toEqual(
      [
        ["c", at],
        ["a", NOW],
      ],
    );
  });
});
