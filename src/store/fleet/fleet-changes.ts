import type { AuditEntry } from "../../domain/audit.ts";
import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { GoneError, RefusedError, StaleError } from "../../domain/errors.ts";
import type { FleetSpec } from "../../domain/fleet.ts";
import type { FleetProposal, ProposalEnd } from "../../domain/fleet-approval.ts";
import { diffFleet, fleetChangeRecords, fleetChangesText } from "../../domain/fleet-diff.ts";
import { canonicalJson } from "../../domain/hash.ts";
import { changedParts, type ReleasePart } from "../../domain/release.ts";

/** Subject of everything decided about the fleet as a whole, and id of its notifications. */
export const FLEET = "fleet";

/** What is decided about a fleet: a document was declared, or pools that it leaves out are to go. */
type FleetVerdict = "DECLARED" | "PRUNED";

/** The journal's entry of a change of the fleet: who made it, and what it changed. */
export function fleetDecision({
  at,
  actor,
  revision,
  pools,
  changes = "",
  verdict = "DECLARED",
  approved,
}: {
  readonly at: Millis;
  readonly actor: string;
  readonly revision: number;
  readonly pools: readonly string[];
  /** What changed, for people. */
  readonly changes?: string;
  readonly verdict?: FleetVerdict;
  /** The proposal that this declares. */
  readonly approved?: FleetProposal | undefined;
}): Decision {
  return {
    at,
    subject: FLEET,
    kind: "fleet",
    verdict,
    rule: "COMMAND",
    details: {
      ...{ actor, revision, pools },
      ...(changes === "" ? {} : { reason: changes }),
      ...(approved === undefined ? {} : { proposal: approved.id, proposedBy: approved.by.actor }),
    },
  };
}

/** The journal's entry of a declaration that begins to wait for a second person, or ends waiting. */
export function proposalDecision(
  { id, by, base, needs, changes }: FleetProposal,
  {
    at,
    verdict,
    actor,
    reason,
  }: { readonly at: Millis; readonly verdict: "PROPOSED" | ProposalEnd; readonly actor: string; readonly reason?: string },
): Decision {
  const details = { actor, proposal: id, proposedBy: by.actor, base, needs: needs.map(({ path }) => path) };
  return {
    ...{ at, subject: FLEET, kind: "fleet", verdict, rule: "TWO_PEOPLE" },
    details: { ...details, reason: reason ?? fleetChangesText(changes) },
  };
}

/** What makes two proposals the same: what they would declare, and from what. */
export function isSameProposal(one: FleetProposal, other: FleetProposal): boolean {
  const [a, b] = [one, other].map(({ spec, prune, base }) => canonicalJson({ spec, prune, base }));
  return a === b;
}

export function proposalGone(id: string): GoneError {
  return new GoneError(`there is no proposal ${id}`, { code: "store.proposal-gone", context: { proposal: id } });
}

export function proposalEnded({ id, end }: FleetProposal): StaleError {
  return new StaleError(`proposal ${id} was ${end?.as ?? "ended"} by ${end?.actor ?? "somebody"}`, {
    code: "store.proposal-ended",
    context: { proposal: id },
  });
}

/** Why nobody may declare it: it names another image for a release than ever before. `undefined`: it does not. */
export function whyNotDeclare(known: readonly ReleasePart[], before: FleetSpec | undefined, after: FleetSpec): RefusedError | undefined {
  const [changed] = changedParts(known, before, after);
  if (changed === undefined) return undefined;
  return new RefusedError(`declaring another ${changed.part} for release ${changed.version}, which never changes`, {
    code: "store.release-changed",
    context: { version: changed.version, part: changed.part },
  });
}

/** What a document changes of the one before, for people. */
export function changesOf(before: FleetSpec | undefined, after: FleetSpec): string {
  return fleetChangesText(diffFleet(before, after));
}

/** The audit record of a declaration that is in force now, with all that it changed; or of pools whose instances are to leave. */
export function fleetAudit(
  actor: string,
  revision: number,
  changed:
    | { readonly before: FleetSpec | undefined; readonly after: FleetSpec }
    | { readonly prunedBefore: readonly string[]; readonly pruned: readonly string[] },
): AuditEntry {
  const isSpec = "after" in changed;
  const details = isSpec ? { changes: fleetChangeRecords(changed.before, changed.after) } : changed;
  return {
    ...{ actor, via: "argosy", role: undefined, remote: undefined, target: FLEET, outcome: "ok", code: "", count: 1, answers: undefined },
    action: isSpec ? "declareFleet" : "prunePools",
    details: { revision, ...details },
  };
}

/** Names of the pools that are declared in one of the two only, or differently; sorted. */
export function changedPools(before: FleetSpec | undefined, after: FleetSpec): readonly string[] {
  const declared = (spec: FleetSpec | undefined): ReadonlyMap<string, string> =>
    new Map((spec?.pools ?? []).map((pool) => [pool.name, canonicalJson(pool)]));
  const [old, now] = [declared(before), declared(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name)).sort();
}

/** Of some pools' names those a declaration does not have. */
export function stillUndeclared(names: readonly string[], spec: FleetSpec): readonly string[] {
  return names.filter((name) => !spec.pools.some((pool) => pool.name === name));
}

/** Somebody has declared a fleet since the one of this revision was read, and a change was made from it. */
export function declaredAnew(revision: number): StaleError {
  return new StaleError("declaring a fleet that was made from an older one", { code: "store.fleet-stale", context: { revision } });
}
