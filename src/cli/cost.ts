import type { CostLineView, CostReportView } from "../api/routes/cost.ts";
import { shareText } from "../domain/cpu-share.ts";
import { InputError } from "../domain/errors.ts";
import { timeText } from "./age.ts";
import { csvOf } from "./csv.ts";
import { secondsOf } from "./duration.ts";
import { isForPrograms, type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, paragraph } from "./table.ts";

export interface CostOptions {
  readonly since?: string;
  readonly by?: string;
  readonly limit?: string;
  readonly output: OutputFormat | "csv";
}

type Report = Omit<CostReportView, "next">;

const BY = ["workspace", "class", "instance"] as const;
const LABEL = /^label=(.+)$/;

/** In the order of the columns of a file. */
const FIELDS = [
  ...["name", "of", "cpuCoreHours", "memoryGibHours", "cpuShare", "cost", "controllerCpuMs", "repoServerCpuMs", "memoryKibS"],
] as readonly (keyof CostLineView)[];

/** The first one is titled by what lines are about. */
export const costColumns: readonly Column<CostLineView>[] = [
  { title: "NAME", value: (row) => row.name, fit: "name" },
  { title: "OF", value: (row) => row.of },
  { title: "CORE H", value: (row) => amount(row.cpuCoreHours) },
  { title: "CPU", value: (row) => percent(row.cpuShare) },
  { title: "GIB H", value: (row) => amount(row.memoryGibHours) },
  { title: "COST", value: (row) => (row.cost === null ? null : amount(row.cost)) },
  { title: "CONTROLLER S", value: (row) => Math.round(row.controllerCpuMs / 1_000), isWide: true },
  { title: "REPO-SERVER S", value: (row) => Math.round(row.repoServerCpuMs / 1_000), isWide: true },
];

/** `argosy cost`: who took what, who took most first. `now` in ms. */
export async function showCost(client: RestClient, now: number, { since, by = "workspace", limit, output }: CostOptions): Promise<string> {
  const seconds = secondsOf(since ?? "24h", "--since");
  const query = { ...queryOf(by), since: new Date(now - seconds * 1_000).toISOString() };
  const report = await readAll(client, query);
  const most = limit === undefined ? Infinity : limitOf(limit);
  const items = report.items.toSorted((a, b) => (b.cost ?? 0) - (a.cost ?? 0) || b.cpuCoreHours - a.cpuCoreHours).slice(0, most);
  if (output === "csv") return csvOf(items, FIELDS);
  if (isForPrograms(output)) return renderOne({ ...report, items }, output);
  const title = by.replace(LABEL, "$1").toUpperCase();
  const columns = costColumns.map((column, index) => (index === 0 ? { ...column, title } : column));
  const table = items.length === 0 ? "nothing was measured in that time" : render(items, columns, output);
  const exceeded = report.exceeded.map(({ workspace: namespace, ...one }) =>
    paragraph(`${shareText({ namespace, ...one })} (last six hours)`),
  );
  return [`from ${timeText(report.since)} to ${timeText(report.until)}`, table, ...exceeded].join("\n");
}

async function readAll(client: RestClient, query: Readonly<Record<string, string>>): Promise<Report> {
  const items: CostLineView[] = [];
  for (let after = ""; ; ) {
    const { next, ...report } = await client.get<CostReportView>("/v1/cost", { ...query, limit: 1_000, after });
    items.push(...report.items);
    if (next === "") return { ...report, items };
    after = next;
  }
}

function queryOf(by: string): Readonly<Record<string, string>> {
  const label = LABEL.exec(by)?.[1];
  if (label !== undefined) return { by: "label", label };
  if ((BY as readonly string[]).includes(by)) return { by };
  const remedy = `Use ${BY.join(", ")} or label=KEY`;
  throw new InputError(`${by} is nothing to sum up by`, { code: "cli.option", path: "--by", remedy });
}

function limitOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InputError(`${text} is no number of lines`, { code: "cli.option", path: "--limit", remedy: "Give one like 20" });
}

/** Three digits that count, or all whole ones. */
function amount(value: number): string {
  if (value === 0) return "0";
  if (value < 0.001) return "<0.001";
  return value >= 100 ? String(Math.round(value)) : Number(value.toPrecision(3)).toString();
}

function percent(share: number): string {
  return share > 0 && share < 0.01 ? "<1 %" : `${Math.round(share * 100)} %`;
}
