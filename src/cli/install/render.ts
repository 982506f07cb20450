import { stringify } from "yaml";
import { renderCrds } from "../../workspace/api/crd.ts";
import { renderFlows } from "./flows.ts";
import type { InstallObject } from "./install-object.ts";
import { renderPolicies } from "./policies.ts";
import { renderApiClusterObjects, renderEngineClusterObjects, renderTokenReviewRights } from "./roles.ts";

export type InstallPart = "api" | "engine" | "both";

/** What an administrator applies before Argosy starts, in the order in which it can be applied. */
export function installObjects(part: InstallPart): readonly InstallObject[] {
  const api: readonly InstallObject[] =
    part === "engine" ? [] : [...renderApiClusterObjects(), ...renderCrds(), ...renderPolicies(), ...renderFlows()];
  const engine: readonly InstallObject[] = part === "api" ? [] : [...renderEngineClusterObjects(), ...renderPolicies(), ...renderFlows()];
  const seen = new Set<string>();
  return [...api, ...engine].filter((object) => {
    const key = `${object.kind}/${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** The same as one YAML stream. */
export function renderInstall(part: InstallPart, { tokenReviews = false } = {}): string {
  return [...installObjects(part), ...(tokenReviews && part !== "engine" ? renderTokenReviewRights("one-account") : [])]
    .map((object) => stringify(object, { aliasDuplicateObjects: false }))
    .join("---\n")
    .trimEnd();
}
