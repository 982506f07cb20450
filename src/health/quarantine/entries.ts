import type { Millis } from "../../domain/clock.ts";
import { type Because, cordonedBy } from "../../domain/cordon.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Pin } from "../../domain/directive.ts";
import type { Instance } from "../../domain/instance.ts";
import { type QuarantineEntry, quarantineEntry } from "./schema.ts";

/** That a workspace gets an instance of its own, because it takes most of one that has too much to do. Begun at `at`. */
export type Quarantine = QuarantineEntry & { readonly at: Millis };

/** `done`: it lives there alone. `given-up`: it stays where it is. `called-off`: a person decided otherwise meanwhile. */
export type QuarantineEnd = "done" | "given-up" | "called-off";

/** Who signs what is done for a quarantine. */
export const HEALTH = "health";

/** What the journal says of quarantines that have begun and not ended, oldest first; of two of one moment the one with the lesser id. */
export function openQuarantines(entries: readonly Decision[]): readonly Quarantine[] {
  const ended = new Set(entries.flatMap(({ subject, details }) => (isEnd(details) ? [`${subject} ${Number(details["begunAt"])}`] : [])));
  const begun = entries.flatMap(({ at, details }) => {
    const parsed = quarantineEntry.safeParse(details["quarantine"]);
    return parsed.success && !isEnd(details) ? [{ ...parsed.data, at }] : [];
  });
  return begun.filter(({ source, at }) => !ended.has(`${source} ${at}`)).toSorted((a, b) => a.at - b.at || (a.source < b.source ? -1 : 1));
}

/** Whether an entry of the journal says how a quarantine ended, and not that the step was taken. */
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

/** What the workspace's own instance says of itself, so that nothing else is placed there. */
export function quarantined({ namespace, sourceName }: Quarantine): Because {
  return cordonedBy(HEALTH, `quarantine of ${namespace}, which took most of ${sourceName}`, { code: "QUARANTINE" });
}

/** Whether an instance is kept for one workspace; `argosy uncordon` ends that. */
export function isInQuarantine({ state, cause }: Pick<Instance, "state" | "cause">): boolean {
  return state === "CORDONED" && cause?.code === "QUARANTINE";
}

/** The entry of an instance that is cordoned for a workspace, or is not any more. */
export function cordonDecision({ id, name, pool }: Instance, state: "CORDONED" | "ACTIVE", reason: string, at: Millis): Decision {
  return { at, subject: id, kind: "instance", verdict: state, rule: "QUARANTINE", details: { name, pool, reason, actor: HEALTH } };
}

/** The pin that keeps a workspace on its own instance. */
export function pinOf({ sourceName }: Quarantine, target: Pick<Instance, "id">, at: Millis): Pin {
  return { kind: "instance", instance: target.id, actor: HEALTH, reason: `quarantine: it took most of ${sourceName}`, at };
}

/** Whether a pin is a quarantine's, and no person's. */
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
