import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import { MOVE_PHASES } from "../domain/move.ts";
import { A, aMove, anOwnershipObservation, aRow, aSeen, B, CLASS, judgeOwnership, NOW, UNIT, type Whole } from "./testing/observations.ts";

const found = (over: Parameters<typeof anOwnershipObservation>[0]) =>
  judgeOwnership(anOwnershipObservation(over)).map(({ rule, subject, text }) => [rule, subject, text]);
const paused = aSeen({ isPaused: true });
const arriving = aSeen({ isArriving: true });
const longAgo = millis(NOW - 8 * 60_000);

describe("the ownership of applications", () => {
  it("is in order where only its owner works on each application", () => {
    expect(found({})).toEqual([]);
  });

  it("is in order through a whole move", () => {
    const moving = { owned: [aRow({ isMoving: true })] };
    expect(found({ ...moving, moves: [aMove("PREPARE")], onB: [arriving] })).toEqual([]);
    expect(found({ ...moving, moves: [aMove("REVOKE", 3_000)], onA: [paused], onB: [paused] })).toEqual([]);
    const owned = [aRow({ owner: B, isMoving: true })];
    expect(found({ owned, moves: [aMove("VERIFY", 9_000)], onA: [paused], onB: [aSeen()] })).toEqual([]);
    expect(found({ owned: [aRow({ owner: B })], moves: [aMove("CLEANUP", 9_000)], onA: [paused], onB: [aSeen()] })).toEqual([]);
    expect(found({ moves: [aMove("ABORT", 9_000)], onB: [arriving] })).toEqual([]);
  });

  it.each<[string, Parameters<typeof anOwnershipObservation>[0], readonly string[]]>([
    ["two instances work on an application", { onB: [aSeen()] }, ["TWO_OWNERS", UNIT, "Application web is worked on by one and two"]],
    [
      "two work on it in the middle of a move",
      { moves: [aMove("ACTIVATE", 1_000)], onB: [aSeen()] },
      ["TWO_OWNERS", UNIT, "Application web is worked on by one and two"],
    ],
    ["its Application is gone", { onA: [] }, ["NO_OWNER", UNIT, "Application web is not on its owner one"]],
    [
      "it works on an instance of another class, whose workspaces it must not live with",
      { owned: [aRow({ class: "eu/shared/internal" })] },
      [
        ...["OTHER_CLASS", UNIT],
        "Application web works on one, which is of class eu/shared/public; its workspace is of eu/shared/internal",
      ],
    ],
    [
      "it is paused and nothing moves it",
      { onA: [paused] },
      ["NO_OWNER", UNIT, "Application web on one is paused, and no move is under way"],
    ],
    [
      "a move hangs between owners",
      { moves: [aMove("GRANT", 61_000)], onA: [paused] },
      ["NO_OWNER", UNIT, "move m-1 has left it without an owner for more than 60 s, in GRANT"],
    ],
    [
      "no row wants an Application",
      { owned: [], onA: [], onB: [aSeen()] },
      ["ORPHAN", B, "Application web stands on two: no row wants it"],
    ],
    ["a paused copy stands elsewhere", { onB: [paused] }, ["ORPHAN", B, "Application web stands on two: its owner is one"]],
    ["a controller does not answer", { silent: new Set([B]) }, ["FROZEN", B, "two does not answer: its controller stands still"]],
    [
      "a refresh is not carried out",
      { onA: [aSeen({ awaitsRefresh: true, reconciledAt: longAgo })], waitingSince: new Map([["uid-web", millis(NOW - 60_000)]]) },
      ["FROZEN", A, "one has not refreshed web for a minute since it was asked to"],
    ],
    [
      "it is green and nothing is compared",
      { onA: [aSeen({ reconciledAt: longAgo })] },
      ["FROZEN", A, "one has compared none of its Applications for 420 s, and web say that all is well"],
    ],
  ])("is wrong where %s", (_what, over, expected) => expect(found(over)).toEqual([expected]));

  it.each<[string, Parameters<typeof anOwnershipObservation>[0]]>([
    ["a new application that has not stood yet", { owned: [aRow({ hasStood: false })], onA: [] }],
    ["one that its user deletes", { owned: [aRow({ isLeaving: true })], onA: [], onB: [paused] }],
    ["an instance that cannot be reached", { seen: new Map([[B, []]]) }],
    ["one whose controller does not answer either", { seen: new Map([[B, []]]), silent: new Set([A]) }],
    ["an Application that is being deleted", { owned: [], onA: [], onB: [aSeen({ isDeleting: true })] }],
    ["a refresh that was requested a moment ago", { onA: [aSeen({ awaitsRefresh: true })], waitingSince: new Map([["uid-web", NOW]]) }],
    [
      "refreshes that follow each other",
      { onA: [aSeen({ awaitsRefresh: true })], waitingSince: new Map([["uid-web", millis(NOW - 90_000)]]) },
    ],
    [
      "an instance that compares one of many",
      { owned: [aRow(), aRow({ argoName: "api" })], onA: [aSeen({ reconciledAt: longAgo }), aSeen({ name: "api" })] },
    ],
    ["an Application that is neither compared nor green", { onA: [aSeen({ reconciledAt: longAgo, isGreen: false })] }],
  ])("is in order for %s", (_what, over) => expect(found(over)).toEqual([]));

  it("is in order through a move to another class: whoever owns it has that class, and the other copy is paused", () => {
    const OTHER = "eu/shared/internal";
    const instances = [
      { id: A, name: "one", class: CLASS },
      { id: B, name: "two", class: OTHER },
    ];
    const moving = { instances, owned: [aRow({ isMoving: true })] };
    expect(found({ ...moving, moves: [aMove("PREPARE")], onB: [arriving] })).toEqual([]);
    expect(found({ ...moving, moves: [aMove("REVOKE", 3_000)], onA: [paused], onB: [paused] })).toEqual([]);
    const owned = [aRow({ owner: B, class: OTHER, isMoving: true })];
    expect(found({ instances, owned, moves: [aMove("VERIFY", 9_000)], onA: [paused], onB: [aSeen()] })).toEqual([]);
    expect(
      found({ instances, owned: [aRow({ owner: B, isMoving: true })], moves: [aMove("VERIFY", 9_000)], onA: [], onB: [aSeen()] }),
    ).toEqual([
      ["OTHER_CLASS", UNIT, "Application web works on two, which is of class eu/shared/internal; its workspace is of eu/shared/public"],
    ]);
  });

  it("reports workspaces that work on one instance and must be apart, once for each label, and none that is paused or free", () => {
    const CUSTOMER = "class.argosy.dev/customer";
    const of = (argoName: string, customer?: string) =>
      aRow({ argoName, unitId: argoName as typeof UNIT, ...(customer === undefined ? {} : { apart: { [CUSTOMER]: customer } }) });
    const on = (...names: readonly string[]) => names.map((name) => aSeen({ name, uid: name }));
    const owned = [of("web", "acme"), of("api", "acme"), of("spy", "other"), of("free")];
    expect(found({ owned: owned.filter(({ argoName }) => argoName !== "spy"), onA: on("web", "api", "free") })).toEqual([]);
    expect(found({ owned, onA: on("web", "api", "spy", "free") })).toEqual([
      ["NOT_APART", A, "one works for 2 values of class.argosy.dev/customer, which must be apart: api of acme, spy of other"],
    ]);
    const leaves = [...on("web", "api", "free"), aSeen({ name: "spy", uid: "spy", isPaused: true })];
    expect(found({ owned, moves: [{ ...aMove("PREPARE"), unitId: "spy" as typeof UNIT }], onA: leaves })).toEqual([]);
  });

  it("has the same findings in whatever order things are read", () => {
    const rows = ["a", "b", "c"].map((argoName) => aRow({ argoName }));
    const one = anOwnershipObservation({ owned: rows, onA: [], onB: rows.map(({ argoName }) => aSeen({ name: argoName, uid: argoName })) });
    const other: Whole = { ...one, owned: rows.toReversed(), seen: new Map([...one.seen].toReversed()) };
    expect(judgeOwnership(one)).toEqual(judgeOwnership(other));
    expect(judgeOwnership(one)).toHaveLength(6);
  });

  it("reports no missing owner in a phase of a move that has just begun", () => {
    for (const phase of MOVE_PHASES)
      expect(found({ owned: [aRow({ isMoving: true })], moves: [aMove(phase, 1_000)], onA: [paused] })).toEqual([]);
  });
});
