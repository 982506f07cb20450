export type Json = Readonly<Record<string, unknown>>;

/** What others wrote is believed in nothing but its form: what is no object has no fields, what is no list no entries. */
export function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
