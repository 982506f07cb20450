import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A path inside the checkout, whatever directory the caller stands in. */
export function path(...parts) {
  return join(ROOT, ...parts);
}

/** Something is missing on the machine that a person has to install: the message is one sentence that says what. */
export class NotReady extends Error {}
