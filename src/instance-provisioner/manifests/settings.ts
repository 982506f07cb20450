import type { EngineObject } from "../../domain/engine.ts";
import { knownHosts } from "../../domain/known-hosts.ts";
import { REDIS, REPO_SERVER_MTLS, REPO_SERVER_TLS } from "./names.ts";
import { configMap, secret } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";
import { EXCLUSIONS, IGNORED_UPDATES } from "./resource-settings.ts";
import { hasMutualTls } from "./version.ts";

/**
 * What the controller reads live. Settings that decide how resources are compared are the same on every instance: a
 * difference would make applications OutOfSync by a mere move.
 */
export function engineSettings({ engine }: ManifestParameters): Readonly<Record<string, string>> {
  return {
    ...LIVE_SETTINGS,
    "timeout.reconciliation": `${engine.reconciliationSeconds}s`,
    "timeout.reconciliation.jitter": `${engine.reconciliationJitterSeconds}s`,
    "timeout.hard.reconciliation": "0s",
  };
}

const LIVE_SETTINGS: Readonly<Record<string, string>> = {
  // The default, written down so that an upgrade cannot change it: what tracks a resource must survive moves.
  "application.resourceTrackingMethod": "annotation",
  // Sync acts as the account the project names for the destination. Without a match, as in environments, it acts as what the
  // cluster entry holds: in the API cluster's that is an account which may only read.
  "application.sync.impersonation.enabled": "true",
  "application.sync.impersonation.enforced": "false",
  // A tenant must not address the engine cluster by way of the controller's own account.
  "cluster.inClusterEnabled": "false",
  "admin.enabled": "false",
  "users.anonymous.enabled": "false",
  "exec.enabled": "false",
  "kustomize.enable": "true",
  // Empty, and kept so: its options load plugins and leave the repository's root.
  "kustomize.buildOptions": "",
  "helm.enable": "true",
  // No scheme at all: values come from the repository, not from any address a chart names.
  "helm.valuesFileSchemes": "",
  "jsonnet.enable": "false",
  // Kinds the cluster entry's account may not list are left out instead of breaking the whole cache.
  "resource.respectRBAC": "normal",
  "resource.exclusions": EXCLUSIONS,
  ...IGNORED_UPDATES,
};

export function renderSettings(parameters: ManifestParameters, processSettings: Readonly<Record<string, string>>): readonly EngineObject[] {
  const { instance, trust } = parameters;
  const authorities = (trust?.certificateAuthorities ?? []).map(({ host, certificates }) => [host, certificates]);
  return [
    configMap(instance, "argocd-cm", engineSettings(parameters)),
    configMap(instance, "argocd-cmd-params-cm", processSettings),
    configMap(instance, "argocd-gpg-keys-cm", {}),
    configMap(instance, "argocd-ssh-known-hosts-cm", { ssh_known_hosts: knownHosts(trust?.sshKnownHosts) }),
    // One entry for each host: Argo CD takes it in place of the public authorities.
    configMap(instance, "argocd-tls-certs-cm", Object.fromEntries(authorities)),
  ];
}

export function renderSecrets({ instance, release, secrets }: ManifestParameters): readonly EngineObject[] {
  const { authority, server, client } = secrets.certificates;
  const mutual = { "client-ca.crt": authority, "client.crt": client.certificate, "client.key": client.key, "server-ca.crt": authority };
  return [
    // Without this key a change of argocd-cm is read and thrown away.
    secret(instance, "argocd-secret", { "server.secretkey": secrets.serverSecretKey }),
    secret(instance, REDIS, { auth: secrets.redisPassword }),
    secret(instance, REPO_SERVER_TLS, { "tls.crt": server.certificate, "tls.key": server.key, "ca.crt": authority }),
    ...(hasMutualTls(release.version) ? [secret(instance, REPO_SERVER_MTLS, mutual)] : []),
  ];
}
