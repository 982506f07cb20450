import { stringify } from "yaml";
import { z } from "zod";
import { type JsonSchema, listFields, renderFieldTable } from "../../src/domain/schema-field.ts";
import { FLEET, valuesSchema } from "./values.ts";

/** What is written of a schema that `JsonSchema` does not name. */
type Schema = JsonSchema & { readonly [keyword: string]: unknown };

const LINE = 120;
/** Rows of the reference that other pages have. */
const ELSEWHERE = /^(config|fleet)\./;
/** One row stands for the same field of every Deployment. */
const WORKLOADS = /^workloads\.(?!workspace\b)/;
const ANY_WORKLOAD = "workloads.<role>";

/** The JSON schema that Helm holds values against: draft 7, strict, with the form of the fleet document in the place of `fleet`. */
function valuesJsonSchema(): Schema {
  // Helm fills in defaults before it checks: a value with a default that is missing was taken away with `null`.
  const schema = z.toJSONSchema(valuesSchema, { io: "output", target: "draft-7" }) as Schema;
  const { $schema: _draft, ...fleet } = FLEET;
  const properties = { ...schema.properties };
  // It has no defaults for what is inside a section that need not be there.
  const typed = (z.toJSONSchema(valuesSchema, { io: "input", target: "draft-7" }) as Schema).properties ?? {};
  properties["config"] = typed["config"] as Schema;
  for (const name of ["logins", "certificateAuthority"])
    properties["database"] = withProperty(properties["database"], name, typed["database"]?.properties);
  for (const name of ["keys", "vaultAuthority"])
    properties["encryption"] = withProperty(properties["encryption"], name, typed["encryption"]?.properties);
  properties["fleet"] = { ...fleet, description: properties["fleet"]?.description } as Schema;
  // Helm adds it where the chart is part of another one.
  properties["global"] = { type: "object", description: "Values of a chart that this one is part of; nothing of them is read." };
  return { ...schema, title: "Values of Argosy's chart", properties };
}

function withProperty(section: JsonSchema | undefined, name: string, from: JsonSchema["properties"]): Schema {
  return { ...section, properties: { ...section?.properties, [name]: from?.[name] } } as Schema;
}

export function renderValuesSchema(): string {
  return `${JSON.stringify(valuesJsonSchema(), null, 2)}\n`;
}

/** values.yaml: every value with its default, and above it what it means. What has no default is a comment. */
export function renderValuesFile(): string {
  const head = "# The values of Argosy's chart with their defaults. Generated from tools/chart/values.ts; README.md has them as a table.\n";
  const { global: _global, ...properties } = valuesJsonSchema().properties ?? {};
  return `${head}${renderSection(properties, valuesJsonSchema().required ?? [], "")}`;
}

function renderSection(properties: Readonly<Record<string, JsonSchema>>, required: readonly string[], indent: string): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const comment = schema.description === undefined ? "" : commentOf(schema.description, indent);
      const text = `${comment}${renderValue(name, schema, { isRequired: required.includes(name), indent })}`;
      return indent === "" ? `\n${text}` : text;
    })
    .join("");
}

function renderValue(
  name: string,
  schema: JsonSchema,
  { isRequired, indent }: { readonly isRequired: boolean; readonly indent: string },
): string {
  const isThere = isRequired || schema.default !== undefined;
  if (isThere && hasDefaultInside(schema))
    return `${indent}${name}:\n${renderSection(schema.properties ?? {}, schema.required ?? [], `${indent}  `)}`;
  if (schema.default !== undefined) return indented({ [name]: schema.default }, indent);
  return `${indent}# ${name}: ${isRequired ? "required" : "not set"}\n`;
}

/** Whether any field of a section is written with a value. */
function hasDefaultInside({ properties = {}, required = [] }: JsonSchema): boolean {
  return Object.entries(properties).some(
    ([name, child]) => child.default !== undefined || (required.includes(name) && hasDefaultInside(child)),
  );
}

function indented(value: unknown, indent: string): string {
  return stringify(value, { lineWidth: 0, flowCollectionPadding: true }).replace(/^(?=.)/gm, indent);
}

function commentOf(text: string, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + 2 + line.length + 1 + word.length > LINE) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}# ${each}\n`).join("");
}

/** README.md of the chart: every value as a table. */
export function renderChartReadme(): string {
  const { global: _global, ...properties } = valuesJsonSchema().properties ?? {};
  const fields = listFields({ ...valuesJsonSchema(), properties });
  const rows = fields
    .filter(({ path }) => !ELSEWHERE.test(path) && !WORKLOADS.test(path))
    .map((field) => ({ ...field, path: field.path.replace("workloads.workspace", ANY_WORKLOAD) }));
  // One row stands for the fields that other pages have.
  const shown = rows.map((field) => (["config", "fleet"].includes(field.path) ? { ...field, children: [] } : field));
  return `# Argosy's Helm chart

Installs Argosy on a Kubernetes cluster: [docs/install.md](../../docs/install.md) says how, how large, and how to upgrade and remove it. Wrong values
are refused by \`values.schema.json\`, with their path. This page, \`values.yaml\` and the schema are generated from the same place.

The sections of \`config\` are those of [docs/configuration.md](../../docs/configuration.md); what is not there the chart sets. \`fleet\` is the document of
[docs/fleet.md](../../docs/fleet.md).

${renderFieldTable(shown)}`;
}
