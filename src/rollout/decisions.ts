import type { Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { Instance } from "../domain/instance.ts";
import type { Rollout } from "../domain/rollout.ts";

/** The journal entry for an order that a person gave about a rollout. */
export function orderDecision(
  rollout: Rollout,
  said: { readonly verdict: string; readonly actor: string; readonly reason: string },
  at: Millis,
): Decision {
  const { id, version, pool = null, isEmergency, isUnattended, waves } = rollout;
  const { verdict, actor, reason } = said;
  const details = {
    actor,
    reason,
    version,
    pool,
    isEmergency,
    isUnattended,
    waves: waves.map(({ name, instances }) => ({ name, instances: instances.length })),
  };
  return { at, subject: id, kind: "rollout", verdict, rule: "COMMAND", details };
}

/** The journal entry for a decision about a rollout. */
export function outcomeDecision(
  rollout: Rollout,
  { verdict, rule }: { readonly verdict: string; readonly rule: string },
  at: Millis,
): Decision {
  const { id, version, note, wave, waves } = rollout;
  return { at, subject: id, kind: "rollout", verdict, rule, details: { version, wave: waves[wave]?.name ?? null, reason: note } };
}

/** The journal entry for a release that a person allows to be tried again. */
export function unfreezeDecision(version: string, actor: string, at: Millis): Decision {
  return { at, subject: `version/${version}`, kind: "rollout", verdict: "UNFROZEN", rule: "COMMAND", details: { actor, version } };
}

/** The journal entry for an instance that a rollout cordons while it is emptied, or uncordons again. */
export function rolloutCordonDecision(
  { id, name, pool }: Instance,
  { verdict, reason }: { readonly verdict: "CORDONED" | "ACTIVE"; readonly reason: string },
  rollout: Rollout,
  at: Millis,
): Decision {
  return { at, subject: id, kind: "instance", verdict, rule: "ROLLOUT", details: { name, pool, rollout: rollout.id, reason } };
}

/** The journal entry for an instance to which a rollout assigns a release. */
export function assignDecision(instance: Instance, version: string, rollout: Rollout, at: Millis): Decision {
  const { id, name, pool, version: from } = instance;
  const details = { name, pool, rollout: rollout.id, from, version, reason: rollout.note };
  return {
    at,
    subject: id,
    kind: "instance",
    verdict: rollout.ending === undefined ? "UPGRADING" : "ROLLING_BACK",
    rule: "ROLLOUT",
    details,
  };
}
