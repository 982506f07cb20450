import type { RolloutDraftView, RolloutView } from "../api/rollout-views.ts";
import type { VersionView } from "../api/version-views.ts";
import { countText } from "../domain/count-text.ts";
import { InputError } from "../domain/errors.ts";
import { age, shortId, timeText } from "./age.ts";
import { durationText, secondsOf } from "./duration.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, cellText, paragraph } from "./table.ts";

export interface CreateOptions {
  readonly version: string;
  readonly pool?: string;
  readonly mode?: string;
  readonly bake?: string;
  readonly emergency?: boolean;
  readonly unattended?: boolean;
  readonly dryRun?: boolean;
  readonly reason?: string;
  readonly output: OutputFormat;
}

/** `argosy rollout create`: begins to give a release to instances, or says which waves that would have. */
export async function createRollout(client: RestClient, options: CreateOptions): Promise<string> {
  const { version, pool, mode = "in-place", bake, emergency = false, unattended = false, dryRun, reason, output } = options;
  const bakeSeconds = bake === undefined ? null : secondsOf(bake, "--bake");
  const body = { version, pool: pool ?? null, mode, emergency, unattended, bakeSeconds, ...(reason === undefined ? {} : { reason }) };
  if (dryRun !== true) return showRollout(await client.post<RolloutView>("/v1/rollouts", body), output);
  const draft = await client.post<RolloutDraftView>("/v1/rollouts/dry-run", body);
  if (isForPrograms(output)) return renderOne(draft, output);
  const kept = draft.refused.map(({ instance, reason: why }) => `  ${cellText(`${instance} keeps what it has: ${why}`)}`);
  return [
    `${version} would be rolled out in ${countText(draft.waves.length, "wave")}`,
    ...draft.waves.flatMap(waveText),
    ...kept,
    "nothing was done",
  ]
    .map(paragraph)
    .join("\n");
}

/** `argosy rollout status|pause|resume|approve|abort`: of the newest where none is named. */
export async function commandRollout(
  client: RestClient,
  id: string | undefined,
  {
    command,
    reason,
    output,
  }: { readonly command: "status" | "pause" | "resume" | "approve" | "abort"; readonly reason?: string; readonly output: OutputFormat },
): Promise<string> {
  const path = `/v1/rollouts/${encodeURIComponent(id ?? (await newest(client)))}`;
  if (command === "status") return showRollout(await client.get<RolloutView>(path), output);
  return showRollout(await client.post<RolloutView>(`${path}/${command}`, reason === undefined ? {} : { reason }), output);
}

export const rollouts: readonly Column<RolloutView>[] = [
  { title: "ROLLOUT", value: (row) => shortId(row.id) },
  { title: "VERSION", value: (row) => row.version },
  { title: "STATE", value: (row) => row.state },
  { title: "WAVE", value: (row) => `${Math.min(row.wave + 1, row.waves.length)}/${row.waves.length}` },
  { title: "AGE", value: (row) => age(row.createdAt), isClock: true },
  { title: "BY", value: (row) => row.actor, fit: "name" },
  { title: "ID", value: (row) => row.id, isWide: true },
  { title: "BEGUN", value: (row) => timeText(row.createdAt), isWide: true },
  { title: "POOL", value: (row) => row.pool, isWide: true },
  { title: "NOTE", value: (row) => row.note, isWide: true },
];

export const versions: readonly Column<VersionView>[] = [
  { title: "VERSION", value: (row) => row.version },
  { title: "STATE", value: (row) => row.state },
  { title: "INSTANCES", value: (row) => row.instances.length },
  { title: "UPGRADING", value: (row) => row.upgrading.length },
  {
    title: "CHANNELS",
    value: (row) => row.channels.map((name) => (row.defaultOf.includes(name) ? `${name} (default)` : name)).join(", "),
    fit: "name",
  },
  { title: "FROM", value: (row) => row.upgradesFrom?.join(", ") ?? null, isWide: true },
  { title: "IMAGE", value: (row) => row.image, isWide: true },
  { title: "NAMES", value: (row) => row.instances.join(", "), isWide: true },
  { title: "FROZEN BECAUSE", value: (row) => row.frozen?.reason ?? null, fit: "text" },
];

async function newest(client: RestClient): Promise<string> {
  const [found] = (await client.get<{ readonly items: readonly RolloutView[] }>("/v1/rollouts")).items;
  if (found !== undefined) return found.id;
  throw new InputError("there is no rollout", { code: "rollout.none", path: "rollout", remedy: "argosy rollout create begins one" });
}

function showRollout(view: RolloutView, output: OutputFormat): string {
  if (isForPrograms(output)) return renderOne(view, output);
  const head = `rollout ${view.id} of ${view.version}${view.pool === null ? "" : ` in pool ${view.pool}`} is ${view.state}: ${view.note}`;
  return [head, ...view.waves.flatMap(waveText)].map(paragraph).join("\n");
}

function waveText({ name, state, bakeSeconds, instances, passedAt, passedBy, gates }: RolloutView["waves"][number]): readonly string[] {
  const units = instances.reduce((total, one) => total + one.units, 0);
  const head = `  ${name} (${state}): ${countText(instances.length, "instance")} with ${countText(units, "unit")}, bakes ${durationText(bakeSeconds)}`;
  const passed =
    passedAt === null ? [] : [`    passed at ${passedAt} by ${passedBy}`, ...gates.map(({ gate, text }) => `      ${gate}: ${text}`)];
  return [head, ...instances.map((one) => `    ${cellText(instanceText(one))}`), ...passed];
}

function instanceText({
  name,
  from,
  emptyingSince,
  askedAt,
  readyAt,
  syncs,
  failedSyncs,
}: RolloutView["waves"][number]["instances"][number]): string {
  const before = emptyingSince === null ? `runs ${from}` : `runs ${from}, is emptied since ${emptyingSince}`;
  const how =
    readyAt === null
      ? askedAt === null
        ? before
        : `asked at ${askedAt}`
      : `ready since ${readyAt}, ${failedSyncs} of ${syncs} syncs failed`;
  return `${name}: ${how}`;
}
