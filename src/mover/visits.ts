import { DONE, FENCED, type Verdict, wait } from "./verdict.ts";

/** How one visit to an environment for the unit's register there ended. `away`: nothing could be done there, and why, for people. */
export type VisitOutcome = { readonly kind: "done" | "waiting" | "fenced" } | { readonly kind: "away"; readonly why: string };

/** An environment where the unit has a register of its own, and what came of going there in this phase. */
export interface Visited {
  readonly environment: string;
  readonly outcome: VisitOutcome;
}

/** What is to be done after all visits of a phase. One that nobody can reach is waited for, unless nobody has to get there. */
export function judgeVisits(visits: readonly Visited[], mayBeAway: boolean): Verdict {
  if (visits.some(({ outcome }) => outcome.kind === "fenced")) return FENCED;
  const away = mayBeAway ? undefined : awayOf(visits);
  if (away !== undefined) return wait(`for ${away}`);
  const waiting = visits.find(({ outcome }) => outcome.kind === "waiting");
  return waiting === undefined ? DONE : wait(`for the account in environment ${waiting.environment}`);
}

/** The first environment that could not be reached, and why, for people. */
export function awayOf(visits: readonly Visited[]): string | undefined {
  for (const { environment, outcome } of visits) if (outcome.kind === "away") return `environment ${environment}: ${outcome.why}`;
  return undefined;
}
