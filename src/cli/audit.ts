import { createReadStream } from "node:fs";
import process from "node:process";
import type { AuditPageView } from "../api/routes/audit.ts";
import { type AuditLine, auditText } from "../domain/audit.ts";
import { type AuditReport, createAuditCheck } from "../domain/audit-check.ts";
import { InputError } from "../domain/errors.ts";
import { timeText } from "./age.ts";
import { secondsOf } from "./duration.ts";
import { type OutputFormat, render, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import type { Column } from "./table.ts";

export interface AuditListOptions {
  readonly actor?: string;
  readonly action?: string;
  readonly outcome?: string;
  readonly since?: string;
  readonly limit?: string;
  readonly output: OutputFormat;
}

export interface VerifyOptions {
  readonly fromHash?: string;
  readonly output: OutputFormat;
}

export const auditColumns: readonly Column<AuditLine>[] = [
  { title: "NUMBER", value: (row) => row.seq },
  { title: "AT", value: (row) => timeText(row.at) },
  { title: "WHO", value: (row) => row.actor, fit: "name" },
  { title: "ACTION", value: (row) => row.action, fit: "name" },
  { title: "OUTCOME", value: (row) => (row.count > 1 ? `${row.outcome} ${row.count} times` : row.outcome) },
  { title: "CODE", value: (row) => row.code, fit: "name" },
  { title: "TARGET", value: (row) => row.target, isWide: true },
  { title: "VIA", value: (row) => row.via, isWide: true },
  { title: "ROLE", value: (row) => row.role, isWide: true },
  { title: "FROM", value: (row) => row.remote, isWide: true },
  { title: "ANSWERS", value: (row) => row.answers, isWide: true },
  { title: "DETAILS", value: (row) => auditText(row.details), isWide: true },
];

/** Records of a page: a record may have 64 KiB of details. */
const PAGE = 200;
const DEFAULT_LIMIT = "100";

export async function listAudit(client: RestClient, now: number, options: AuditListOptions): Promise<string> {
  const { actor, action, outcome, since, limit = DEFAULT_LIMIT, output } = options;
  const from = since === undefined ? undefined : new Date(now - secondsOf(since, "--since") * 1000).toISOString();
  const query = { actor, action, outcome, since: from, limit, order: "newest-first" };
  const { items } = await client.get<AuditPageView>("/v1/audit", query);
  return render(items, auditColumns, output);
}

/** Hands out every record in order, as a line of an export. */
export async function exportAudit(client: RestClient, write: (line: string) => void): Promise<void> {
  for await (const line of serverLines(client)) write(line);
}

async function* serverLines(client: RestClient): AsyncGenerator<string> {
  for (let after: string | undefined; after !== ""; ) {
    const page: AuditPageView = await client.get("/v1/audit", { limit: PAGE, after });
    yield* page.items.map(auditText);
    after = page.next;
  }
}

/** Checks an export, or without one what the server has now. */
export async function verifyAudit(
  clientOf: () => RestClient,
  file: string | undefined,
  { fromHash, output }: VerifyOptions,
): Promise<{ readonly text: string; readonly ok: boolean; readonly notes: readonly string[] }> {
  if (fromHash !== undefined && !/^[0-9a-f]{64}$/.test(fromHash))
    throw new InputError(`${fromHash} is no hash of a record`, {
      ...{ code: "cli.option", path: "--from-hash" },
      remedy: "Give the 64 characters that `argosy audit verify` printed as the last hash",
    });
  const check = createAuditCheck(fromHash);
  for await (const line of file === undefined ? serverLines(clientOf()) : fileLines(file)) check.add(line);
  const report = check.report();
  return {
    ok: report.ok,
    text: output === "table" ? sentences(report) : renderOne({ ...report }, output),
    notes: output === "table" ? notesOn(report) : [],
  };
}

/** A line ends with a line feed alone: other characters that end lines elsewhere may stand in texts. */
async function* fileLines(file: string): AsyncGenerator<string> {
  let rest = "";
  const stream = file === "-" ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of stream.setEncoding("utf8") as AsyncIterable<string>) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (cause) {
    throw new InputError("cannot be read", {
      ...{ code: "cli.unreadable", path: file, cause },
      remedy: "Name a file that exists and that you may read",
    });
  }
  if (rest !== "") yield rest;
}

function sentences({ ok, records, first, last, lastHash, forgotten, fault }: AuditReport): string {
  if (!ok) return `NOT WHOLE: ${fault?.text}`;
  if (records === 0) return "there is no record";
  const before = forgotten === 0 ? "" : `; retention has forgotten ${forgotten === 1 ? "record 1" : `records 1 to ${forgotten}`}`;
  return `whole: ${records} records, ${first} to ${last}${before}\nlast hash ${lastHash}`;
}

const NAMED = 10;

function notesOn({ ok, unanswered }: AuditReport): readonly string[] {
  if (!ok || unanswered.length === 0) return [];
  const more = unanswered.length > NAMED ? ` and ${unanswered.length - NAMED} more` : "";
  const which = `${unanswered.slice(0, NAMED).join(", ")}${more}`;
  return [`asked for and without an answer: ${which}. It is under way, or the process that did it has died`];
}
