/** The users' API group; manifests written for it elsewhere work unchanged. */
export const API_GROUP = "managed-gitops.redhat.com";
export const API_VERSION = "v1alpha1";
/** Field manager of everything the users' door writes into a status. */
export const STATUS_MANAGER = "argosy-status";
/** `"true"` on a resource: changes of it are not acted on. */
export const ANNOTATION_PAUSED = "argosy.dev/paused";
/** Any new value on a resource: look at it, and at its repository, again. */
export const ANNOTATION_REFRESHED_AT = "argosy.dev/refreshed-at";

export const DEPLOYMENT_KIND = "GitOpsDeployment";
export const DEPLOYMENT_PLURAL = "gitopsdeployments";
