import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "./clock.ts";
import { DECISION_KINDS, type Decision } from "./decision.ts";
import { decisionText } from "./decision-text.ts";
import { parseDecision } from "./parse-decision.ts";

const NAMES: Readonly<Record<string, string>> = { "i-a": "one", "i-b": "two" };
const reported = (what: string, details: Decision["details"], rule = "COMMAND"): string => {
  const [kind, verdict] = what.split(" ") as [Decision["kind"], string];
  return decisionText(parseDecision({ at: millis(0), subject: "s", kind, verdict, rule, details }), (id) => NAMES[id] ?? id);
};

describe("a decision as a sentence", () => {
  it.each([
    ["placement CHOSEN", { chosen: "i-a" }, "SPILL", "placed on one: the first candidate of the ring with room"],
    ["placement CHOSEN", { chosen: "i-a" }, "LATER", "placed on one: LATER"],
    ["placement UNPLACEABLE", { chosen: null }, "NOTHING_FITS", "not placed: no instance has room for it"],
    [
      ...["placement UNPLACEABLE", { chosen: null, wantedClass: "eu/shared/internal" }, "NOTHING_FITS"],
      "not handed over to class eu/shared/internal: no instance of it has room for it",
    ],
    [
      ...["placement UNPLACEABLE", { wantedClass: "eu/shared/internal", reason: "an older release" }, "NOT_MOVABLE"],
      "not handed over to class eu/shared/internal: an older release",
    ],
    ["placement MOVE_REQUESTED", { to: "i-b", actor: "anna", plan: null, reverses: null }, "COMMAND", "move to two asked for by anna"],
    [
      "fleet PROPOSED",
      { actor: "otto", reason: "egress changed" },
      "TWO_PEOPLE",
      "a declaration that needs a second person was proposed by otto: egress changed",
    ],
    [
      "fleet APPROVED",
      { actor: "anna", proposedBy: "otto", reason: "agreed" },
      "TWO_PEOPLE",
      "what otto proposed was approved by anna: agreed",
    ],
    [
      "plan GROWN",
      { pool: "standard", before: 3, after: 5, reason: "80 % are expected" },
      "FORECAST",
      "pool standard is to have 5 instances instead of 3: 80 % are expected",
    ],
    [
      "placement CUT",
      { part: 1, parts: 2 },
      "PARTS",
      "cut in two where it is: part 1 stays, and the rest is to leave, so that its workspace has 2 parts",
    ],
    [
      "placement JOINED",
      { part: 2, parts: 3, into: 0 },
      "PARTS",
      "part 2 of 3 is to be joined with part 0: fewer have done with 40 % to spare",
    ],
    ["placement TAKEN_OVER", { part: 2, parts: 2 }, "PARTS", "all of part 2 has passed to the part it is joined with, and 2 are left"],
    [
      "placement UNPLACEABLE",
      { apartFrom: "customer=acme" },
      "NOTHING_FITS",
      "not handed over away from customer=acme: no other instance has room for it",
    ],
    ["plan SHRUNK", { pool: "standard", before: 3, after: 2 }, "FORECAST", "pool standard does with 2 instances instead of 3"],
    ["plan AT_CEILING", { class: "eu/shared/public" }, "FORECAST", "class eu/shared/public needs more instances than it gets"],
    ["plan KEPT", { from: "i-a", reason: "4 % were to leave, 3 % did" }, "PROMISE", "its moves relieved one: 4 % were to leave, 3 % did"],
    [
      "plan BROKEN",
      { from: "i-a", reason: "4 % were to leave, 1 % did", class: "eu/shared/public", fallsBackUntil: "2026-11-28T00:00:00Z" },
      "PROMISE",
      "its moves did not relieve one as they were to: 4 % were to leave, 1 % did; class eu/shared/public only proposes until 2026-11-28T00:00:00Z",
    ],
    ["plan BROKEN", { from: "i-a" }, "PROMISE", "its moves did not relieve one as they were to"],
    [
      "plan NOT_MEASURED",
      { from: "i-b", reason: "nothing was moved" },
      "NOTHING_MOVED",
      "what its moves did to two is not known: nothing was moved",
    ],
    ["fleet REJECTED", { actor: "anna", proposedBy: "otto" }, "TWO_PEOPLE", "what otto proposed was rejected by anna"],
    [
      "fleet WITHDRAWN",
      { actor: "otto", proposedBy: "otto", reason: "not yet" },
      "TWO_PEOPLE",
      "a proposal was taken back by otto: not yet",
    ],
    ["placement MOVE_REQUESTED", { to: "i-b", actor: "anna", plan: "p" }, "FORCED", "move to two asked for by anna, a step of plan p"],
    [
      "placement MOVE_REQUESTED",
      { to: "i-b", actor: "anna", reason: "near its data" },
      "COMMAND",
      "move to two asked for by anna: near its data",
    ],
    [
      ...["placement MOVE_REQUESTED", { to: "i-b", actor: "anna", isFailOver: true, reverses: "m" }, "COMMAND"],
      "fail-over to two asked for by anna, to take back move m",
    ],
    ["placement MOVED", { from: "i-a", to: "i-b", actor: "anna", plan: null }, "FORCED", "moved from one to two, asked for by anna"],
    [
      ...["placement MOVED", { from: "i-a", to: "i-b", actor: "anna", plan: "p", isFailOver: true }, "FORCED"],
      "moved from one to two by a fail-over, FORCED: plan p, carried out by anna",
    ],
    ["placement MOVE_ABORTED", { to: "i-b", phase: "REVOKE", why: "late" }, "X", "the move to two was ended in REVOKE: late"],
    ["placement MOVE_ABORTED", { to: "gone" }, "TIMEOUT", "the move to gone was ended: TIMEOUT"],
    [
      ...["placement RECOVERED", { from: "i-a", to: "i-b" }, "MOVED"],
      "after the database was restored: it lives on two, as what stands says; the backup had it on one",
    ],
    ["placement RECOVERED", { from: "i-a", to: "i-a" }, "KEPT", "after the database was restored: it lives on one, and what stands agrees"],
    [
      "placement RECOVERED",
      { from: null, to: null },
      "STRANGER",
      /an account that nobody knows may write in its namespace; it stays nowhere/,
    ],
    ["placement SPLIT", { before: 1, after: 3, held: 2 }, "LARGEST_UNIT", /3 parts instead of 1: .*2 buckets stay/],
    ["placement MERGED", { before: 3, after: 1, held: 0 }, "SLACK", /1 parts? instead of 3: /],
    ["owner-binding REPAIRED", { reason: "was edited" }, "EDITED", "was edited"],
    ["directive PINNED", { actor: "anna", reason: "gpu", instance: "i-a" }, "COMMAND", "pinned to one by anna: gpu"],
    ["directive PINNED", { actor: "anna", reason: "gpu", pool: "large" }, "COMMAND", "pinned to pool large by anna: gpu"],
    ["directive PINNED", {}, "COMMAND", "pinned to an instance"],
    ["directive UNPINNED", { actor: "anna", reason: "done" }, "COMMAND", "unpinned by anna: done"],
    [
      "directive HELD",
      { actor: "anna", until: 0, reason: "r" },
      "C",
      "not to be moved until 1970-01-01T00:00:00Z unless it must be, said by anna: r",
    ],
    [
      ...["directive ASSIGNED", { actor: "otto", class: "eu/gold/public", reason: "bought gold" }, "COMMAND"],
      "assigned to class eu/gold/public by otto: bought gold",
    ],
    [
      ...["directive UNASSIGNED", { actor: "otto", class: null, reason: "sold it" }, "COMMAND"],
      "has the class that its labels ask for, or the one it has, said by otto: sold it",
    ],
    ["directive HELD", { until: 1e300 }, "C", "not to be moved unless it must be, said"],
    ["directive RELEASED", { actor: "anna" }, "C", "may be moved again, said by anna"],
    [
      ...["directive FROZEN", { actor: "anna", seconds: 7200, schedule: "0 18 * * 5", reason: "weekend" }, "C"],
      "nothing is moved that need not be for 120 min from each 0 18 * * 5 on, said by anna: weekend",
    ],
    [
      "directive TOKEN_CREATED",
      { actor: "anna", name: "ci", role: "viewer", expiresInSeconds: 7_776_000 },
      "C",
      "token ci with role viewer made by anna, for 90 days",
    ],
    [
      "directive TOKEN_CREATED",
      { actor: "anna", name: "ci", role: "viewer", expiresInSeconds: 900 },
      "C",
      "token ci with role viewer made by anna, for 15 min",
    ],
    [
      "directive TOKEN_CREATED",
      { actor: "anna", name: "ci", role: "approver", expiresInSeconds: null },
      "C",
      "token ci with role approver made by anna, without end",
    ],
    ["directive TOKEN_REVOKED", { actor: "anna", name: "ci" }, "C", "token ci revoked by anna"],
    ["directive THAWED", { actor: "anna" }, "C", "the freeze was taken back by anna"],
    ["directive ADOPTED", { actor: "anna" }, "C", "taken over from an Argo CD made by hand by anna"],
    ["fleet DECLARED", { actor: "anna", revision: 3, reason: "pools.a added" }, "C", "fleet declared by anna, revision 3: pools.a added"],
    ["fleet DECLARED", { actor: "anna", revision: 3, pools: ["a", "b"] }, "C", "fleet declared by anna, revision 3: pools a, b"],
    ["fleet PRUNED", { actor: "anna", revision: 3, pools: ["a"] }, "C", /asked to go by anna, revision 3: pool a/],
    ["plan PROPOSED", { actor: "scheduler", goal: "drain", subject: "one", moves: 1 }, "DRAIN", "a plan to drain one by scheduler: 1 move"],
    [
      "plan APPLIED",
      { actor: "anna", moved: 1, asked: 2, dropped: 0 },
      "C",
      "carried out by anna: 1 moved at once, 2 asked for as live moves, 0 left",
    ],
    ["plan APPLIED", {}, "C", "carried out"],
    ["health STALLED", { text: "its redis is stuck" }, "REDIS", "its redis is stuck"],
    ["ownership TWO_OWNERS", { text: "two work for it" }, "WATCHDOG", "two work for it"],
    ["instance ACTIVE", {}, "applied", "ACTIVE (applied)"],
    ["rollout UNFROZEN", { actor: "anna" }, "COMMAND", "UNFROZEN (COMMAND) by anna"],
  ] as readonly (readonly [string, Decision["details"], string, string | RegExp])[])("%s %j by %s", (what, details, rule, text) => {
    if (typeof text === "string") expect(reported(what, details, rule)).toBe(text);
    else expect(reported(what, details, rule)).toMatch(text);
  });

  it("has words for whatever any version has written", () => {
    const verdicts = [
      "CHOSEN",
      "MOVED",
      "MOVE_ABORTED",
      "RECOVERED",
      "SPLIT",
      "PINNED",
      "HELD",
      "FROZEN",
      "DECLARED",
      "PRUNED",
      "APPLIED",
      "X",
    ];
    const members = [
      "from",
      "to",
      "plan",
      "actor",
      "reason",
      "text",
      "why",
      "chosen",
      "until",
      "seconds",
      "schedule",
      "pools",
      "moves",
      "before",
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...DECISION_KINDS),
        fc.constantFrom(...verdicts),
        fc.dictionary(fc.constantFrom(...members), fc.jsonValue()),
        (kind, verdict, details) => {
          const text = reported(`${kind} ${verdict}`, details as Decision["details"]);
          expect(text).not.toBe("");
          expect(text).not.toContain("undefined");
        },
      ),
    );
  });
});
