import type { MoveView } from "../api/routes/moves.ts";
import type { DirectiveView, FreezeView } from "../api/schema.ts";
import { InputError } from "../domain/errors.ts";
import { shortId, timeText } from "./age.ts";
import { durationText, secondsOf } from "./duration.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, cellText, paragraph } from "./table.ts";

const DEFAULT_REASON = "no reason given";

export interface PinOptions {
  readonly to?: string;
  readonly pool?: string;
  readonly none?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

/** `argosy pin <workspace>`: where it has to live from now on. */
export async function pinWorkspace(client: RestClient, workspace: string, options: PinOptions): Promise<string> {
  const { to, pool, none, reason = DEFAULT_REASON } = options;
  one({ "--to": to !== undefined, "--pool": pool !== undefined, "--none": none === true });
  const body = { instance: to ?? null, pool: pool ?? null, reason };
  const view = await client.put<DirectiveView>(`/v1/workspaces/${encodeURIComponent(workspace)}/pin`, body);
  return show(view, options.output, `workspace ${workspace} ${pinText(view)}`);
}

export interface HoldOptions {
  readonly for?: string;
  readonly none?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

/** `argosy hold <workspace>`: it is not moved for a while unless it must be. */
export async function holdWorkspace(client: RestClient, workspace: string, options: HoldOptions): Promise<string> {
  const { for: length, none, reason = DEFAULT_REASON } = options;
  one({ "--for": length !== undefined, "--none": none === true });
  const body = { seconds: length === undefined ? null : secondsOf(length, "--for"), reason };
  const view = await client.put<DirectiveView>(`/v1/workspaces/${encodeURIComponent(workspace)}/hold`, body);
  const what = view.hold === null ? "may be moved" : `is not moved before ${view.hold.until} unless it must be`;
  return show(view, options.output, `workspace ${workspace} ${what}`);
}

export interface AssignOptions {
  readonly class?: string;
  readonly none?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

/** `argosy assign <workspace>`: which class it has from now on. */
export async function assignWorkspace(client: RestClient, workspace: string, options: AssignOptions): Promise<string> {
  const { class: to, none, reason = DEFAULT_REASON } = options;
  one({ "--class": to !== undefined, "--none": none === true });
  const view = await client.put<DirectiveView>(`/v1/workspaces/${encodeURIComponent(workspace)}/class`, { class: to ?? null, reason });
  const what =
    view.assigned === null
      ? "has the class that labels of its namespace ask for"
      : `has class ${view.assigned.class}; \`argosy explain ${workspace}\` shows how it gets there`;
  return show(view, options.output, `workspace ${workspace} ${what}`);
}

/** `argosy cordon|uncordon <instance>`: whether it takes new units. */
export async function cordonInstance(
  client: RestClient,
  instance: string,
  { cordoned, reason = DEFAULT_REASON, output }: { readonly cordoned: boolean; readonly reason?: string; readonly output: OutputFormat },
): Promise<string> {
  const path = `/v1/instances/${encodeURIComponent(instance)}/cordon`;
  const view = await client.put<{ readonly instance: string; readonly state: string; readonly changed: boolean }>(path, {
    cordoned,
    reason,
  });
  const what = cordoned ? "takes no new units; what it holds stays" : "takes units again";
  const text = `instance ${view.instance} ${what}${view.changed ? "" : ", as before"}`;
  if (cordoned || isForPrograms(output)) return show(view, output, text);
  return [text, ...goingOn(await client.all<MoveView>("/v1/moves", { live: true }), view.instance)].map(paragraph).join("\n");
}

/** The moves of a drain that was called off which have begun: they go on. */
function goingOn(moves: readonly MoveView[], instance: string): readonly string[] {
  const begun = moves.filter(({ from, kind, phase }) => from === instance && kind === "drain" && phase !== "WAITING");
  const [first] = begun;
  if (first === undefined) return [];
  const which =
    begun.length === 1 ? `1 move away from it has begun and goes on` : `${begun.length} moves away from it have begun and go on`;
  return [`${which}: \`argosy moves --live\` shows how far, \`argosy move abort ${shortId(first.id)}\` gives one up`];
}

export interface FreezeOptions {
  readonly for: string;
  readonly schedule?: string;
  readonly reason?: string;
  readonly output: OutputFormat;
}

/** `argosy freeze create <name>`: a time in which nothing moves that need not. */
export async function createFreeze(client: RestClient, name: string, options: FreezeOptions): Promise<string> {
  const { schedule, reason = DEFAULT_REASON } = options;
  const body = { seconds: secondsOf(options.for, "--for"), schedule: schedule ?? null, reason };
  const view = await client.put<FreezeView>(`/v1/freezes/${encodeURIComponent(name)}`, body);
  const when = view.schedule === null ? "from now" : `each time ${view.schedule} (UTC) comes`;
  return show(view, options.output, `nothing is moved that need not be: ${durationText(view.seconds)} ${when}`);
}

export const freezes: readonly Column<FreezeView>[] = [
  { title: "NAME", value: (row) => row.name, fit: "name" },
  { title: "BEGINS", value: (row) => (row.schedule === null ? timeText(row.at) : `${row.schedule} (UTC)`) },
  { title: "LASTS", value: (row) => durationText(row.seconds) },
  { title: "BY", value: (row) => row.actor, fit: "name" },
  { title: "REASON", value: (row) => row.reason, fit: "text" },
];

function pinText({ pin }: DirectiveView): string {
  if (pin === null) return "may live on any instance of its class";
  return `is pinned to ${pin.instance === null ? `pool ${pin.pool}` : pin.instance}`;
}

function show(view: Readonly<Record<string, unknown>>, output: OutputFormat, sentence: string): string {
  return isForPrograms(output) ? renderOne(view, output) : cellText(sentence);
}

/** Refuses none of the options, and two: neither says what is wanted. */
function one(given: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(given);
  if (Object.values(given).filter(Boolean).length === 1) return;
  throw new InputError("say exactly one thing", { code: "cli.option", path: names.join(", "), remedy: `Give one of ${names.join(", ")}` });
}
