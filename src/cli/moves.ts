import type { MoveDryRunView, MoveView } from "../api/routes/moves.ts";
import { shortId, timeText } from "./age.ts";
import { look } from "./look.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, cellText } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface MoveOptions {
  readonly to: string;
  readonly failOver?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly output: OutputFormat;
}

const LOOK_EVERY_MS = 200;

export interface Moved {
  readonly text: string;
  /** Whether the workspace is where it was to be, or on its way, or nothing speaks against that. */
  readonly isDone: boolean;
}

/** `argosy move <workspace> --to <instance>`: asks for a live move, and follows it phase by phase unless it is told not to. */
export async function moveWorkspace(client: RestClient, workspace: string, options: MoveOptions, terminal: Terminal): Promise<Moved> {
  const { to, failOver = false, dryRun = false, wait = true, output } = options;
  const body = { workspace, to, ...(failOver ? { failOver } : {}) };
  if (dryRun) {
    const view = await client.post<MoveDryRunView>("/v1/moves/dry-run", body);
    return { text: show(view, output, dryRunText(view)), isDone: view.refusal === null };
  }
  const asked = await client.post<MoveView>("/v1/moves", body);
  const view = wait ? await follow(client, asked, (line) => output === "table" && terminal.note(line)) : asked;
  return { text: show(view, output, sentenceOf(view)), isDone: view.endedAt === null || view.phase === "DONE" };
}

/** `argosy move abort|reverse <move>`. */
export async function changeMove(
  client: RestClient,
  id: string,
  { how, output }: { readonly how: "abort" | "reverse"; readonly output: OutputFormat },
): Promise<string> {
  const view = await client.post<MoveView>(`/v1/moves/${encodeURIComponent(id)}/${how}`, {});
  return show(view, output, sentenceOf(view));
}

export const moves: readonly Column<MoveView>[] = [
  { title: "MOVE", value: (row) => shortId(row.id) },
  { title: "WORKSPACE", value: (row) => row.workspace ?? "-", fit: "name" },
  { title: "FROM", value: (row) => row.from, fit: "name" },
  { title: "TO", value: (row) => row.to, fit: "name" },
  { title: "PHASE", value: (row) => row.phase },
  { title: "TOOK", value: (row) => seconds(row.tookMs) },
  { title: "GAP", value: (row) => seconds(row.gapMs), isWide: true },
  { title: "BY", value: (row) => row.actor, isWide: true },
  { title: "KIND", value: (row) => row.kind, isWide: true },
  { title: "REASON", value: (row) => row.reason, isWide: true },
  { title: "PLAN", value: (row) => row.plan, isWide: true },
  { title: "CREATED", value: (row) => timeText(row.createdAt), isWide: true },
  { title: "ID", value: (row) => row.id, isWide: true },
  { title: "MESSAGE", value: (row) => row.message, fit: "text" },
];

async function follow(client: RestClient, asked: MoveView, tell: (line: string) => void): Promise<MoveView> {
  let told = "";
  for (let view = asked; ; view = await look<MoveView>(client, `/v1/moves/${encodeURIComponent(asked.id)}`, { tell })) {
    const line = `${view.phase}${view.message === "" ? "" : `: waiting ${view.message}`}`;
    if (line !== told)
      tell(cellText(`${seconds(view.tookMs)} ${line}${view.gapMs === null ? "" : ` (gap so far ${seconds(view.gapMs)})`}`));
    told = line;
    if (view.endedAt !== null) return view;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function sentenceOf(view: MoveView): string {
  const what = `move ${view.id} of workspace ${view.workspace ?? view.unit} from ${view.from} to ${view.to}`;
  const said = view.message === "" ? "" : `; ${view.message}`;
  if (view.phase === "DONE") return `${what}: done in ${seconds(view.tookMs)}, ${seconds(view.gapMs)} without an owner${said}`;
  if (view.phase === "REDIRECTED") return `${what}: ended, ${view.message}`;
  if (view.phase === "ABORTED") return `${what}: given up, ${view.message}`;
  return `${what}: ${view.phase}`;
}

function dryRunText({ workspace, from, to, refusal }: MoveDryRunView): string {
  if (refusal !== null) return `workspace ${workspace} cannot be moved to ${to}: ${refusal.text}`;
  return `workspace ${workspace} can be moved from ${from ?? "nowhere"} to ${to}; nothing was done`;
}

function seconds(ms: number | null): string {
  return ms === null ? "-" : `${(ms / 1000).toFixed(1)}s`;
}

function show(view: Readonly<Record<string, unknown>>, output: OutputFormat, sentence: string): string {
  return isForPrograms(output) ? renderOne(view, output) : cellText(sentence);
}
