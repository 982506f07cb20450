import type { MoveDryRunView, MoveView } from "../api/routes/moves.ts";
import { shortId, timeText } from "./age.ts";
import { createNotifications, type FollowedLine, follow } from "./follow.ts";
import { observe } from "./observe.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, cellText, paragraph } from "./table.ts";
import { interruptedCode, type Terminal } from "./terminal.ts";

export interface MoveOptions {
  readonly to: string;
  readonly failOver?: boolean;
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly output: OutputFormat;
}

const OBSERVE_EVERY_MS = 200;

export interface Moved {
  readonly text: string;
  /** 0: the workspace is where it was to be, or on its way, or nothing speaks against that. */
  readonly exitCode: number;
}

/** `argosy move <workspace> --to <instance>`: asks for a live move, and follows it phase by phase unless `--no-wait` is given. */
export async function moveWorkspace(client: RestClient, workspace: string, options: MoveOptions, terminal: Terminal): Promise<Moved> {
  const { to, failOver = false, dryRun = false, wait = true, reason, output } = options;
  const body = { workspace, to, ...(failOver ? { failOver } : {}), ...(reason === undefined ? {} : { reason }) };
  if (dryRun) {
    const view = await client.post<MoveDryRunView>("/v1/moves/dry-run", body);
    return { text: show(view, output, dryRunText(view)), exitCode: view.refusal === null ? 0 : 1 };
  }
  const asked = await client.post<MoveView>("/v1/moves", body);
  return wait ? watchMove(client, asked, output, terminal) : movedOf(asked, output);
}

/** `argosy moves <move>`: watches one to its end, as who asked for it did. */
export async function attachMove(client: RestClient, id: string, output: OutputFormat, terminal: Terminal): Promise<Moved> {
  return watchMove(client, await client.get<MoveView>(`/v1/moves/${encodeURIComponent(id)}`), output, terminal);
}

function movedOf(view: MoveView, output: OutputFormat): Moved {
  return { text: show(view, output, sentenceOf(view)), exitCode: view.endedAt === null || view.phase === "DONE" ? 0 : 1 };
}

async function watchMove(client: RestClient, asked: MoveView, output: OutputFormat, terminal: Terminal): Promise<Moved> {
  const tell = (line: string): void => void (output === "table" && terminal.note(line));
  const notifications = createNotifications(tell);
  const signal = terminal.interrupted();
  const read = () => observe(() => client.get<MoveView>(`/v1/moves/${encodeURIComponent(asked.id)}`), { tell, signal });
  const { view, isInterrupted } = await follow(asked, read, {
    everyMs: OBSERVE_EVERY_MS,
    signal,
    show: (seen) => notifications([progressOf(seen)], performance.now()),
    isEnd: ({ endedAt }) => endedAt !== null,
  });
  if (!isInterrupted) return movedOf(view, output);
  const id = shortId(view.id);
  terminal.note(
    `interrupted: the move goes on by itself; \`argosy moves ${id}\` watches it again, \`argosy move abort ${id}\` gives it up`,
  );
  return { ...movedOf(view, output), exitCode: interruptedCode(signal) };
}

function progressOf({ phase, message, messageCode, tookMs, gapMs }: MoveView): FollowedLine {
  const key = `${phase}${message === "" ? "" : `: ${messageCode === "WAITS" ? "waiting " : ""}${message}`}`;
  return { key, text: cellText(`${seconds(tookMs)} ${key}${gapMs === null ? "" : ` (gap so far ${seconds(gapMs)})`}`), holds: true };
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
  { title: "TOOK", value: (row) => seconds(row.tookMs), isClock: true },
  { title: "GAP", value: (row) => seconds(row.gapMs), isWide: true, isClock: true },
  { title: "BY", value: (row) => row.actor, isWide: true },
  { title: "KIND", value: (row) => row.kind, isWide: true },
  { title: "REASON", value: (row) => row.reason, isWide: true },
  { title: "PLAN", value: (row) => row.plan, isWide: true },
  { title: "CREATED", value: (row) => timeText(row.createdAt), isWide: true },
  { title: "ID", value: (row) => row.id, isWide: true },
  { title: "MESSAGE", value: (row) => row.message, fit: "text" },
];

function sentenceOf(view: MoveView): string {
  const what = `move ${view.id} of workspace ${view.workspace ?? view.unit} from ${view.from} to ${view.to}`;
  const said = view.message === "" ? "" : `; ${view.message}`;
  if (view.phase === "DONE") return `${what}: done in ${seconds(view.tookMs)}, ${seconds(view.gapMs)} without an owner${said}`;
  if (view.phase === "REDIRECTED") return `${what}: ended, ${view.message}`;
  if (view.phase === "ABORTED") return `${what}: not made, ${view.message}`;
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
  return isForPrograms(output) ? renderOne(view, output) : paragraph(sentence);
}
