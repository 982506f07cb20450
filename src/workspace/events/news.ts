import type { Condition } from "../../domain/user-resource.ts";

/** What an Event says about a resource. */
export interface News {
  /** `Warning`: its user should do something, or look; `Normal`: that is no longer so. */
  readonly type: "Warning" | "Normal";
  readonly reason: string;
  readonly message: string;
}

/**
 * What of a new status is worth an Event: that something is wrong which was not, or was otherwise, and that nothing is wrong any
 * more. What goes on by itself is not: it is in the conditions, and there would be no end to it.
 */
export function newsOf(before: readonly Condition[], after: readonly Condition[]): News | undefined {
  const [was, is] = [troubleOf(before), troubleOf(after)];
  if (is !== undefined) return was?.reason === is.reason && was.message === is.message ? undefined : { type: "Warning", ...is };
  return was === undefined ? undefined : { type: "Normal", ...wordsOf(find(after, "Ready")) };
}

/** Nothing more happens by itself, the user's resource is wrong, or what was deployed is broken. */
function troubleOf(conditions: readonly Condition[]): Omit<News, "type"> | undefined {
  const ready = find(conditions, "Ready");
  const isWrong = ["Stalled", "ErrorOccurred"].some((type) => find(conditions, type)?.status === "True");
  return ready?.status === "False" && (isWrong || ready.reason === "Degraded") ? wordsOf(ready) : undefined;
}

function wordsOf(condition: Condition | undefined): Omit<News, "type"> {
  return { reason: condition?.reason ?? "", message: condition?.message ?? "" };
}

function find(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}
