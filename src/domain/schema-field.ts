/** One field of a document that people write, as its JSON schema describes it. `[]` in a path stands for any element of a list. */
export interface SchemaField {
  readonly path: string;
  /** In words: `a whole number from 1 to 65535`. */
  readonly type: string;
  /** As it would be written in the file; `undefined` when there is none. */
  readonly defaultText: string | undefined;
  /** Whether it has to be given where the section that it stands in is. */
  readonly isRequired: boolean;
  readonly meaning: string;
  /** The names of the fields inside, when it is a section. */
  readonly children: readonly string[];
}

/** What is read of a JSON schema. */
export interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Every field and section in the order of the document; the whole document first, with an empty path. */
export function listFields(schema: JsonSchema, path = "", isRequired = false): readonly SchemaField[] {
  const { properties = {}, required = [] } = schema;
  const inside = Object.entries(properties).flatMap(([name, child]) =>
    listFields(child, path === "" ? name : `${path}.${name}`, required.includes(name)),
  );
  const element = schema.items?.properties === undefined ? [] : listFields(schema.items, `${path}[]`);
  const { default: fallback, description } = schema;
  const field: SchemaField = {
    path,
    type: describe(schema),
    defaultText: fallback === undefined ? undefined : JSON.stringify(fallback),
    isRequired,
    meaning: description ?? "",
    children: Object.keys(properties),
  };
  return [field, ...inside, ...element];
}

function describe(schema: JsonSchema): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.anyOf !== undefined) return schema.anyOf.map(describe).join(", or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "array") return `a list, each ${schema.items === undefined ? "a value" : describe(schema.items)}`;
  if (schema.type === "boolean") return "true or false";
  if (schema.type === "integer") return `a whole number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "number") return `a number from ${schema.minimum} to ${schema.maximum}`;
  if (schema.type === "object") return `a section with ${Object.keys(schema.properties ?? {}).join(", ")}`;
  return "text";
}

/** Every field that holds a value, as a Markdown table: path, type, default, meaning. */
export function renderFieldTable(fields: readonly SchemaField[]): string {
  const rows = fields
    .filter((field) => field.path !== "" && field.children.length === 0)
    .map(
      ({ path, type, defaultText, isRequired, meaning }) =>
        `| \`${path}\` | ${cell(type)} | ${defaultCell(defaultText, isRequired)} | ${cell(meaning)} |`,
    );
  return ["| Field | Type | Default | Meaning |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function defaultCell(text: string | undefined, isRequired: boolean): string {
  if (text !== undefined) return `\`${cell(text)}\``;
  return isRequired ? "required" : "–";
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
