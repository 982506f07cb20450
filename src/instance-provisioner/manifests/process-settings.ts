import { parseQuantity } from "../../domain/quantity.ts";
import type { EnvVar } from "./kubernetes-types.ts";
import { CONTROLLER, PORTS, PROCESS_SETTINGS, REDIS, REPO_SERVER, SETTINGS } from "./names.ts";
import type { ManifestParameters } from "./parameters.ts";
import { hasMutualTls, renderingsDatabase } from "./version.ts";

/**
 * A setting that a process reads from its environment at its start: the variable, and the key of the config map that
 * holds it.
 */
export interface ProcessSetting {
  readonly env: string;
  readonly key: string;
  readonly value: string;
}

const SHARED: readonly ProcessSetting[] = [
  { env: "REDIS_SERVER", key: "redis.server", value: `${REDIS}:${PORTS.redis}` },
  { env: "REDIS_COMPRESSION", key: "redis.compression", value: "gzip" },
];

/**
 * Settings of the controller for Argo CD 3.2 to 3.5; an older binary ignores those it does not know. One thing
 * differs: since 3.5 the controller checks repo-server's certificate by the path of an authority, before that by a
 * flag and a fixed path.
 */
export function controllerSettings({ engine, release }: ManifestParameters): readonly ProcessSetting[] {
  const trust = hasMutualTls(release.version)
    ? {
        env: "ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER_CA_CERT_PATH",
        key: "controller.repo.server.ca.cert.path",
        value: "/app/config/reposerver/mtls/server-ca.crt",
      }
    : { env: "ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER_STRICT_TLS", key: "controller.repo.server.strict.tls", value: "true" };
  return [
    ...SHARED,
    trust,
    { env: "ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER", key: "repo.server", value: `${REPO_SERVER}:${PORTS.repoServer}` },
    { env: "ARGOCD_APPLICATION_CONTROLLER_STATUS_PROCESSORS", key: "controller.status.processors", value: String(engine.statusProcessors) },
    {
      env: "ARGOCD_APPLICATION_CONTROLLER_OPERATION_PROCESSORS",
      key: "controller.operation.processors",
      value: String(engine.operationProcessors),
    },
    // By default the first self-heal follows the sync at once. Argo CD's cache of the cluster may not show the sync
    // yet, so the same is synced twice, hooks included. With backoff 0 the first self-heal comes five seconds later,
    // when the cache shows it (selfHealRemainingBackoff of its controller).
    { env: "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_TIMEOUT_SECONDS", key: "controller.self.heal.timeout.seconds", value: "5" },
    {
      env: "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_TIMEOUT_SECONDS",
      key: "controller.self.heal.backoff.timeout.seconds",
      value: "0",
    },
    { env: "ARGOCD_K8S_CLIENT_QPS", key: "controller.k8s.client.qps", value: String(engine.k8sClientQps) },
    { env: "ARGOCD_K8S_CLIENT_BURST", key: "controller.k8s.client.burst", value: String(engine.k8sClientBurst) },
    // Ends each request to any API server, watches too. Without it one that takes a request and never ends its answer holds a lock, a place
    // among all lists and the workers that wait for it, for ever. An API server ends its own requests after one minute, and sends a watch a
    // bookmark each minute: after three a watch goes on where it was, without a list (docs/adr/0057).
    { env: "ARGOCD_K8S_SERVER_SIDE_TIMEOUT", key: "controller.k8s.server.side.timeout", value: "3m" },
    { env: "ARGOCD_APPLICATION_CONTROLLER_SERVER_SIDE_DIFF", key: "controller.diff.server.side", value: "false" },
    // Without it Argo CD 3 does not write the health of single objects into Applications (docs/adr/0036).
    { env: "ARGOCD_APPLICATION_CONTROLLER_PERSIST_RESOURCE_HEALTH", key: "controller.resource.health.persist", value: "true" },
    { env: "ARGOCD_IGNORE_NORMALIZER_JQ_TIMEOUT", key: "controller.ignore.normalizer.jq.timeout", value: "1s" },
    { env: "ARGOCD_HYDRATOR_ENABLED", key: "hydrator.enabled", value: "false" },
    // Other namespaces would need rights on the whole engine cluster.
    { env: "ARGOCD_APPLICATION_NAMESPACES", key: "application.namespaces", value: "" },
    { env: "ARGOCD_APPLICATION_CONTROLLER_LOGFORMAT", key: "controller.log.format", value: "json" },
    { env: "ARGOCD_APPLICATION_CONTROLLER_LOGLEVEL", key: "controller.log.level", value: "info" },
  ];
}

/** Memory that one rendering takes at most, in bytes: a cautious guess, from the 10 MB that a directory may hold. */
const RENDER_BYTES = 128 * 2 ** 20;

