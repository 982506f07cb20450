import type { Decision } from "./decision.ts";
import type { InstanceId, UnitId } from "./ids.ts";

/** An application of a placed unit, as far as its row says who has to work for it. */
export interface Owned {
  readonly argoName: string;
  readonly unitId: UnitId;
  readonly owner: InstanceId;
  /** Of its unit: who may live with it. */
  readonly class: string;
  /** Values of labels that keep its workspace from those of other values; absent: there are none. */
  readonly apart?: Readonly<Record<string, string>>;
  readonly isMoving: boolean;
  /** Its user deletes it. */
  readonly isLeaving: boolean;
  /**
   * An Application of it has stood: Argo CD has said something of it. And one has to stand now: nothing it needs, such as its
   * environment, is away.
   */
  readonly hasStood: boolean;
}

/**
 * What can be wrong about who owns what. TWO_OWNERS: two instances work for the same application. NO_OWNER: its owner's instance has no
 * Application of it that works, or a move has left it without an owner for long. OTHER_CLASS: it works on an instance of another class, beside
 * those that it must not live with. NOT_APART: applications of two workspaces work on one instance that must never share one. ORPHAN: an Application stands where nobody wants it.
 * FROZEN: an instance does not answer, or says that all is well and no longer refreshes anything.
 */
export const OWNERSHIP_RULES = ["TWO_OWNERS", "NO_OWNER", "OTHER_CLASS", "NOT_APART", "ORPHAN", "FROZEN"] as const;
export type OwnershipRule = (typeof OWNERSHIP_RULES)[number];

/** One thing that is wrong, with what it is about. */
export interface OwnershipFinding {
  /** The same for as long as the same is wrong. */
  readonly key: string;
  readonly rule: OwnershipRule;
  /** Id of the placement unit, or of the instance. */
  readonly subject: string;
  /** Ids of the instances it is about: while one of them cannot be reached, nothing is known of it. */
  readonly instances: readonly string[];
  /** For people. */
  readonly text: string;
}

export const CLEARED = "CLEARED";

/** Findings that were reported and not cleared since, from the journal's entries of this kind, newest first; sorted by key. */
export function openFindings(decisions: readonly Pick<Decision, "subject" | "verdict" | "details">[]): readonly OwnershipFinding[] {
  const newest = new Map<string, OwnershipFinding | undefined>();
  for (const { subject, verdict, details } of decisions) {
    const key = String(details["key"]);
    if (newest.has(key)) continue;
    const rule = OWNERSHIP_RULES.find((name) => name === verdict);
    newest.set(
      key,
      rule === undefined ? undefined : { key, rule, subject, instances: textsOf(details["instances"]), text: details.reason ?? "" },
    );
  }
  return [...newest.values()].flatMap((finding) => finding ?? []).sort((a, b) => (a.key < b.key ? -1 : 1));
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
