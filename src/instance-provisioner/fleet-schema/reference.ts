import { listFields, renderFieldTable, type SchemaField } from "../../domain/schema-field.ts";
import { FLEET_SCHEMA } from "./schema.ts";

/** Every field and section of a Fleet document in its order; the whole document first, with an empty path. */
export const fleetFields: readonly SchemaField[] = listFields(FLEET_SCHEMA);

/** Every field of a Fleet document as a Markdown table: path, type, default, meaning. */
export function renderFleetReference(): string {
  return renderFieldTable(fleetFields);
}
