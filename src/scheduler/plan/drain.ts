import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Instance } from "../../domain/instance.ts";

/** Why an instance cannot be emptied by an order; `undefined`: it can, or is being emptied. */
export function whyNotDrain({ state }: Pick<Instance, "state">): string | undefined {
  if (state === "ACTIVE" || state === "CORDONED" || state === "DRAINING") return undefined;
  return `is ${state}: only one that serves can be emptied`;
}

/**
 * Why an instance should not be emptied although it can be: no other one of its class takes units, so nothing of it could leave, and what is
 * new would wait. `undefined`: another one does. `instances`: every one there is.
 */
export function whyLast(instance: Instance, instances: readonly Instance[]): string | undefined {
  const others = instances.filter((one) => one.class === instance.class && one.id !== instance.id);
  if (instance.state === "DRAINING" || others.some(({ state }) => state === "ACTIVE")) return undefined;
  const cordoned = others.find(({ state }) => state === "CORDONED");
  const coming = others.find(({ state }) => state === "CREATING" || state === "WARMING");
  const first =
    cordoned !== undefined
      ? `${cordoned.name} is cordoned: \`argosy uncordon ${cordoned.name}\` first`
      : coming !== undefined
        ? `${coming.name} is ${coming.state}: wait until \`argosy get instances\` says ACTIVE`
        : "`argosy instance create` makes another one first";
  const what = `${instance.name} is the last instance of class ${instance.class} that takes workspaces: nothing could leave it, and new ones would wait`;
  return `${what}. ${first}; with --force it is emptied as soon as another one is there`;
}

/** What an instance says of itself that a person had emptied. */
export function drainReason(actor: string, reason: string, failsOver = false): string {
  return `drained by ${actor}${failsOver ? ", by fail-over" : ""}: ${reason}`;
}

/** The journal's entry of the order. */
export function drainDecision(
  { id, name, pool }: Pick<Instance, "id" | "name" | "pool">,
  { at, actor, reason }: { readonly at: Millis; readonly actor: string; readonly reason: string },
): Decision {
  return { at, subject: id, kind: "instance", verdict: "DRAINING", rule: "COMMAND", details: { name, pool, reason, actor } };
}

/** What has not left an instance that is emptied, and is not about to. */
export interface Left {
  /** Of how many units it still has something, those whose live moves have not ended included. */
  readonly units: number;
  /** Of each that has a seat elsewhere and no live move yet: whether all that holds it is what nobody can take from the instance. */
  readonly heldBySource: readonly boolean[];
}

/** Whether an instance is stopped so that the last of its units can go: only where nobody else is on it, and nothing else holds them. */
export function mayHalt({ state, halt }: Pick<Instance, "state" | "halt">, { units, heldBySource }: Left): boolean {
  if (state !== "DRAINING" || halt !== "none" || units === 0) return false;
  return heldBySource.length === units && heldBySource.every(Boolean);
}

/** What an instance that is stopped says of itself. */
export function haltReason({ reason }: Pick<Instance, "reason">): string {
  return `${reason}; its controller is stopped, for nobody can take the right to write from it where its last units deploy to`;
}

/** The journal's entry that an instance is stopped. */
export function haltDecision(
  { id, name, pool }: Pick<Instance, "id" | "name" | "pool">,
  at: Millis,
  actor: string,
  units: number,
): Decision {
  return { at, subject: id, kind: "instance", verdict: "HALTING", rule: "HELD_BY_SOURCE", details: { name, pool, actor, units } };
}
