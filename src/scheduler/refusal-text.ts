import { percent } from "./percent.ts";
import type { Refusal } from "./place-unit.ts";

/** Why an instance was passed over, for people. */
export function refusalText(refusal: Refusal, instanceName: (id: string) => string): string {
  if (refusal.rule === "STATE") return `it is ${refusal.state}`;
  if (refusal.rule === "HEALTH") return `its health is ${refusal.health}: see \`argosy health ${instanceName(refusal.instance)}\``;
  if (refusal.rule === "PINNED") return `the workspace is pinned to ${pinText(refusal.wants, instanceName)}`;
  if (refusal.rule === "FAILED_BEFORE") return "FAILED_BEFORE: a move of it there failed not long ago";
  if (refusal.rule !== "BOUND") return `${refusal.rule}: ${refusal.wants} is wanted, it has ${refusal.has}`;
  const would = refusal.would >= Number.MAX_SAFE_INTEGER ? "it has no capacity for it" : `it would be at ${percent(refusal.would)}`;
  return `${would} in ${refusal.dimension}, the bound was ${percent(refusal.limit)}`;
}

function pinText(wants: string, instanceName: (id: string) => string): string {
  return wants === "" ? "a pool without instances" : wants.split(", ").map(instanceName).join(", ");
}