export function repoServerSettings({ resources, release }: ManifestParameters): readonly ProcessSetting[] {
  const rendersAtOnce = Math.max(2, Math.floor((parseQuantity(resources.repoServer.memory) ?? 0) / RENDER_BYTES));
  return [
    ...SHARED,
    { env: "REDISDB", key: "redis.db", value: String(renderingsDatabase(release.version)) },
    { env: "ARGOCD_REPO_SERVER_PARALLELISM_LIMIT", key: "reposerver.parallelism.limit", value: String(rendersAtOnce) },
    { env: "ARGOCD_REPO_SERVER_DISABLE_TLS", key: "reposerver.disable.tls", value: "false" },
    { env: "ARGOCD_TLS_MIN_VERSION", key: "reposerver.tls.minversion", value: "1.3" },
    // Submodules fetch from anywhere, whatever sources the project allows.
    { env: "ARGOCD_GIT_MODULES_ENABLED", key: "reposerver.enable.git.submodule", value: "false" },
    { env: "ARGOCD_GIT_REQUEST_TIMEOUT", key: "reposerver.git.request.timeout", value: "15s" },
    // The cached branches and the checkout of a repository are kept by its URL alone, whoever's credential fetched
    // them: another workspace was served a private repository from there (3.5.7, within three minutes). With a lock
    // timeout of 0 this cache is never read, so every workspace has to get the branches from the host itself, with
    // its own credential.
    { env: "ARGOCD_REVISION_CACHE_LOCK_TIMEOUT", key: "reposerver.revision.cache.lock.timeout", value: "0s" },
    { env: "ARGOCD_REPO_SERVER_ALLOW_OUT_OF_BOUNDS_SYMLINKS", key: "reposerver.allow.oob.symlinks", value: "false" },
    // Parsing a manifest takes up to three hundred times the file's size.
    {
      env: "ARGOCD_REPO_SERVER_MAX_COMBINED_DIRECTORY_MANIFESTS_SIZE",
      key: "reposerver.max.combined.directory.manifests.size",
      value: "10M",
    },
    { env: "ARGOCD_REPO_SERVER_STREAMED_MANIFEST_MAX_TAR_SIZE", key: "reposerver.streamed.manifest.max.tar.size", value: "100M" },
    { env: "ARGOCD_REPO_SERVER_STREAMED_MANIFEST_MAX_EXTRACTED_SIZE", key: "reposerver.streamed.manifest.max.extracted.size", value: "1G" },
    { env: "ARGOCD_REPO_SERVER_HELM_MANIFEST_MAX_EXTRACTED_SIZE", key: "reposerver.helm.manifest.max.extracted.size", value: "1G" },
    { env: "ARGOCD_REPO_SERVER_OCI_MANIFEST_MAX_EXTRACTED_SIZE", key: "reposerver.oci.manifest.max.extracted.size", value: "1G" },
    { env: "ARGOCD_REPO_SERVER_LOGFORMAT", key: "reposerver.log.format", value: "json" },
    { env: "ARGOCD_REPO_SERVER_LOGLEVEL", key: "reposerver.log.level", value: "info" },
  ];
}

/** Content of the config map: the settings of all processes, by key. */
export function processSettings(parameters: ManifestParameters): Readonly<Record<string, string>> {
  const all = [...controllerSettings(parameters), ...repoServerSettings(parameters)];
  return Object.fromEntries(all.map(({ key, value }) => [key, value] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function envOf(settings: readonly ProcessSetting[]): readonly EnvVar[] {
  return settings.map(({ env, key }) => fromConfigMap(env, PROCESS_SETTINGS, key));
}

/** Settings that Argo CD reads from its live settings, but only at the start of a process. */
export const CONTROLLER_TIMES: readonly EnvVar[] = [
  fromConfigMap("ARGOCD_RECONCILIATION_TIMEOUT", SETTINGS, "timeout.reconciliation"),
  fromConfigMap("ARGOCD_RECONCILIATION_JITTER", SETTINGS, "timeout.reconciliation.jitter"),
  fromConfigMap("ARGOCD_HARD_RECONCILIATION_TIMEOUT", SETTINGS, "timeout.hard.reconciliation"),
];
export const REPO_SERVER_TIMES: readonly EnvVar[] = CONTROLLER_TIMES.slice(0, 1);

export const REDIS_PASSWORD: EnvVar = { name: "REDIS_PASSWORD", valueFrom: { secretKeyRef: { name: REDIS, key: "auth" } } };

function fromConfigMap(name: string, map: string, key: string): EnvVar {
  return { name, valueFrom: { configMapKeyRef: { name: map, key, optional: true } } };
}

/**
 * Go's soft limit of the heap: nine tenths of the container's memory. The garbage collector works harder before the
 * kernel kills the process.
 */
export function goMemoryLimit(memory: string): EnvVar {
  return { name: "GOMEMLIMIT", value: `${Math.floor((parseQuantity(memory) ?? 0) * 0.9)}B` };
}

/** Paths of the programs in Argo CD's image. It is one binary, which does what its file name says. */
export const PROGRAMS = { controller: `/usr/local/bin/${CONTROLLER}`, repoServer: `/usr/local/bin/${REPO_SERVER}` } as const;
