/** Names of an instance's parts. Components reach each other by the names of Services, so these are addresses too. */
export const CONTROLLER = "argocd-application-controller";
export const REPO_SERVER = "argocd-repo-server";
export const REDIS = "argocd-redis";
export const COMPONENT_NAMES = [REDIS, REPO_SERVER, CONTROLLER] as const;

/** Name of the ResourceQuota and the LimitRange of an instance's namespace. */
export const QUOTA = "argosy-instance";
export const SETTINGS = "argocd-cm";
export const PROCESS_SETTINGS = "argocd-cmd-params-cm";
export const REPO_SERVER_TLS = "argocd-repo-server-tls";
export const REPO_SERVER_MTLS = "argocd-repo-server-mtls";

export const PORTS = { controllerMetrics: 8082, repoServer: 8081, repoServerMetrics: 8084, redis: 6379 } as const;

/**
 * Host names in repo-server's certificate: its Service in every form that a client may write, and localhost for its
 * own health check.
 */
export function repoServerNames(namespace: string): readonly string[] {
  return [REPO_SERVER, `${REPO_SERVER}.${namespace}`, `${REPO_SERVER}.${namespace}.svc`, "localhost"];
}
