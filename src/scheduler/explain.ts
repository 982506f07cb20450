import { rfc3339 } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { PlacementFacts, Refusal } from "./place-unit.ts";
import { WHOLE } from "./policy.ts";

export interface Explained {
  readonly unit: PlacementUnit;
  readonly namespace: string;
  /** Newest first. */
  readonly decisions: readonly Decision[];
  readonly instanceName: (id: string) => string;
}

/** Why a unit lives where it does, as lines for a person: owner, the decision that put it there, who was refused and why. */
export function explainUnit({ unit, namespace, decisions, instanceName }: Explained): readonly string[] {
  const where =
    unit.owner === undefined ? "waits for capacity" : `lives on ${instanceName(unit.owner)} (epoch ${unit.epoch}, ${unit.phase})`;
  const last = decisions.find((decision) => decision.kind === "placement");
  const head = `workspace ${namespace} ${where}, class ${unit.class}`;
  return last === undefined ? [head, "  nothing was decided about it yet"] : [head, ...explainPlacement(last, instanceName)];
}

function explainPlacement(decision: Decision, instanceName: (id: string) => string): readonly string[] {
  const facts = decision.details as unknown as PlacementFacts & { readonly chosen: string | null };
  const at = rfc3339(decision.at);
  const preferred =
    facts.preferred === undefined ? "there was no instance in its class" : `the ring prefers ${instanceName(facts.preferred)}`;
  const chosen =
    facts.chosen === null
      ? `no instance had room under ${percent(facts.bound)}`
      : `${instanceName(facts.chosen)} was chosen: ${because(decision.rule, facts)}`;
  const refusals = facts.refusals.map((refusal) => `  refused: ${instanceName(refusal.instance)}, ${refusalText(refusal)}`);
  return [`  ${at} ${preferred}; ${chosen}`, ...refusals, `  ${wouldMove(facts)}`];
}

function because(rule: string, facts: PlacementFacts): string {
  const under = `stays under ${percent(facts.bound)} (fleet mean ${percent(facts.mean)})`;
  if (rule === "PREFERRED") return `it is preferred and ${under}`;
  if (rule === "SPILL") return `the first candidate that ${under}`;
  return `no candidate of the ring ${under.replace("stays", "stayed")}, it was the least loaded that did`;
}

function refusalText(refusal: Refusal): string {
  if (refusal.rule === "STATE") return `it is ${refusal.state}`;
  const would = refusal.would >= Number.MAX_SAFE_INTEGER ? "it has no capacity for it" : `it would be at ${percent(refusal.would)}`;
  return `${would} in ${refusal.dimension}, the bound was ${percent(refusal.limit)}`;
}

function wouldMove(facts: PlacementFacts & { readonly chosen: string | null }): string {
  return facts.chosen === null ? "it is placed as soon as an instance has room" : "a ring that is computed anew does not move it";
}

function percent(share: number): string {
  return `${Math.round((share * 1000) / WHOLE) / 10} %`;
}
