import { parseAllDocuments } from "yaml";
import type { AppliedFleet } from "../api/routes/fleet.ts";
import { InputError } from "../domain/errors.ts";
import { type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";

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

/** `argosy apply -f fleet.yaml`: declares the fleet, or says what declaring it would change. */
export async function applyFleet(
  client: RestClient,
  document: unknown,
  { dryRun, output }: { readonly dryRun: boolean; readonly output: OutputFormat },
): Promise<string> {
  const applied = await client.put<AppliedFleet>("/v1/fleet", document, { dryRun });
  return output === "json" || output === "yaml" ? renderOne(applied, output) : renderApplied(applied);
}

/** One line on the whole, then one for each thing that differs and each of its fields. */
export function renderApplied({ changed, dryRun, revision, changes }: AppliedFleet): string {
  const inForce = revision === 0 ? "none is declared yet" : `revision ${revision} is in force`;
  const head = changed ? `fleet ${dryRun ? "would change" : "changed"} (${inForce})` : `fleet unchanged (${inForce})`;
  const lines = changes.flatMap(({ path, change, fields }) => [
    `  ${MARKS[change]} ${path}`,
    ...fields.map((field) => `      ${field.path}: ${field.before} → ${field.after}`),
  ]);
  return [head, ...lines].join("\n");
}

const MARKS: Readonly<Record<AppliedFleet["changes"][number]["change"], string>> = { added: "+", removed: "-", changed: "~" };
