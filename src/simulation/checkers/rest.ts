import type { Checker } from "./checker.ts";
import { disagreements } from "./settled.ts";

/** Once a photograph shows a fleet at one with itself Argosy has nothing to write until somebody wants something else. */
export function quietAtRest(allowed: number): Checker {
  let isAtRest = false;
  let writes = 0;
  return {
    property: "quiet",
    look({ happening }) {
      if (happening.kind === "user" || happening.kind === "push") isAtRest = false;
      if (happening.kind === "photograph") {
        isAtRest = disagreements(happening.photograph).length === 0;
        writes = 0;
      }
      if (!isAtRest || happening.kind !== "call" || !happening.isWrite || !happening.by.startsWith("argosy-")) return undefined;
      writes += 1;
      return writes === allowed + 1
        ? `${happening.by} sent ${happening.name}, and no more than ${allowed} writes are due at rest`
        : undefined;
    },
  };
}
