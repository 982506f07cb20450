import type { EnvironmentCredential } from "../../domain/environment.ts";

/** Reads back what was stored as the user's own credential; `undefined` for what is none. */
export function parseOwnerCredential(stored: string | undefined): EnvironmentCredential | undefined {
  if (stored === undefined) return undefined;
  try {
    const read = JSON.parse(stored) as EnvironmentCredential | null;
    return typeof read?.server === "string" ? read : undefined;
  } catch {
    return undefined;
  }
}
