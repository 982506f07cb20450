import { asArray, asObject, asString, type Json } from "../domain/json.ts";
import { ANNOTATION_REFRESH } from "./names.ts";
import type { ObservedSync } from "./parse-sync.ts";
import type { Report } from "./project-status.ts";

/**
 * Whether the instance's controller has something to do about an Application, or is at it, as far as the Application shows it: a first
 * refresh, a comparison with another source or destination, a refresh that was asked for, an operation, and the refresh that follows one.
 *
 * What waits for its next try (`Running` with an end) is nobody's work until then, and neither is what the controller refused to refresh
 * (`InvalidSpecError`: it records no comparison). One on its way out does not count: deletions have no turns.
 */
export function parseUnfinished(
  raw: unknown,
  { report, sync }: { readonly report: Pick<Report, "reconciledAt"> | undefined; readonly sync: ObservedSync },
): boolean {
  const { metadata, spec, status } = asObject(raw);
  const meta = asObject(metadata);
  if (meta["deletionTimestamp"] !== undefined) return false;
  if (report === undefined || asObject(meta["annotations"])[ANNOTATION_REFRESH] !== undefined) return true;
  const { operation, state } = sync;
  if (operation !== undefined) return state?.phase !== "Running" || state.finishedAt === undefined;
  if (state?.finishedAt !== undefined && report.reconciledAt !== undefined && state.finishedAt > report.reconciledAt) return true;
  const isRefused = asArray(asObject(status)["conditions"]).some((condition) => asObject(condition)["type"] === "InvalidSpecError");
  return !isRefused && !isSame(asObject(spec), asObject(asObject(asObject(status)["sync"])["comparedTo"]));
}

const COMPARED = { source: ["repoURL", "path", "targetRevision"], destination: ["server", "namespace"] } as const;

/** Whether source and destination are the compared ones; an absent field is an empty one. */
function isSame(spec: Json, compared: Json): boolean {
  return Object.entries(COMPARED).every(([part, fields]) => {
    const [wanted, had] = [asObject(spec[part]), asObject(compared[part])];
    return fields.every((field) => asString(wanted[field]) === asString(had[field]));
  });
}
