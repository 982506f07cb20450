import type { CheckView } from "../api/schema.ts";
import { UnavailableError } from "../domain/errors.ts";
import { errorText } from "./error-text.ts";
import { type OutputFormat, render } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { type Column, paragraph } from "./table.ts";

export const checkColumns: readonly Column<CheckView>[] = [
  { title: "", value: stateOf },
  { title: "CHECK", value: (row) => row.name, fit: "name" },
  { title: "FOUND", value: (row) => row.detail, fit: "text" },
];

/** What was ordered or declared is worth a note, and no failure. */
function stateOf({ ok, remark }: CheckView): string {
  if (!ok) return "FAIL";
  return remark === undefined ? "ok" : "note";
}

/** `argosy doctor`: every check, with the remedies of those that failed; healthy only if all passed. */
export async function runDoctor(client: RestClient, output: OutputFormat): Promise<{ readonly text: string; readonly isHealthy: boolean }> {
  const checks = await readChecks(client);
  const failed = checks.filter((check) => !check.ok);
  const text = output === "table" ? renderChecks(checks, failed) : render(checks, checkColumns, output);
  return { text, isHealthy: failed.length === 0 };
}

function renderChecks(checks: readonly CheckView[], failed: readonly CheckView[]): string {
  const remedies = failed.map((check) => paragraph(`  ${check.name}: ${check.remedy}`));
  const head =
    failed.length === 0 ? `all ${checks.length} checks passed` : `${failed.length} of ${checks.length} checks failed; what to do:`;
  const remarks = checks.flatMap(({ name, remark }) => (remark === undefined ? [] : [paragraph(`  ${name}: ${remark}`)]));
  const ordered = remarks.length === 0 ? [] : ["", "no failure, but to be known:", ...remarks];
  return [render(checks, checkColumns, "table"), "", head, ...remedies, ...ordered].join("\n");
}

/**
 * Without its database the server cannot tell whose token it was sent and answers nothing but its health, and a server that is
 * away answers nothing at all: both are findings, not failures of the doctor.
 */
async function readChecks(client: RestClient): Promise<readonly CheckView[]> {
  try {
    return (await client.get<{ readonly checks: readonly CheckView[] }>("/v1/doctor")).checks;
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    const health = await readHealth(client);
    const remedy = health.length === 0 ? "Start Argosy there, or correct ARGOSY_URL" : "Mend what the server's own checks name";
    return [{ name: "REST API", ok: false, detail: errorText(error), remedy }, ...health];
  }
}

const REMEDIES: Readonly<Record<string, string>> = { database: "Start PostgreSQL, or correct the server's DATABASE_URL" };

async function readHealth(client: RestClient): Promise<readonly CheckView[]> {
  try {
    const { checks } = await client.health();
    return checks.map((check) => ({
      ...check,
      name: `server: ${check.name}`,
      remedy: REMEDIES[check.name] ?? "The server's log says why",
    }));
  } catch {
    return [];
  }
}
