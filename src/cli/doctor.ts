import type { CheckView } from "../api/schema.ts";
import { type Column, type OutputFormat, render } from "./output.ts";
import type { RestClient } from "./rest-client.ts";

const columns: readonly Column<CheckView>[] = [
  { title: "", value: (row) => (row.ok ? "ok" : "FAIL") },
  { title: "CHECK", value: (row) => row.name },
  { title: "FOUND", value: (row) => row.detail },
  { title: "REMEDY", value: (row) => (row.ok ? "" : row.remedy) },
];

/** `argosy doctor`: every check with its remedy; healthy only if all passed. */
export async function runDoctor(client: RestClient, output: OutputFormat): Promise<{ readonly text: string; readonly isHealthy: boolean }> {
  const { checks } = await client.get<{ readonly checks: readonly CheckView[] }>("/v1/doctor");
  return { text: render(checks, columns, output), isHealthy: checks.every((check) => check.ok) };
}
