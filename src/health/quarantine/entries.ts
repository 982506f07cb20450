import type { Millis } from "../../domain/clock.ts";
import { type Because, cordonedBy } from "../../domain/cordon.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Pin } from "../../domain/directive.ts";
import type { Instance } from "../../domain/instance.ts";
import { type QuarantineEntry, quarantineEntry } from "./schema.ts";

/** A workspace that gets an instance of its own, because it takes most of one that is overloaded. `at`: when it began. */
export type Quarantine = QuarantineEntry & { readonly at: Millis };

/**
 * `done`: the workspace lives there alone. `given-up`: it stays where it is. `called-off`: a person decided otherwise
 * meanwhile.
 */
export type QuarantineEnd = "done" | "given-up" | "called-off";

/** The actor in the entries that a quarantine writes. */
export const HEALTH = "health";

/**
 * Quarantines that have begun and not ended, from the journal's entries, oldest first; at the same moment, by id of
 * the source.
 */
export function openQuarantines(entries: readonly Decision[]): readonly Quarantine[] {
  const ended = new Set(entries.flatMap(({ subject, details }) => (isEnd(details) ? [`${subject} ${Number(details["begunAt"])}`] : [])));
  const begun = entries.flatMap(({ at, details }) => {
    const parsed = quarantineEntry.safeParse(details["quarantine"]);
    return parsed.success && !isEnd(details) ? [{ ...parsed.data, at }] : [];
  });
  return begun.filter(({ source, at }) => !ended.has(`${source} ${at}`)).toSorted((a, b) => a.at - b.at || (a.source < b.source ? -1 : 1));
}

/** Whether a journal entry says how a quarantine ended. The others say that one began. */
export function isEnd(details: Decision["details"]): boolean {
  return details["outcome"] !== undefined;
}

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

/** The reason and cause with which the workspace's own instance is cordoned. */
export function quarantined({ namespace, sourceName }: Quarantine): Because {
  return cordonedBy(HEALTH, `quarantine of ${namespace}, which took most of ${sourceName}`, { code: "QUARANTINE" });
}

/** Whether an instance is kept for one workspace. `argosy uncordon` ends that. */
export function isInQuarantine({ state, cause }: Pick<Instance, "state" | "cause">): boolean {
  return state === "CORDONED" && cause?.code === "QUARANTINE";
}

/** The journal entry for an instance that was cordoned for a workspace, or uncordoned again. */
export function cordonDecision({ id, name, pool }: Instance, state: "CORDONED" | "ACTIVE", reason: string, at: Millis): Decision {
  return { at, subject: id, kind: "instance", verdict: state, rule: "QUARANTINE", details: { name, pool, reason, actor: HEALTH } };
}

/** The pin that keeps a workspace on its own instance. */
export function pinOf({ sourceName }: Quarantine, target: Pick<Instance, "id">, at: Millis): Pin {
  return { kind: "instance", instance: target.id, actor: HEALTH, reason: `quarantine: it took most of ${sourceName}`, at };
}

/** Whether a quarantine made a pin, and not a person. */
export function isQuarantinesOwn(pin: Pin | undefined, target: Pick<Instance, "id"> | undefined): boolean {
  return pin?.kind === "instance" && pin.actor === HEALTH && pin.instance === target?.id;
}

export function pinDecision(
  { workspaceId, namespace, target }: Quarantine,
  verdict: "PINNED" | "UNPINNED",
  reason: string,
  at: Millis,
): Decision {
  const details = { actor: HEALTH, reason, namespace, instance: target };
  return { at, subject: workspaceId, kind: "directive", verdict, rule: "QUARANTINE", details };
}
