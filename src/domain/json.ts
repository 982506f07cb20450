import { type Millis, parseRfc3339 } from "./clock.ts";

/** What others wrote, believed in nothing but its form: what is no object has no fields, what is no list no entries. */
export type Json = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): Json {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Json) : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A time as Kubernetes writes it; `undefined` for anything else. */
export function asTime(value: unknown): Millis | undefined {
  return typeof value === "string" ? parseRfc3339(value) : undefined;
}
