import { hash } from "node:crypto";

/** SHA-256 of UTF-8 text, in lower-case hexadecimal (64 characters). */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** JSON with sorted keys and without `undefined`: equal values give equal text whatever order they were built in. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    entry !== null && typeof entry === "object" && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  );
}

/** Content hash of a JSON value: 32 hexadecimal characters of the SHA-256 of its canonical form. */
export function contentHash(value: unknown): string {
  return sha256(canonicalJson(value)).slice(0, 32);
}
