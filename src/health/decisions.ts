import { type Millis, millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import { HEALTH_CAUSES, type InstanceVerdict } from "../domain/health.ts";
import { REMEDIES, type Remedy, type StepTaken } from "./next-remedy.ts";
import { isEnd } from "./quarantine/entries.ts";

/**
 * The journal entry for a verdict that differs from the one before. `undefined`: it is the same, or it is the first
 * one and healthy.
 */
export function changedDecision(before: InstanceVerdict | undefined, verdict: InstanceVerdict): Decision | undefined {
  if (before === undefined && verdict.state === "healthy") return undefined;
  if (before?.state === verdict.state && before.cause === verdict.cause) return undefined;
  const { state, cause, component, text, evidence, at, instanceId } = verdict;
  return {
    at,
    subject: instanceId,
    kind: "health",
    verdict: state.toUpperCase(),
    rule: cause.toUpperCase(),
    details: { reason: text, evidence, ...(component === undefined ? {} : { component }), was: before?.state ?? "unknown" },
  };
}

/** The journal entry for a step of the ladder, written before the step is taken. */
export function remedyDecision(
  { step, component, isAdvice, text, quarantine }: Remedy,
  { instanceId, cause, evidence }: InstanceVerdict,
  at: Millis,
): Decision {
  return {
    at,
    subject: instanceId,
    kind: "health",
    verdict: step,
    rule: cause.toUpperCase(),
    details: {
      reason: text,
      isAdvice,
      evidence,
      ...(component === undefined ? {} : { component }),
      ...(quarantine === undefined ? {} : { quarantine }),
    },
  };
}

/** The steps among entries of the journal. Entries about how a step ended do not count. */
export function stepsTaken(entries: readonly Decision[]): readonly StepTaken[] {
  return entries.flatMap(({ verdict, rule, at, details }) => {
    if (isEnd(details)) return [];
    const step = REMEDIES.find((each) => each === verdict);
    const cause = HEALTH_CAUSES.find((each) => each.toUpperCase() === rule);
    return step === undefined || cause === undefined ? [] : [{ step, cause, isAdvice: details["isAdvice"] === true, at: millis(at) }];
  });
}
