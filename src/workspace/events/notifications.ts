import type { Condition } from "../../domain/user-resource.ts";

/** What an Event says about a resource. */
export interface Notifications {
  /** `Warning`: its user should do something, or look; `Normal`: that is no longer so. */
  readonly type: "Warning" | "Normal";
  readonly reason: string;
  readonly message: string;
  /** The same is wrong as before, with other words: such an Event may well be one of very many. */
  readonly isReworded: boolean;
}

/**
 * What of a new status is worth an Event: that something is wrong which was not, or was otherwise, and that nothing is wrong any
 * more. What goes on by itself is not: it is in the conditions, and there would be no end to it.
 */
export function notificationsOf(before: readonly Condition[], after: readonly Condition[]): Notifications | undefined {
  const [was, is] = [troubleOf(before), troubleOf(after)];
  if (is === undefined) return was === undefined ? undefined : { type: "Normal", ...wordsOf(find(after, "Ready")), isReworded: false };
  const isSame = was?.reason === is.reason;
  return isSame && was?.message === is.message ? undefined : { type: "Warning", ...is, isReworded: isSame };
}

/** What is wrong although something is being done about it, or nothing should be. */
const WRONG_ALL_THE_SAME: readonly (string | undefined)[] = ["Degraded", "SyncFailed"];

/** Nothing more happens by itself, the user's resource is wrong, or what was deployed is broken, or cannot be. */
function troubleOf(conditions: readonly Condition[]): Omit<Notifications, "type" | "isReworded"> | undefined {
  const ready = find(conditions, "Ready");
  const isWrong = ["Stalled", "ErrorOccurred"].some((type) => find(conditions, type)?.status === "True");
  return ready?.status === "False" && (isWrong || WRONG_ALL_THE_SAME.includes(ready.reason)) ? wordsOf(ready) : undefined;
}

function wordsOf(condition: Condition | undefined): Omit<Notifications, "type" | "isReworded"> {
  return { reason: condition?.reason ?? "", message: condition?.message ?? "" };
}

function find(conditions: readonly Condition[], type: string): Condition | undefined {
  return conditions.find((condition) => condition.type === type);
}
