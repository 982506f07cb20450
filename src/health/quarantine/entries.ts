import type { Millis } from "../../domain/clock.ts";
import { type Because, cordonedBy } from "../../domain/cordon.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Pin } from "../../domain/directive.ts";
import type { Instance } from "../../domain/instance.ts";
import { type QuarantineEntry, quarantineEntry } from "./schema.ts";

/**
 * A workspace that gets an instance of its own, because it takes most of one that is overloaded, or fills the repo-server of one. `at`: when
 * it began.
 */
export type Quarantine = QuarantineEntry & { readonly at: Millis };

/**
 * `done`: the workspace lives on its own instance, which takes no more workspaces. `given-up`: the quarantine ended without
 * success. `called-off`: a person has unpinned the workspace.
 */
export type QuarantineEnd = "done" | "given-up" | "called-off";

/** The actor of what Argosy does for an instance's health: of journal entries, pins, cordons, moves and drains. */
export const HEALTH = "health";

/**
 * Finds the quarantines that have begun and not ended in entries of the journal. An end belongs to the beginning with the
 * same source and the same time. Sorted by that time, then by the source's id.
 */
export function openQuarantines(entries: readonly Decision[]): readonly Quarantine[] {
  const ended = new Set(entries.flatMap(({ subject, details }) => (isEnd(details) ? [`${subject} ${Number(details["begunAt"])}`] : [])));
  const begun = entries.flatMap(({ at, details }) => {
    const parsed = quarantineEntry.safeParse(details["quarantine"]);
    return parsed.success && !isEnd(details) ? [{ ...parsed.data, at }] : [];
  });
  return begun.filter(({ source, at }) => !ended.has(`${source} ${at}`)).toSorted((a, b) => a.at - b.at || (a.source < b.source ? -1 : 1));
}

/** Whether a journal entry says how a quarantine ended. Only such entries have an `outcome`. */
export function isEnd(details: Decision["details"]): boolean {
  return details["outcome"] !== undefined;
}

/** The journal entry for the end of a quarantine. `openQuarantines` recognises what has ended by its source and `begunAt`. */
export function endDecision({ at: begunAt, ...quarantine }: Quarantine, outcome: QuarantineEnd, text: string, at: Millis): Decision {
  return {
    at,
    subject: quarantine.source,
    kind: "health",
    verdict: "QUARANTINE",
    rule: outcome.toUpperCase(),
    details: { reason: text, isAdvice: false, outcome, begunAt, quarantine },
  };
}

/** Why the workspace's own instance is cordoned: reason and cause, as they are recorded with the instance. */
export function quarantined(quarantine: Quarantine): Because {
  return cordonedBy(HEALTH, `quarantine of ${quarantine.namespace}, which ${whatItDid(quarantine)}`, { code: "QUARANTINE" });
}

function whatItDid({ sourceName, filled }: Pick<Quarantine, "sourceName" | "filled">): string {
  return filled === undefined ? `took most of ${sourceName}` : `filled the ${filled} of the repo-server of ${sourceName}`;
}

/** Whether an instance is cordoned for one workspace. `argosy uncordon` ends that. */
export function isInQuarantine({ state, cause }: Pick<Instance, "state" | "cause">): boolean {
  return state === "CORDONED" && cause?.code === "QUARANTINE";
}

/** The journal entry for an instance that was cordoned for a workspace, or uncordoned again. */
export function cordonDecision({ id, name, pool }: Instance, state: "CORDONED" | "ACTIVE", reason: string, at: Millis): Decision {
  return { at, subject: id, kind: "instance", verdict: state, rule: "QUARANTINE", details: { name, pool, reason, actor: HEALTH } };
}

/** The pin that keeps a workspace on its own instance. */
export function pinOf(quarantine: Quarantine, target: Pick<Instance, "id">, at: Millis): Pin {
  return { kind: "instance", instance: target.id, actor: HEALTH, reason: `quarantine: it ${whatItDid(quarantine)}`, at };
}

/** Whether the pin is one that a quarantine made to this target. A person's pin is not. */
export function isQuarantinesOwn(pin: Pin | undefined, target: Pick<Instance, "id"> | undefined): boolean {
  return pin?.kind === "instance" && pin.actor === HEALTH && pin.instance === target?.id;
}

/** The journal entry for a pin that was made or removed. Its `instance` is the target's name, where the pin has the id. */
export function pinDecision(
  { workspaceId, namespace, target }: Quarantine,
  verdict: "PINNED" | "UNPINNED",
  reason: string,
  at: Millis,
): Decision {
  const details = { actor: HEALTH, reason, namespace, instance: target };
  return { at, subject: workspaceId, kind: "directive", verdict, rule: "QUARANTINE", details };
}
