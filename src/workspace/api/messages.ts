/**
 * Sentences users' scripts and dashboards look for, to the letter (the odd spelling included). They are said at admission
 * by the resource definitions and in a condition by a controller, whichever meets the mistake first.
 */
export const WRONG_TYPE = "spec type must be manual or automated";
export const WRONG_SYNC_OPTION =
  "the specified sync option in .spec.syncPolicy.syncOptions is either mispelled or is not supported by GitOpsDeployment";
export const NAMESPACE_WITHOUT_ENVIRONMENT = "the environment field should not be empty when the namespace is non-empty";
export const EMPTY_PATH = "spec.source.path is a required field and it cannot be empty";
export const ROOT_PATH = "spec.source.path cannot be '/'";
export const ENVIRONMENT_UNKNOWN =
  "Unable to reconcile the ManagedEnvironment. Verify that the ManagedEnvironment and Secret are correctly defined, and have valid credentials";
export const ENVIRONMENT_UNKNOWN_ON_UPDATE =
  "unable to reconcile the ManagedEnvironment resource. Ensure that the ManagedEnvironment exists, it references a Secret, and the Secret is valid";
export const ENVIRONMENT_WITHOUT_NAMESPACE = "the namespace specified in the destination field is invalid";
export const ENVIRONMENT_WITHOUT_NAMESPACE_ON_UPDATE =
  "destination namespace specified in the .spec.Destination.Namespace field is invalid";
export const WRONG_API_URL = "cluster api url must start with https://";
export const WRONG_REPOSITORY = "repository must begin with ssh:// or https://";
export const DEPLOYMENT_NAME_CHANGED = "deployment name field is immutable: changing it from its initial value is not supported";
export const REVISION_CHANGED = "revision change is not supported: changing it from its initial value is not supported";
export const RUN_DEPLOYMENT_UNKNOWN = (deployment: string): string =>
  `Unable to retrieve GitOpsDeployment '${deployment}' referenced by the GitOpsDeploymentSyncRun`;
export const RUN_DEPLOYMENT_AUTOMATED = (run: string): string =>
  `invalid GitOpsDeploymentSyncRun '${run}'. Syncing a GitOpsDeployment with Automated sync policy is not allowed`;
