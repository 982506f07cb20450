import type { AppliedPlan, PlanView } from "../api/routes/plans.ts";
import { cellText, type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";

export interface PlanOptions {
  readonly class?: string;
  readonly output: OutputFormat;
}

/** `argosy plan [goal] [subject]`: what should move and why, and whether anything should. */
export async function makePlan(
  client: RestClient,
  { goal, subject }: { readonly goal: string; readonly subject: string | undefined },
  options: PlanOptions,
): Promise<{ readonly text: string; readonly hasMoves: boolean }> {
  const body = { goal, subject: subject ?? "", ...(options.class === undefined ? {} : { class: options.class }) };
  const { items } = await client.post<{ readonly items: readonly PlanView[] }>("/v1/plans", body);
  const hasMoves = items.some(({ moves }) => moves.length > 0);
  if (options.output === "json" || options.output === "yaml") return { text: render(items, [], options.output), hasMoves };
  const text = items.length === 0 ? "there is no class to plan for: declare a fleet" : items.map(planText).join("\n\n");
  return { text, hasMoves };
}

/** A plan's sentences, as they may stand in a terminal. */
export function planText({ text }: PlanView): string {
  return text.map((line) => /^ */.exec(line)?.[0] + cellText(line.trimStart())).join("\n");
}

/** `argosy apply <plan>`: what became of each move, and whether all were made. */
export async function applyPlan(
  client: RestClient,
  plan: string,
  output: OutputFormat,
): Promise<{ readonly text: string; readonly isDone: boolean }> {
  const applied = await client.post<AppliedPlan>(`/v1/plans/${encodeURIComponent(plan)}/apply`, {});
  const isDone = applied.steps.every(({ outcome }) => outcome === "moved");
  if (output === "json" || output === "yaml") return { text: renderOne(applied, output), isDone };
  const count = (wanted: string): number => applied.steps.filter(({ outcome }) => outcome === wanted).length;
  const head = `${count("moved")} of ${applied.steps.length} moves made, ${count("live-move-needed")} take a live move, ${count("dropped")} dropped`;
  const lines = applied.steps.map(
    ({ workspace, from, to, outcome, why }) =>
      `  ${workspace}: ${from ?? "nowhere"} → ${to}, ${outcome === "moved" ? "moved" : `left: ${why}`}`,
  );
  return { text: [head, ...lines.map((line) => `  ${cellText(line.trimStart())}`)].join("\n"), isDone };
}
