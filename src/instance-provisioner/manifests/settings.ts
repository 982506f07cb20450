import type { EngineObject } from "../../domain/engine.ts";
import { knownHosts } from "../../domain/known-hosts.ts";
import { REDIS, REPO_SERVER_MTLS, REPO_SERVER_TLS } from "./names.ts";
import { configMap, secret } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";
import { EXCLUSIONS, IGNORED_UPDATES } from "./resource-settings.ts";
import { hasMutualTls } from "./version.ts";

/**
 * Settings that the controller reads while it runs. Those that decide how resources are compared are the same on
 * every instance: with a difference, a move alone would make applications OutOfSync.
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
  // The default, set explicitly so that an upgrade cannot change it: resources have to stay tracked across moves.
  "application.resourceTrackingMethod": "annotation",
  // A sync acts as the account that the project names for the destination. Where the project names none, as for
  // environments, it acts with the credential of the cluster entry. For the API cluster that is an account which may
  // only read.
  "application.sync.impersonation.enabled": "true",
  "application.sync.impersonation.enforced": "false",
  // A tenant must not reach the engine cluster through the controller's own account.
  "cluster.inClusterEnabled": "false",
  "admin.enabled": "false",
  "users.anonymous.enabled": "false",
  "exec.enabled": "false",
  "kustomize.enable": "true",
  // Empty, and explicitly so: options could load plugins and read outside the repository's root.
  "kustomize.buildOptions": "",
  "helm.enable": "true",
  // No scheme at all: values files come from the repository, not from an address that a chart names.
  "helm.valuesFileSchemes": "",
  "jsonnet.enable": "false",
  // Kinds that the cluster entry's account may not list are left out. Else they would break the whole cache. Not `strict`, which asks about
  // a kind without its group and so drops the same ones.
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
    // One entry for each host. Argo CD uses it instead of the public authorities.
    configMap(instance, "argocd-tls-certs-cm", Object.fromEntries(authorities)),
  ];
}

export function renderSecrets({ instance, release, secrets }: ManifestParameters): readonly EngineObject[] {
  const { authorities, server, client } = secrets.certificates;
  const mutual = { "client-ca.crt": authorities, "client.crt": client.certificate, "client.key": client.key, "server-ca.crt": authorities };
  return [
    // Without this key Argo CD ignores changes of argocd-cm.
    secret(instance, "argocd-secret", { "server.secretkey": secrets.serverSecretKey }),
    secret(instance, REDIS, { auth: secrets.redisPassword }),
    secret(instance, REPO_SERVER_TLS, { "tls.crt": server.certificate, "tls.key": server.key, "ca.crt": authorities }),
    ...(hasMutualTls(release.version) ? [secret(instance, REPO_SERVER_MTLS, mutual)] : []),
  ];
}
