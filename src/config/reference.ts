import { renderFieldTable } from "../domain/schema-field.ts";
import { fields } from "./field.ts";

/** Renders every field of the configuration file as a Markdown table: path, type, default, meaning. */
export function renderConfigReference(): string {
  return renderFieldTable(fields);
}
