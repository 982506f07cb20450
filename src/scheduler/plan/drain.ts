import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Instance } from "../../domain/instance.ts";

/** Why an instance cannot be emptied by an order; `undefined`: it can, or is being emptied. */
export function whyNotDrain({ state }: Pick<Instance, "state">): string | undefined {
  if (state === "ACTIVE" || state === "CORDONED" || state === "DRAINING") return undefined;
  return `is ${state}: only one that serves can be emptied`;
}

/**
 * Why an instance should not be emptied although it can be: no other instance of its class takes units, so its own could not leave and
 * new ones would wait. `undefined`: another one does. `instances`: all there are.
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

/** The reason that an instance shows while it is drained. */
export function drainReason(actor: string, reason: string, failsOver = false): string {
  return `drained by ${actor}${failsOver ? ", by fail-over" : ""}: ${reason}`;
}

/** The journal's entry for the order. */
export function drainDecision(
  { id, name, pool }: Pick<Instance, "id" | "name" | "pool">,
  { at, actor, reason }: { readonly at: Millis; readonly actor: string; readonly reason: string },
): Decision {
  return { at, subject: id, kind: "instance", verdict: "DRAINING", rule: "COMMAND", details: { name, pool, reason, actor } };
}

/** What is still on an instance that is being emptied, and is not about to leave. */
export interface Left {
  /** How many units still have something there, including those whose live moves have not ended. */
  readonly units: number;
  /** For each unit that could go to another instance and has no live move yet: whether it stays only because nobody can take its instance's right to write. */
  readonly heldBySource: readonly boolean[];
}

/** Whether an instance may be stopped so that its last units can leave: only if no other unit is there, and nothing else holds these. */
export function mayHalt({ state, halt }: Pick<Instance, "state" | "halt">, { units, heldBySource }: Left): boolean {
  if (state !== "DRAINING" || halt !== "none" || units === 0) return false;
  return heldBySource.length === units && heldBySource.every(Boolean);
}

/** The reason that an instance shows when it is stopped. */
export function haltReason({ reason }: Pick<Instance, "reason">): string {
  return `${reason}; its controller is stopped, for nobody can take the right to write from it where its last units deploy to`;
}

/** The journal's entry for stopping an instance. */
export function haltDecision(
  { id, name, pool }: Pick<Instance, "id" | "name" | "pool">,
  at: Millis,
  actor: string,
  units: number,
): Decision {
  return { at, subject: id, kind: "instance", verdict: "HALTING", rule: "HELD_BY_SOURCE", details: { name, pool, actor, units } };
}
