import type { HandMade } from "./schema.ts";

/** On a GitOpsDeployment that an Application made by hand was taken over as: that Application's name, which stays its name. */
export const ANNOTATION_ADOPTS = "argosy.dev/adopts";

/** The spec of a GitOpsDeployment that asks for what an Application made by hand deploys. */
export interface WantedDeployment {
  readonly source: { readonly repoURL: string; readonly path: string; readonly targetRevision?: string };
  readonly type: "automated" | "manual";
  readonly syncPolicy?: { readonly syncOptions: readonly string[] };
}

/** `undefined`: it has not one source but several. */
export function wantedDeployment({ spec }: Pick<HandMade, "spec">): WantedDeployment | undefined {
  if (spec.source === undefined) return undefined;
  const { repoURL, path, targetRevision } = spec.source;
  const options = spec.syncPolicy.syncOptions.filter((option) => option.startsWith("CreateNamespace="));
  return {
    source: { repoURL, path, ...(targetRevision === "" ? {} : { targetRevision }) },
    type: spec.syncPolicy.automated === undefined ? "manual" : "automated",
    ...(options.length === 0 ? {} : { syncPolicy: { syncOptions: options } }),
  };
}
