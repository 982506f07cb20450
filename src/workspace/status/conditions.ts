import type { EngineCondition } from "../../domain/status.ts";
import type { Condition } from "../../domain/user-resource.ts";
import { oneLine } from "./one-line.ts";
import type { StatusVerdict } from "./verdict.ts";

/** Longest message of a condition, in UTF-16 units: an eighth of what the schema takes, and more than anybody reads. */
export const LONGEST_SAID = 4096;

/** A condition without its times. */
export type ConditionStatement = Pick<Condition, "type" | "status" | "reason" | "message">;

/** Types with a writer of their own here; what an engine says under such a name is not mirrored. */
const OWN = new Set(["Ready", "Reconciling", "Stalled", "ErrorOccurred", "Paused", "ResourcesTruncated"]);

/** Ready always; Reconciling or Stalled while it is so. Their meaning is kstatus's. */
export function verdictStatements({ kind, reason, message }: StatusVerdict<string>): readonly ConditionStatement[] {
  const ready: ConditionStatement = { type: "Ready", status: kind === "ready" ? "True" : "False", reason, message };
  if (kind === "moving") return [ready, { type: "Reconciling", status: "True", reason, message }];
  return kind === "stuck" ? [ready, { type: "Stalled", status: "True", reason, message }] : [ready];
}

/** That changes are not acted on: one sentence, whatever kind of resource. */
export const PAUSED: ConditionStatement = {
  type: "Paused",
  status: "True",
  reason: "Paused",
  message: 'Changes are not acted on while the annotation argosy.dev/paused is "true"',
};

/** What was said before of these types, and that changes are not acted on; `Ready` always. */
export function pausedStatements(before: readonly Condition[], own: ReadonlySet<string>): readonly ConditionStatement[] {
  const kept = before
    .filter(({ type }) => own.has(type) && type !== "Paused" && type !== "Reconciling")
    .map(({ type, status, reason = "", message = "" }) => ({ type, status, reason, message }));
  const ready = kept.some(({ type }) => type === "Ready") ? [] : [{ ...PAUSED, type: "Ready", status: "False" }];
  return [...kept, ...ready, PAUSED];
}

/** Whether the user's resource is wrong; said to be resolved only where it was said before, never made as `False`. */
export function errorStatements(error: string | undefined, before: readonly Condition[]): readonly ConditionStatement[] {
  const type = "ErrorOccurred";
  if (error !== undefined) return [{ type, status: "True", reason: type, message: error }];
  return before.some((condition) => condition.type === type) ? [{ type, status: "False", reason: `${type}Resolved`, message: "" }] : [];
}

/**
 * The engine's conditions under their own types, and those it had once as resolved. Where the engine has not said anything
 * (`undefined`), what was mirrored before stays. Only conditions this function made are ever resolved by it.
 */
export function mirroredStatements(
  engine: readonly EngineCondition[] | undefined,
  before: readonly Condition[],
): readonly ConditionStatement[] {
  const earlier = before.filter(({ type, reason }) => !OWN.has(type) && (reason === type || reason === `${type}Resolved`));
  if (engine === undefined) return earlier.map(({ type, status, reason = "", message = "" }) => ({ type, status, reason, message }));
  const present = Map.groupBy(
    engine.filter(({ type }) => /^[A-Za-z][A-Za-z0-9]{0,99}$/.test(type) && !OWN.has(type)),
    ({ type }) => type,
  );
  const resolved = earlier
    .filter(({ type }) => !present.has(type))
    .map(({ type }) => ({ type, status: "False", reason: `${type}Resolved`, message: "" }));
  const raised = [...present].map(([type, all]) => ({
    type,
    status: "True",
    reason: type,
    message: [...new Set(all.map(({ message }) => message))].sort().join("; "),
  }));
  return [...raised, ...resolved];
}

/**
 * Puts times to statements: `lastTransitionTime` is kept while the status is the same, `lastProbeTime` while nothing of the
 * condition has changed. Sorted by type.
 */
export function datedConditions(
  statements: readonly ConditionStatement[],
  before: readonly Condition[],
  now: string,
): readonly Condition[] {
  const earlier = new Map(before.map((condition) => [condition.type, condition]));
  return sortedStatements(statements).map((statement) => {
    const was = earlier.get(statement.type);
    const isSame = was?.status === statement.status && was.reason === statement.reason && (was.message ?? "") === statement.message;
    return {
      ...statement,
      lastTransitionTime: was?.status === statement.status ? (was.lastTransitionTime ?? now) : now,
      lastProbeTime: isSame ? (was?.lastProbeTime ?? now) : now,
    };
  });
}

/** Sorted by type, each message one line of bounded length. */
export function sortedStatements(statements: readonly ConditionStatement[]): readonly ConditionStatement[] {
  const said = statements.map((statement) => ({ ...statement, message: oneLine(statement.message ?? "", LONGEST_SAID) }));
  return said.sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
}
