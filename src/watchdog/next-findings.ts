import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { CLEARED, type OwnershipFinding } from "../domain/ownership.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** In how many checks every instance is listed once, where there are not too many. */
const TURNS = 20;
/** How many instances of a cluster are listed with each check at most, however many there are. */
const MOST = 5;

/** What the watchdog remembers of a finding. */
interface Known {
  readonly finding: OwnershipFinding;
  /** Whether it was reported. */
  readonly isOpen: boolean;
  /** How many checks in a row have not found what was reported. */
  readonly missed: number;
}

/** Whether one more check has to confirm that it is there, or that it is gone. */
function isInDoubt({ isOpen, missed }: Known): boolean {
  return !isOpen || missed > 0;
}

export interface Findings {
  readonly known: ReadonlyMap<string, Known>;
}

export interface NextFindings {
  readonly next: Findings;
  /** Found for the second time in a row: to be reported. */
  readonly opened: readonly OwnershipFinding[];
  /** Reported, and missing for the second time in a row. */
  readonly cleared: readonly OwnershipFinding[];
  /** Whether something new, or something missing, has to be confirmed by one more check. */
  readonly isUnsure: boolean;
}

/** The findings that were reported before this process took over. */
export function startFindings(open: readonly OwnershipFinding[]): Findings {
  return { known: new Map(open.map((finding) => [finding.key, { finding, isOpen: true, missed: 0 }])) };
}

/**
 * The findings after one more check. Rows and instances are read one after the other, so a single check may be wrong.
 * A finding is reported when two checks in a row have it, and cleared when two in a row do not have it. A finding
 * about an instance that could not be reached stays as it was (`isBlind`).
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
  const isUnsure = [...next.values()].some(isInDoubt);
  return { next: { known: next }, opened, cleared, isUnsure };
}

/** Instances that findings in doubt name. */
export function doubtful({ known }: Findings): ReadonlySet<string> {
  return new Set([...known.values()].filter(isInDoubt).flatMap(({ finding }) => finding.instances));
}

/**
 * What has to be read again before the findings that are known count once more: the units they are about, and whatever stands on their instances. Rows are kept
 * from one check to the next, and none may make a finding, or keep one up, by being out of date.
 */
export function rowsInDoubt(
  { known }: Findings,
  seen: ReadonlyMap<InstanceId, readonly Pick<SeenApplication, "name">[]>,
): { readonly units: readonly UnitId[]; readonly argoNames: readonly string[] } {
  const findings = [...known.values()].map(({ finding }) => finding);
  const instances = new Set(findings.flatMap((finding) => finding.instances as readonly InstanceId[]));
  return {
    units: [...new Set(findings.map(({ subject }) => subject as UnitId))],
    argoNames: [...instances].flatMap((id) => (seen.get(id) ?? []).map(({ name }) => name)),
  };
}

/**
 * The instances that check number `count` lists from their API servers although watches tell of them: of each engine cluster the next in turn, a twentieth of them, at
 * least one and at most `MOST`. So a watch that misses something is found out within twenty checks where a cluster has up to a hundred instances, and a cluster that is away with the
 * first.
 */
export function inTurn(instances: readonly Pick<Instance, "id" | "engineCluster">[], count: number): ReadonlySet<InstanceId> {
  const own = [...Map.groupBy(instances, ({ engineCluster }) => engineCluster).values()];
  return new Set(
    own.flatMap((some) => {
      const ids = some.map(({ id }) => id).sort();
      const size = Math.min(Math.ceil(ids.length / TURNS), MOST);
      return Array.from({ length: size }, (_, index) => ids[(count * size + index) % ids.length] as InstanceId);
    }),
  );
}

/** Since when each Application has been observed to wait for a refresh, by uid. Those that no longer wait are dropped. */
export function nextWaiting(
  before: ReadonlyMap<string, Millis>,
  seen: Iterable<{ readonly uid: string; readonly awaitsRefresh: boolean }>,
  now: Millis,
): ReadonlyMap<string, Millis> {
  return new Map([...seen].filter(({ awaitsRefresh }) => awaitsRefresh).map(({ uid }) => [uid, before.get(uid) ?? now]));
}

/** The journal entries for one check. */
export function entriesOf(
  { opened, cleared }: { readonly opened: readonly OwnershipFinding[]; readonly cleared: readonly OwnershipFinding[] },
  at: Millis,
): readonly Decision[] {
  return [...opened.map((each) => foundDecision(each, at)), ...cleared.map((each) => clearedDecision(each, at))];
}

/** The journal entry for a finding. */
export function foundDecision({ key, rule, subject, instances, text }: OwnershipFinding, at: Millis): Decision {
  return { at, subject, kind: "ownership", verdict: rule, rule: "WATCHDOG", details: { key, instances, reason: text } };
}

/** The journal entry for a finding that has ended. */
export function clearedDecision({ key, rule, subject, instances, text }: OwnershipFinding, at: Millis): Decision {
  return { at, subject, kind: "ownership", verdict: CLEARED, rule, details: { key, instances, reason: text } };
}
