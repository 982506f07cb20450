import type { JournalEntry } from "../api/schema.ts";
import { timeText } from "./age.ts";
import { secondsOf } from "./duration.ts";
import { type OutputFormat, render } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import type { Column } from "./table.ts";

export interface JournalOptions {
  readonly workspace?: string;
  readonly instance?: string;
  readonly subject?: string;
  readonly kind?: string;
  readonly verdict?: string;
  readonly since?: string;
  readonly limit?: string;
  readonly review?: boolean;
  readonly output: OutputFormat;
}

export const journalColumns: readonly Column<JournalEntry>[] = [
  { title: "AT", value: (row) => timeText(row.at) },
  { title: "KIND", value: (row) => row.kind },
  { title: "ABOUT", value: (row) => row.name ?? row.subject, fit: "name" },
  { title: "VERDICT", value: (row) => row.verdict, fit: "name" },
  { title: "RULE", value: (row) => row.rule, fit: "name" },
  { title: "BY", value: (row) => row.actor, fit: "name" },
  { title: "WHAT", value: (row) => row.text, isWide: true },
];

const HOLDS: Column<JournalEntry> = { title: "HOLDS", value: (row) => (row.holds === null ? null : row.holds ? "yes" : "NO") };

/** `argosy journal`: what was decided, newest first; with review, whether it follows from what was recorded with it. */
export async function readJournal(
  client: RestClient,
  now: number,
  { output, since, review, ...filter }: JournalOptions,
): Promise<{ readonly text: string; readonly allHold: boolean }> {
  const { workspace, instance, subject, kind, verdict, limit } = filter;
  const from = since === undefined ? undefined : new Date(now - secondsOf(since, "--since") * 1000).toISOString();
  const query = { workspace, instance, subject, kind, verdict, limit, since: from, review: review === true ? true : undefined };
  const { items } = await client.get<{ readonly items: readonly JournalEntry[] }>("/v1/decisions", query);
  const shown = review === true ? [...journalColumns, HOLDS] : journalColumns;
  return { text: render(items, shown, output), allHold: items.every(({ holds }) => holds !== false) };
}
