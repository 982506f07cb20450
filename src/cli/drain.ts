import type { DrainDryRunView, DrainView } from "../api/routes/drains.ts";
import { durationText } from "./duration.ts";
import { createNotifications, type Followed, type FollowedLine, follow, unlessInterrupted } from "./follow.ts";
import { observe } from "./observe.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { cellText, paragraph } from "./table.ts";
import { interruptedCode, type Terminal } from "./terminal.ts";

export interface DrainOptions {
  readonly failOver?: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

export interface Drained {
  readonly text: string;
  /** 0: nothing is left on it, or speaks against that. */
  readonly exitCode: number;
}

const OBSERVE_EVERY_MS = 500;

/** `argosy drain <instance>`: empties an instance, and follows that to its end unless `--no-wait` is given. */
export async function drainInstance(client: RestClient, instance: string, options: DrainOptions, terminal: Terminal): Promise<Drained> {
  const { failOver = false, force = false, dryRun = false, wait = true, reason, output } = options;
  const path = `/v1/instances/${encodeURIComponent(instance)}/drain`;
  const how = { ...(failOver ? { failOver } : {}), ...(force ? { force } : {}) };
  if (dryRun) return dryRunOf(await client.post<DrainDryRunView>(`${path}/dry-run`, how), output);
  const signal = terminal.interrupted();
  const asked = await unlessInterrupted(client.post<DrainView>(path, reason === undefined ? how : { ...how, reason }), signal);
  if (asked === undefined) {
    terminal.note(`interrupted before the server answered: \`argosy get instances ${instance}\` says DRAINING if it is drained`);
    return { text: "", exitCode: interruptedCode(signal) };
  }
  const { view, isInterrupted } = wait
    ? await watch(client, { path, asked, output }, terminal, signal)
    : { view: asked, isInterrupted: false };
  if (isInterrupted) terminal.note(interruptedText(cellText(instance)));
  const isLeft = wait ? view.units > 0 : view.refused > 0;
  const text = isForPrograms(output) ? renderOne(view, output) : drainText(view);
  return { text, exitCode: isInterrupted ? interruptedCode(signal) : isLeft ? 1 : 0 };
}

function interruptedText(instance: string): string {
  return `interrupted: the drain of ${instance} goes on by itself; \`argosy drain ${instance}\` watches it again, \`argosy uncordon ${instance}\` calls it off`;
}

/** Watches until nothing is left, or nothing of what is left is about to leave. */
function watch(
  client: RestClient,
  { path, asked, output }: { readonly path: string; readonly asked: DrainView; readonly output: OutputFormat },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Followed<DrainView>> {
  const tell = (line: string): void => void (output === "table" && terminal.note(line));
  const notifications = createNotifications(tell);
  return follow(asked, () => observe(() => client.get<DrainView>(path), { tell, signal }), {
    everyMs: OBSERVE_EVERY_MS,
    signal,
    show: (view) => notifications(drainLines(view), performance.now()),
    isEnd: ({ units, underWay, waiting }) => units === 0 || underWay + waiting === 0,
  });
}

/** What there is to say of a drain: how far it is, what was refused, and what it has waited for longer than is usual. */
export function drainLines(view: DrainView): readonly FollowedLine[] {
  return [
    { text: progressLine(view), holds: true },
    ...refusalsOf(view).map((text) => ({ text })),
    ...slowSteps(view),
    ...queueLines(view),
  ];
}

/** A phase takes a second or two; what takes longer than this waits for something, in ms. */
const SLOW_MS = 10_000;
/** Of more than these nobody reads each. */
const SLOW_SHOWN = 5;

function slowSteps({ steps }: DrainView): readonly FollowedLine[] {
  const slow = steps
    .filter(({ state, phaseMs }) => state === "under-way" && (phaseMs ?? 0) >= SLOW_MS)
    .toSorted((a, b) => (b.phaseMs ?? 0) - (a.phaseMs ?? 0));
  const lines = slow.slice(0, SLOW_SHOWN).map(({ workspace, to, phase, phaseMs, why, move }): FollowedLine => {
    const waits = why === "" ? "" : `, waiting ${why}`;
    const text = `${workspace} → ${to} is in ${phase} for ${secondsText(phaseMs)}${waits} (\`argosy moves ${move}\`)`;
    return { text: `  ${cellText(text)}`, key: `${move} ${phase} ${why}`, holds: true };
  });
  const more = slow.length - lines.length;
  return more === 0 ? lines : [...lines, { text: `  and ${more} more: \`argosy moves --live\``, key: "more", holds: true }];
}

function queueLines({ steps }: DrainView): readonly FollowedLine[] {
  const queued = steps.filter(({ state }) => state === "waiting");
  const [first] = queued;
  if (first === undefined || !queued.some(({ phaseMs }) => (phaseMs ?? 0) >= SLOW_MS)) return [];
  const [which, why] = [
    queued.length === 1 ? `${first.workspace} waits its turn` : `${queued.length} wait their turn, ${first.workspace} first`,
    first.why,
  ];
  return [{ text: `  ${cellText(why === "" ? which : `${which}: ${why}`)}`, key: `queue ${why}`, holds: true }];
}

function secondsText(ms: number | null): string {
  return durationText(Math.floor((ms ?? 0) / 1000));
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
  if (units === 0) return paragraph(`instance ${instance} is empty (${state}); it is retired, and replaced where its pool asks for more`);
  const going = underWay + waiting === 0 ? "nothing of it is under way" : "the rest goes on by itself";
  const again = `\`argosy drain ${cellText(instance)}\` watches it, and tries again what was refused`;
  return [`instance ${cellText(instance)} is ${state} and has ${units} left: ${going}; ${again}`, progressLine(view), ...refusalsOf(view)]
    .map(paragraph)
    .join("\n");
}

function dryRunOf(view: DrainDryRunView, output: OutputFormat): Drained {
  const refused = view.moves.filter(({ refusal }) => refusal !== null);
  const isDone = refused.length === 0 && view.stay.length === 0 && view.refusal === null;
  if (isForPrograms(output)) return { text: renderOne(view, output), exitCode: isDone ? 0 : 1 };
  const plan = view.text.map(paragraph);
  const lines = refused.map(({ workspace, to, refusal }) => paragraph(`  ${workspace} → ${to}: ${refusal}`));
  const against = [
    ...(lines.length === 0 ? [] : ["cannot be moved now", ...lines]),
    ...stayText(view.stay),
    ...(view.refusal === null ? [] : [paragraph(`would be refused: ${view.refusal}`)]),
  ];
  return { text: [...plan, ...against, "nothing was done"].join("\n"), exitCode: isDone ? 0 : 1 };
}

/** The plan has said of each why; here is how many that are. */
function stayText({ length }: DrainDryRunView["stay"]): readonly string[] {
  if (length === 0) return [];
  const [which, them] = length === 1 ? ["1 workspace", "it"] : [`${length} workspaces`, "them"];
  const why = `no instance can take ${them}, for what is said above; where room is missing, \`argosy instance create\` makes another one`;
  return [paragraph(`${which} cannot leave now: ${why}`)];
}
