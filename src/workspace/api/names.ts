/** The users' API group; manifests written for it elsewhere work unchanged. */
export const API_GROUP = "managed-gitops.redhat.com";
export const API_VERSION = "v1alpha1";
/** Field manager of every status that is written here. */
export const STATUS_MANAGER = "argosy-status";
/** Field manager of Events about users' resources. */
export const EVENT_MANAGER = "argosy-events";
/** `"true"` on a resource: changes of it are not acted on. */
export const ANNOTATION_PAUSED = "argosy.dev/paused";
/** Any new value on a resource: reconcile it, and read its repository, again. */
export const ANNOTATION_REFRESHED_AT = "argosy.dev/refreshed-at";

export interface UserKind {
  readonly kind: string;
  readonly plural: string;
}

/** The kinds users write. */
export const USER_KINDS = {
  deployment: { kind: "GitOpsDeployment", plural: "gitopsdeployments" },
  syncRun: { kind: "GitOpsDeploymentSyncRun", plural: "gitopsdeploymentsyncruns" },
  environment: { kind: "GitOpsDeploymentManagedEnvironment", plural: "gitopsdeploymentmanagedenvironments" },
  credential: { kind: "GitOpsDeploymentRepositoryCredential", plural: "gitopsdeploymentrepositorycredentials" },
} as const satisfies Record<string, UserKind>;

/** Types of the Secrets that users bring; the last two are Kubernetes' own. */
export const SECRET_TYPES = [
  "managed-gitops.redhat.com/managed-environment",
  "managed-gitops.redhat.com/repository-credential",
  "kubernetes.io/basic-auth",
  "kubernetes.io/ssh-auth",
] as const;
