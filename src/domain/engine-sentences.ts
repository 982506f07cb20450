/**
 * What an engine says when parts of it are away, or do not know yet what the deployment needs. No word of it means anything to a user, and nothing
 * a user changes would help. Each is as Argo CD 3.3 to 3.5, or gRPC beneath it, words it.
 */
const OF_ENGINE: readonly RegExp[] = [
  // The way from the controller to the repo-server: nothing that a repository does comes back under these two codes.
  /\brpc error: code = (?:Unavailable|Canceled)\b/,
  /\bfailed to connect to repo server\b/,
  /\blookup argocd-[a-z-]+\b/,
  /\bdial tcp \S+:6379\b|(?:^|[\s:])redis: /,
  /\bmanifest\b.{0,300}(?:no space left on device|too many open files|cannot allocate memory|signal: killed)/i,
  // What Argosy writes for a deployment and its instance has not read yet, or that was taken away.
  /\bthere are no clusters with this (?:name|URL)\b|\bcluster "[^"]*" not found\b/,
  /\b(?:error getting app project|appprojects?\.argoproj\.io "[^"]*" not found|referencing project \S+ which does not exist)/,
  /\b(?:application|sync source) repo \S+ is not permitted in project\b/,
  /\bservice account to impersonate\b|\bno matching service account found\b|\bcannot impersonate resource\b/,
  /\bfailed to (?:get|check) (?:app instance label key|trackingMethod|installation ID|impersonation enforcement setting|Kustomize settings|Helm settings|enabled source types)\b/i,
  /\bargocd-(?:cm|cmd-params-cm|secret|tls-certs-cm|ssh-known-hosts-cm|gpg-keys-cm|initial-admin-secret)\b.{0,100} not found\b|\b(?:configmap|secret) "argocd-[a-z-]+" not found\b/,
];

const ofCluster = /\bFailed to load live state: |\bfailed to get cluster (?:info|version) for\b|\berror synchronizing cache state\b/;

/** Whether what an engine complains of is a part of its own, or what Argosy has yet to give it: neither a repository nor what is in it. */
export function isOfEngine(message: string): boolean {
  return OF_ENGINE.some((each) => each.test(message));
}

/** Whether an engine complains that it cannot read the cluster that is deployed to: its operator's, for a namespace of the API cluster. */
export function isOfEngineCluster(message: string): boolean {
  return ofCluster.test(message) && !/\bforbidden\b/i.test(message);
}
