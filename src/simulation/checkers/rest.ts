import type { Checker } from "./checker.ts";
import { disagreements } from "./settled.ts";

/**
 * Once everything agrees in two photographs in a row, Argosy has nothing to write until a user or Git wants something else. One photograph
 * is not enough: what was requested a moment ago may be live already while its watch event is still on the way.
 */
export function quietAtRest(allowed: number): Checker {
  let agreed = 0;
  let writes = 0;
  return {
    property: "quiet",
    observe({ happening }) {
      if (happening.kind === "user" || happening.kind === "push") agreed = 0;
      if (happening.kind === "photograph") {
        agreed = disagreements(happening.photograph).length === 0 ? agreed + 1 : 0;
        writes = 0;
      }
      if (agreed < 2 || happening.kind !== "call" || !happening.isWrite || !happening.by.startsWith("argosy-")) return undefined;
      writes += 1;
      return writes === allowed + 1
        ? `${happening.by} sent ${happening.name}, and no more than ${allowed} writes are due at rest`
        : undefined;
    },
  };
}
