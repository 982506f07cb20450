// Names of an instance's workloads, and of their ServiceAccounts. The Services of redis and repo-server have the same names,
// so these two are also the addresses at which other components reach them. The Secret with redis' password is called
// `REDIS` too.
export const CONTROLLER = "argocd-application-controller";
export const REPO_SERVER = "argocd-repo-server";
export const REDIS = "argocd-redis";
export const COMPONENT_NAMES = [REDIS, REPO_SERVER, CONTROLLER] as const;

/** Name of the container that filters what the controller reads of the API cluster. */
export const FILTER = "cluster-filter";

/** Name of the ResourceQuota and the LimitRange of an instance's namespace. */
export const QUOTA = "argosy-instance";
/** ConfigMap with Argo CD's live settings; a few of them are read only when a process starts. */
export const SETTINGS = "argocd-cm";
/** ConfigMap with the settings that processes get as environment variables, at their start. */
export const PROCESS_SETTINGS = "argocd-cmd-params-cm";
/** Secret with repo-server's certificate, its private key and the authority that signed it. */
export const REPO_SERVER_TLS = "argocd-repo-server-tls";
/** Secret for mutual TLS: the controller's client certificate and key, and the authority by which both sides check each other. */
export const REPO_SERVER_MTLS = "argocd-repo-server-mtls";

export const PORTS = { controllerMetrics: 8082, repoServer: 8081, repoServerMetrics: 8084, redis: 6379, filterHealth: 8085 } as const;

/**
 * Host names in repo-server's certificate: its Service's name in every form that a client may use, and localhost for its
 * own health check.
 */
export function repoServerNames(namespace: string): readonly string[] {
  return [REPO_SERVER, `${REPO_SERVER}.${namespace}`, `${REPO_SERVER}.${namespace}.svc`, "localhost"];
}
