import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Instance } from "../../domain/instance.ts";

/** Why an instance cannot be emptied by an order; `undefined`: it can, or is being emptied. */
export function whyNotDrain({ state }: Pick<Instance, "state">): string | undefined {
  if (state === "ACTIVE" || state === "CORDONED" || state === "DRAINING") return undefined;
  return `is ${state}: only one that serves can be emptied`;
}

/** What an instance says of itself that a person had emptied. */
export function drainReason(actor: string, reason: string): string {
  return `drained by ${actor}: ${reason}`;
}

/** The journal's entry of the order. */
export function drainDecision(
  { id, name, pool }: Pick<Instance, "id" | "name" | "pool">,
  { at, actor, reason }: { readonly at: Millis; readonly actor: string; readonly reason: string },
): Decision {
  return { at, subject: id, kind: "instance", verdict: "DRAINING", rule: "COMMAND", details: { name, pool, reason, actor } };
}
