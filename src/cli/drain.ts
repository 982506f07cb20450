import type { DrainDryRunView, DrainView } from "../api/routes/drains.ts";
import { look } from "./look.ts";
import { cellText, isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import type { Terminal } from "./terminal.ts";

export interface DrainOptions {
  readonly failOver?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

export interface Drained {
  readonly text: string;
  /** Whether nothing is left on it, or nothing speaks against that. */
  readonly isDone: boolean;
}

const LOOK_EVERY_MS = 500;

/** `argosy drain <instance>`: empties an instance, and follows that to its end unless it is told not to. */
export async function drainInstance(client: RestClient, instance: string, options: DrainOptions, terminal: Terminal): Promise<Drained> {
  const { failOver = false, dryRun = false, wait = true, reason, output } = options;
  const path = `/v1/instances/${encodeURIComponent(instance)}/drain`;
  const how = failOver ? { failOver } : {};
  if (dryRun) return dryRunOf(await client.post<DrainDryRunView>(`${path}/dry-run`, how), output);
  const asked = await client.post<DrainView>(path, reason === undefined ? how : { ...how, reason });
  const tell = (line: string): void => void (output === "table" && terminal.note(line));
  const view = wait ? await follow(client, { path, asked }, tell) : asked;
  const isLeft = wait ? view.units > 0 : view.refused > 0;
  const text = isForPrograms(output) ? renderOne(view, output) : drainText(view);
  return { text, isDone: !isLeft };
}

/** Watches until nothing is left, or nothing of what is left is about to leave. */
async function follow(
  client: RestClient,
  { path, asked }: { readonly path: string; readonly asked: DrainView },
  tell: (line: string) => void,
): Promise<DrainView> {
  const told = new Set<string>();
  for (let view = asked; ; view = await look<DrainView>(client, path, tell)) {
    const news = [progressLine(view), ...refusalsOf(view)].filter((line) => !told.has(line));
    for (const line of news) {
      told.add(line);
      tell(line);
    }
    if (view.units === 0 || view.underWay + view.waiting === 0) return view;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function progressLine({ moved, underWay, waiting, refused, budget, phases, longestGapMs }: DrainView): string {
  const busy = phases.map(({ phase, moves }) => `${phase} ${moves}`).join(", ");
  const gap = longestGapMs === null ? "" : `; longest gap so far ${(longestGapMs / 1000).toFixed(1)}s`;
  const left = refused === 0 ? "" : `; ${refused} refused`;
  return `${moved} moved, ${underWay} of at most ${budget} under way${busy === "" ? "" : ` (${busy})`}, ${waiting} wait${left}${gap}`;
}

function refusalsOf({ steps }: DrainView): readonly string[] {
  const refused = steps.filter(({ state }) => state === "refused");
  return refused.map(({ workspace, to, why }) => `  ${cellText(`${workspace}${to === null ? "" : ` → ${to}`}, left: ${why}`)}`);
}

function drainText(view: DrainView): string {
  const { instance, state, units, underWay, waiting } = view;
  if (units === 0) return `instance ${cellText(instance)} is empty (${state}); it is retired, and replaced where its pool asks for more`;
  const going = underWay + waiting === 0 ? "nothing of it is under way" : "the rest goes on by itself";
  const again = `\`argosy drain ${cellText(instance)}\` watches it, and tries again what was refused`;
  return [
    `instance ${cellText(instance)} is ${state} and has ${units} left: ${going}; ${again}`,
    progressLine(view),
    ...refusalsOf(view),
  ].join("\n");
}

function dryRunOf(view: DrainDryRunView, output: OutputFormat): Drained {
  const refused = view.moves.filter(({ refusal }) => refusal !== null);
  const isDone = refused.length === 0;
  if (isForPrograms(output)) return { text: renderOne(view, output), isDone };
  const plan = view.text.map((line) => /^ */.exec(line)?.[0] + cellText(line.trimStart()));
  const lines = refused.map(({ workspace, to, refusal }) => `  ${cellText(`${workspace} → ${to}: ${refusal}`)}`);
  const against = isDone ? [] : ["cannot be moved now", ...lines];
  return { text: [...plan, ...against, "nothing was done"].join("\n"), isDone };
}
