import type { Decision } from "./decision.ts";
import { contentHash } from "./hash.ts";

/** What a unit's refusal comes to: the same twice in a row is journaled once. `reason` has no numbers, which differ with each observation. */
export function refusalHash({ verdict, rule }: Pick<Decision, "verdict" | "rule">, reason: string): string {
  return contentHash({ verdict, rule, reason });
}
