/**
 * Kinds that could widen an account's rights, lift its limits or speak to Argosy or Argo CD themselves. The deployer role
 * refuses them; a unit's project does too, so that the user gets a plain message before anything is tried.
 */
export const FORBIDDEN_KINDS = [
  { group: "", kind: "LimitRange" },
  { group: "", kind: "ResourceQuota" },
  { group: "argoproj.io", kind: "*" },
  { group: "argosy.dev", kind: "*" },
  { group: "managed-gitops.redhat.com", kind: "*" },
  { group: "rbac.authorization.k8s.io", kind: "*" },
] as const;

/** Whether nobody deploys this kind into a namespace of the API cluster. */
export function isForbiddenKind({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return FORBIDDEN_KINDS.some((one) => one.group === group && (one.kind === "*" || one.kind === kind));
}
