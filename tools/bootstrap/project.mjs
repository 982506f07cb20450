import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A path inside the checkout, whatever directory the caller stands in. */
export function path(...parts) {
  return join(ROOT, ...parts);
}

/** The machine lacks something a person has to bring: the message is one sentence that says what. */
export class NotReady extends Error {}
