import { fields } from "./field.ts";

/** Renders every field of the configuration file as a Markdown table: path, type, default, meaning. */
export function renderConfigReference(): string {
  const rows = fields
    .filter((field) => field.path !== "" && field.children.length === 0)
    .map(
      ({ path, type, defaultText, meaning }) =>
        `| \`${path}\` | ${cell(type)} | ${defaultText === undefined ? "–" : `\`${cell(defaultText)}\``} | ${cell(meaning)} |`,
    );
  return ["| Field | Type | Default | Meaning |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
