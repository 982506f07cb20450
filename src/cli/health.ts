import type { HealthReportView, HealthVerdictView } from "../api/routes/health.ts";
import type { FailingSyncView } from "../api/schema.ts";
import { age, timeText } from "./age.ts";
import { isForPrograms, type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, paragraph } from "./table.ts";

export const healthColumns: readonly Column<HealthVerdictView>[] = [
  { title: "INSTANCE", value: (row) => row.instance, fit: "name" },
  { title: "STATE", value: (row) => row.state },
  { title: "CAUSE", value: (row) => row.cause },
  { title: "FOR", value: (row) => age(row.since) },
  { title: "SINCE", value: (row) => timeText(row.since), isWide: true },
  { title: "JUDGED", value: (row) => timeText(row.at), isWide: true },
  { title: "WHY", value: (row) => row.text, fit: "text" },
];

type Evidence = HealthReportView["evidence"][number];
export const evidence: readonly Column<Evidence>[] = [
  { title: "SIGNAL", value: (row) => row.signal },
  { title: "NOW", value: (row) => (row.value === null ? null : figure(row.value)) },
  { title: "LATELY", value: (row) => sparkline(condensed(row.series)) },
  { title: "IS", value: (row) => row.meaning, fit: "text" },
];

/** States that need a person's attention. */
const BAD: readonly string[] = ["overloaded", "stalled", "failed", "unknown"];
const DECISIONS_SHOWN = 5;
const FAILING_SHOWN = 20;

type HealthList = { readonly items: readonly HealthVerdictView[]; readonly failingSyncs: readonly FailingSyncView[] };

/** `argosy health [<instance>]`: how instances are, the worst first, or how one is with what that rests on; well only if none is worse than degraded. */
export async function showHealth(
  client: RestClient,
  instance: string | undefined,
  output: OutputFormat,
): Promise<{ readonly text: string; readonly isWell: boolean }> {
  if (instance === undefined) {
    const { items, failingSyncs } = await client.get<HealthList>("/v1/health");
    const lines = isForPrograms(output) ? [] : failingLines(failingSyncs);
    return { text: [render(items, healthColumns, output), ...lines].join("\n"), isWell: !items.some(({ state }) => BAD.includes(state)) };
  }
  const report = await client.get<HealthReportView>(`/v1/health/${encodeURIComponent(instance)}`);
  const text = isForPrograms(output) ? renderOne(report, output) : reportText(report);
  return { text, isWell: !BAD.includes(report.state) };
}

function reportText(report: HealthReportView): string {
  const { instance, state, cause, component, since, text, decisions } = report;
  const head = `${instance} is ${state} (${cause}${component === null ? "" : `, ${component}`})${since === null ? "" : ` since ${since}`}: ${text}`;
  const said = decisions.slice(0, DECISIONS_SHOWN).map(({ at, verdict, text: why }) => paragraph(`  ${timeText(at)} ${verdict}: ${why}`));
  return [
    paragraph(head),
    ...(report.evidence.length === 0 ? [] : ["", render(report.evidence, evidence, "table")]),
    ...failingLines(report.failingSyncs),
    ...(said.length === 0 ? [] : ["", "lately:", ...said]),
  ].join("\n");
}

/** Applications that cannot be synced, below how instances are: these are their workspaces' own trouble, and no instance's. */
function failingLines(failing: readonly FailingSyncView[]): readonly string[] {
  if (failing.length === 0) return [];
  const shown = failing
    .slice(0, FAILING_SHOWN)
    .map(({ application, instance, text }) => paragraph(`  ${application} on ${instance ?? "-"} ${text}`));
  const more = failing.length - shown.length;
  const rest = more === 0 ? [] : [`  and ${more} more: \`argosy get operations --op-state Failed\``];
  return ["", "applications that cannot be synced, which is their workspaces' own trouble:", ...shown, ...rest];
}

function figure(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Bars that leave a line room for words. */
const BARS_SHOWN = 20;

/** Of several observations the highest that is known: a peak should be seen. */
function condensed(series: readonly (number | null)[]): readonly (number | null)[] {
  const each = Math.ceil(series.length / BARS_SHOWN);
  return Array.from({ length: Math.ceil(series.length / Math.max(1, each)) }, (_, index) => {
    const known = series.slice(index * each, (index + 1) * each).filter((value) => value !== null);
    return known.length === 0 ? null : Math.max(...known);
  });
}

const BARS = "▁▂▃▄▅▆▇█";

/** A line of bars between the least and the most of what was known; a dot where nothing was. */
export function sparkline(series: readonly (number | null)[]): string {
  const values = series.flatMap((value) => value ?? []);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const bar = (value: number): string =>
    BARS[most === least ? 0 : Math.round(((value - least) / (most - least)) * (BARS.length - 1))] ?? "";
  return series.map((value) => (value === null ? "·" : bar(value))).join("");
}
