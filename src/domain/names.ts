/** Names Argosy writes on Kubernetes objects. One place, because they are part of what survives an upgrade. */
export const MANAGED_BY = "argosy";
export const LABEL_MANAGED_BY = "app.kubernetes.io/managed-by";
export const LABEL_INSTANCE = "argosy.dev/instance";
export const LABEL_UNIT = "argosy.dev/unit";
export const LABEL_APPLICATION = "argosy.dev/application";
export const LABEL_ENVIRONMENT = "argosy.dev/environment";
/** Fencing number of the placement under which an object was written. */
export const ANNOTATION_EPOCH = "argosy.dev/epoch";
/** Content hash of what Argosy last wrote; observed content that differs from it was edited by somebody else. */
export const ANNOTATION_HASH = "argosy.dev/hash";
export const FIELD_MANAGER = "argosy";
export const ACCOUNTS_NAMESPACE = "argosy-accounts";
export const SYSTEM_NAMESPACE = "argosy-system";
export const DEPLOYER_ROLE = "argosy-deployer";
export const READER_ROLE = "argosy-reader";
/** A user's finalizer: the GitOpsDeployment stays until what it deployed is gone. */
export const USER_FINALIZER = "resources-finalizer.managed-gitops.redhat.com";
/** On the Applications that measure an instance's health. They belong to no user, and controllers of users' Applications skip them. */
export const LABEL_CANARY = "argosy.dev/canary";
