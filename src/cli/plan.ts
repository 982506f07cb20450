import type { AppliedPlan, PlanView } from "../api/routes/plans.ts";
import type { WhatIfView } from "../api/routes/what-if.ts";
import { InputError } from "../domain/errors.ts";
import { isForPrograms, type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { paragraph } from "./table.ts";

export interface PlanCommandOptions {
  readonly class?: string;
  readonly output: OutputFormat;
}

/** `argosy plan [goal] [subject]`: what should move and why, and whether anything should. */
export async function makePlanCommand(
  client: RestClient,
  { goal, subject }: { readonly goal: string; readonly subject: string | undefined },
  options: PlanCommandOptions,
): Promise<{ readonly text: string; readonly hasMoves: boolean }> {
  const body = { goal, subject: subject ?? "", ...(options.class === undefined ? {} : { class: options.class }) };
  const { items } = await client.post<{ readonly items: readonly PlanView[] }>("/v1/plans", body);
  const hasMoves = items.some(({ moves }) => moves.length > 0);
  if (isForPrograms(options.output)) return { text: render(items, [], options.output), hasMoves };
  const text = items.length === 0 ? "there is no class to plan for: declare a fleet" : items.map(planText).join("\n\n");
  return { text, hasMoves };
}

/** `argosy plan --what-if <change>`: what would become of a class if something were different. */
export async function supposeCommand(
  client: RestClient,
  changes: readonly string[],
  { class: className, output }: PlanCommandOptions,
): Promise<string> {
  const body = { suppose: changes.map(suppositionOf), ...(className === undefined ? {} : { class: className }) };
  const view = await client.post<WhatIfView>("/v1/what-if", body);
  return isForPrograms(output) ? renderOne(view, output) : view.text.map(paragraph).join("\n");
}

type Supposed = Readonly<Record<string, string | number>>;

/** Reads `instances=<pool>:-2`, `load=<workspace>:10`, `load=*:1.5`, `release=<pool>:<version>`. */
function suppositionOf(text: string): Supposed {
  const [, kind, name = "", value = ""] = /^(instances|load|release)=([^:]+):(.+)$/.exec(text) ?? [];
  const amount = Number(value);
  if (kind === "release") return { kind, pool: name, version: value };
  if (kind === "instances" && Number.isInteger(amount)) return { kind, pool: name, by: amount };
  if (kind === "load" && Number.isFinite(amount)) return { kind, ...(name === "*" ? {} : { workspace: name }), times: amount };
  throw new InputError(`${text} is nothing that can be supposed`, {
    ...{ code: "cli.option", path: "--what-if" },
    remedy: "Give instances=<pool>:-2, load=<workspace>:10, load=*:1.5 or release=<pool>:<version>",
  });
}

/** A plan's sentences, as they may stand in a terminal. */
export function planText({ text }: PlanView): string {
  return text.map(paragraph).join("\n");
}

/** `argosy apply <plan>`: what became of each move, and whether all were made or are being made. */
export async function applyPlan(
  client: RestClient,
  plan: string,
  output: OutputFormat,
): Promise<{ readonly text: string; readonly isDone: boolean }> {
  const applied = await client.post<AppliedPlan>(`/v1/plans/${encodeURIComponent(plan)}/apply`, {});
  const isDone = applied.refused === 0;
  if (isForPrograms(output)) return { text: renderOne(applied, output), isDone };
  const { moved, underWay, waiting, refused, steps } = applied;
  const live = underWay + waiting;
  const head = `${moved} of ${steps.length} moves made, ${live} asked for as live moves, ${refused} left`;
  const lines = steps.map(
    ({ workspace, from, to, state, why }) => `${workspace}: ${from ?? "nowhere"} → ${to ?? "nowhere"}, ${stateText(state, why)}`,
  );
  const notification = live === 0 ? [] : [`\`argosy explain plan/${plan}\` and \`argosy moves\` show how far they are`];
  return { text: [head, ...lines.map((line) => paragraph(`  ${line}`)), ...notification].join("\n"), isDone };
}

function stateText(state: AppliedPlan["steps"][number]["state"], why: string): string {
  switch (state) {
    case "moved":
      return "moved";
    case "refused":
      return `left: ${why}`;
    case "waiting":
      return "a live move waits for its turn";
    case "under-way":
      return "a live move is under way";
    case "gone":
      return "its workspace is gone";
  }
}
