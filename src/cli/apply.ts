import { parseAllDocuments } from "yaml";
import { InputError } from "../domain/errors.ts";
import type { RestClient } from "./rest-client.ts";

interface Applied {
  readonly revision: number;
  readonly changed: boolean;
  readonly dryRun: boolean;
  readonly pools: readonly string[];
}

/** One YAML or JSON document; throws `InputError` with line and column when it is none. */
export function parseFleetText(text: string, file: string): unknown {
  const [document, ...more] = parseAllDocuments(text);
  const problem = document === undefined || more.length > 0 ? "expected exactly one document" : document.errors[0]?.message;
  if (problem === undefined && document !== undefined && !("empty" in document)) return document.toJS();
  throw new InputError(problem ?? "the file is empty", {
    code: "cli.not-yaml",
    path: file,
    remedy: "Give one YAML document of kind Fleet",
  });
}

/** `argosy apply -f fleet.yaml`: declares the fleet. */
export async function applyFleet(client: RestClient, document: unknown, dryRun: boolean): Promise<string> {
  const applied = await client.put<Applied>("/v1/fleet", document, { dryRun });
  const what = applied.changed ? (applied.dryRun ? "would change" : "changed") : "unchanged";
  return `fleet ${what} (pools: ${applied.pools.join(", ")}; revision ${applied.revision})`;
}
