/** Names Argosy writes on Kubernetes objects. One place, because they are part of what survives an upgrade. */
export const MANAGED_BY = "argosy";
export const LABEL_MANAGED_BY = "app.kubernetes.io/managed-by";
export const LABEL_INSTANCE = "argosy.dev/instance";
export const LABEL_UNIT = "argosy.dev/unit";
/**
 * On a repository Secret for what a unit deploys to environments, in place of `LABEL_UNIT`. Versions that know one project of a unit only
 * delete every repository Secret with the unit's label that they would not make: where they run beside this one, these have to stay.
 */
export const LABEL_UNIT_OF_ENVIRONMENTS = "argosy.dev/unit-of-environments";
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
/** What instances read the API cluster by. Versions before called theirs `argosy-reader`, which read everything. */
export const READER_ROLE = "argosy-instance-reader";
/** Labels of a namespace that may decide its class: a policy lets nobody set them who may not assign classes. */
export const CLASS_LABELS = "class.argosy.dev/";
/** The policy that does. */
export const CLASS_LABELS_POLICY = "argosy-class-labels";
/** Where canaries are compared. Nothing is ever deployed there: they are never synced. */
export const CANARY_NAMESPACE = "argosy-canary";
/** On the reader's role: caches that Argo CD filled before this time do not have the kinds it names. RFC 3339, the future at first. */
export const ANNOTATION_KINDS_CHANGED = "argosy.dev/kinds-changed";
/** A user's finalizer: the GitOpsDeployment stays until what it deployed is gone. */
export const USER_FINALIZER = "resources-finalizer.managed-gitops.redhat.com";
/** On the Applications that measure an instance's health. They belong to no user, and controllers of users' Applications skip them. */
export const LABEL_CANARY = "argosy.dev/canary";
/** On a cluster entry with a token of an account of ours: from when until when it is good, and which account's it is. */
export const ANNOTATION_TOKEN_MADE = "argosy.dev/token-made";
export const ANNOTATION_TOKEN_ENDS = "argosy.dev/token-ends";
export const ANNOTATION_TOKEN_ACCOUNT = "argosy.dev/token-account-uid";
/** Of which token these annotations are, as its hash: a program of before writes another token and leaves them as they are. */
export const ANNOTATION_TOKEN_HASH = "argosy.dev/token-hash";
/** On an AppProject of an instance with filtered entries: the namespaces of its destinations whose objects the instance's cache has, by the filter. */
export const ANNOTATION_LET_IN = "argosy.dev/let-in";
