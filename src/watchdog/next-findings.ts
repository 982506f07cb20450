import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { CLEARED, type OwnershipFinding } from "../domain/ownership.ts";

/** What the watchdog remembers of one thing that it found. */
interface Known {
  readonly finding: OwnershipFinding;
  /** It was reported. */
  readonly isOpen: boolean;
  /** Looks in a row that did not find what was reported. */
  readonly missed: number;
}

export interface Findings {
  readonly known: ReadonlyMap<string, Known>;
}

export interface NextFindings {
  readonly next: Findings;
  /** Found for the second time in a row: to be reported. */
  readonly opened: readonly OwnershipFinding[];
  /** Reported, and not found for the second time in a row. */
  readonly cleared: readonly OwnershipFinding[];
  /** Whether something was found, or not found any more, that one more look has to confirm. */
  readonly isUnsure: boolean;
}

/** What was reported before this process began to look. */
export function startFindings(open: readonly OwnershipFinding[]): Findings {
  return { known: new Map(open.map((finding) => [finding.key, { finding, isOpen: true, missed: 0 }])) };
}

/**
 * What follows from one more look. Rows and instances are read one after the other, so that a single look may find what is not so: a
 * finding is reported when two looks in a row have it, and cleared when two in a row have not. What is about an instance that could not be
 * looked at stays as it was (`isBlind`).
 */
export function nextFindings(
  { known }: Findings,
  found: readonly OwnershipFinding[],
  isBlind: (finding: OwnershipFinding) => boolean = () => false,
): NextFindings {
  const now = new Map(found.map((finding) => [finding.key, finding]));
  const next = new Map<string, Known>();
  const opened: OwnershipFinding[] = [];
  const cleared: OwnershipFinding[] = [];
  for (const finding of found) {
    const before = known.get(finding.key);
    if (before !== undefined && !before.isOpen) opened.push(finding);
    next.set(finding.key, { finding, isOpen: before !== undefined, missed: 0 });
  }
  for (const [key, before] of known) {
    if (now.has(key)) continue;
    if (isBlind(before.finding)) next.set(key, before);
    else if (before.isOpen && before.missed === 0) next.set(key, { ...before, missed: 1 });
    else if (before.isOpen) cleared.push(before.finding);
  }
  const isUnsure = [...next.values()].some(({ isOpen, missed }) => !isOpen || missed > 0);
  return { next: { known: next }, opened, cleared, isUnsure };
}

/** Since when each Application has been seen to wait for a look, by uid: those that wait no more are forgotten. */
export function nextWaiting(
  before: ReadonlyMap<string, Millis>,
  seen: Iterable<{ readonly uid: string; readonly awaitsRefresh: boolean }>,
  now: Millis,
): ReadonlyMap<string, Millis> {
  return new Map([...seen].filter(({ awaitsRefresh }) => awaitsRefresh).map(({ uid }) => [uid, before.get(uid) ?? now]));
}

/** What one look adds to the journal. */
export function entriesOf(
  { opened, cleared }: { readonly opened: readonly OwnershipFinding[]; readonly cleared: readonly OwnershipFinding[] },
  at: Millis,
): readonly Decision[] {
  return [...opened.map((each) => foundDecision(each, at)), ...cleared.map((each) => clearedDecision(each, at))];
}

/** The journal's entry of what was found. */
export function foundDecision({ key, rule, subject, instances, text }: OwnershipFinding, at: Millis): Decision {
  return { at, subject, kind: "ownership", verdict: rule, rule: "WATCHDOG", details: { key, instances, reason: text } };
}

/** The journal's entry of what is not so any more. */
export function clearedDecision({ key, rule, subject, instances, text }: OwnershipFinding, at: Millis): Decision {
  return { at, subject, kind: "ownership", verdict: CLEARED, rule, details: { key, instances, reason: text } };
}
