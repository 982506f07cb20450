import type { EnvironmentCredential } from "../../domain/environment.ts";
import { canonicalJson } from "../../domain/hash.ts";

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

/** What is stored of an account of ours: the way its user's credential leads, and the account's token in place of what it proves itself by. */
export function accountCredential(credential: EnvironmentCredential, token: string): string {
  const { certificate: _, ...rest } = credential;
  return canonicalJson({ ...rest, token });
}
