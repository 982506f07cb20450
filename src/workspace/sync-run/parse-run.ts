import type { ObservedResource } from "../../domain/user-resource.ts";
import { isObjectName } from "../api/parts/schema.ts";
import { checkSyncRunSpec } from "../api/schema.ts";
import type { Problem } from "../problem.ts";
import { hasControlCharacters } from "../repository-url.ts";

/** What a GitOpsDeploymentSyncRun asks for. */
export interface RunRequest {
  readonly deployment: string;
  /** Empty: the deployment's own. */
  readonly revision: string;
  readonly prune: boolean;
  readonly ttlMs: number | undefined;
}

export type ParsedRun = { readonly ok: true; readonly request: RunRequest } | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads what a run asks for, or says everything that is wrong with it. Objects that left Git stay unless the run says otherwise: the
 * original never pruned.
 */
export function parseRun({ spec }: Pick<ObservedResource, "spec">): ParsedRun {
  const checked = checkSyncRunSpec(spec);
  if (!checked.ok) return { ok: false, problems: checked.problems };
  const { gitopsDeploymentName, revisionID = "", prune = false, ttlSecondsAfterFinished } = checked.spec;
  const revision = revisionID.trim();
  const refuse = (path: string, complaint: string): ParsedRun => ({ ok: false, problems: [{ path, message: `${path} ${complaint}` }] });
  if (!isObjectName(gitopsDeploymentName)) return refuse("spec.gitopsDeploymentName", "must be the name of a GitOpsDeployment");
  if (hasControlCharacters(revision)) return refuse("spec.revisionID", "must not contain control characters");
  if (revision.startsWith("-")) return refuse("spec.revisionID", "must not begin with '-'");
  const ttlMs = ttlSecondsAfterFinished === undefined ? undefined : ttlSecondsAfterFinished * 1000;
  return { ok: true, request: { deployment: gitopsDeploymentName, revision, prune, ttlMs } };
}

/** The deployment that a spec, be it valid or not, names. Cheap: it is asked of every waiting run whenever a deployment changes. */
export function deploymentNameOf(raw: unknown): string | undefined {
  const name = (raw as { readonly gitopsDeploymentName?: unknown } | null | undefined)?.gitopsDeploymentName;
  return typeof name === "string" ? name : undefined;
}
