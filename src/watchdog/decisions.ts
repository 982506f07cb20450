import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { CLEARED, type OwnershipFinding } from "../domain/ownership.ts";

/** The journal's entry of what was found. */
export function foundDecision({ key, rule, subject, instances, text }: OwnershipFinding, at: Millis): Decision {
  return { at, subject, kind: "ownership", verdict: rule, rule: "WATCHDOG", details: { key, instances, reason: text } };
}

/** The journal's entry of what is not so any more. */
export function clearedDecision({ key, rule, subject, instances, text }: OwnershipFinding, at: Millis): Decision {
  return { at, subject, kind: "ownership", verdict: CLEARED, rule, details: { key, instances, reason: text } };
}

/** What one look adds to the journal. */
export function entriesOf(
  { opened, cleared }: { readonly opened: readonly OwnershipFinding[]; readonly cleared: readonly OwnershipFinding[] },
  at: Millis,
): readonly Decision[] {
  return [...opened.map((each) => foundDecision(each, at)), ...cleared.map((each) => clearedDecision(each, at))];
}
