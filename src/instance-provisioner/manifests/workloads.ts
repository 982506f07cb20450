import type { EngineObject } from "../../domain/engine.ts";
import { USUAL_DISK } from "../../domain/fleet.ts";
import { parseQuantity } from "../../domain/quantity.ts";
import { renderFilter } from "./filter.ts";
import type { Container, EnvVar, SpecOf } from "./kubernetes-types.ts";
import { CONTROLLER, PORTS, REDIS, REPO_SERVER, REPO_SERVER_MTLS, REPO_SERVER_TLS } from "./names.ts";
import { objectOf } from "./object.ts";
import type { ManifestParameters } from "./parameters.ts";
import { configMapVolume, emptyDir, httpProbe, podTemplate, resourcesOf, secretVolume, selectorOf, withDisk } from "./pods.ts";
import {
  CONTROLLER_TIMES,
  controllerSettings,
  envOf,
  goMemoryLimit,
  PROGRAMS,
  REDIS_PASSWORD,
  REPO_SERVER_TIMES,
  repoServerSettings,
} from "./process-settings.ts";
import { hasMutualTls } from "./version.ts";

/** For each workload, a hash of everything its processes read only at their start. A new hash replaces the workload's pods. */
export type StartHashes = Readonly<Record<"redis" | "repoServer" | "controller", string>>;

/** The workloads in the order in which they have to start: each needs those before it. */
export function renderWorkloads(parameters: ManifestParameters, hashes: StartHashes): readonly EngineObject[] {
  return [redis(parameters, hashes.redis), repoServer(parameters, hashes.repoServer), controller(parameters, hashes.controller)];
}

function redis({ instance, release, resources }: ManifestParameters, settingsHash: string): EngineObject {
  const bytes = parseQuantity(resources.redis.memory) ?? 0;
  const container: Omit<Container, "name"> = {
    image: release.redisImage,
    // Redis is only a cache: Argo CD computes missing entries again. So nothing is saved to disk, and redis evicts what does
    // not fit. The last argument holds an option and its value, as in Argo CD's own manifests; redis splits it.
    args: [
      "--save",
      "",
      "--appendonly",
      "no",
      "--maxmemory",
      String(Math.floor(bytes * 0.75)),
      "--maxmemory-policy",
      "allkeys-lru",
      "--requirepass $(REDIS_PASSWORD)",
    ],
    env: [REDIS_PASSWORD],
    ports: [{ name: "redis", containerPort: PORTS.redis }],
    readinessProbe: { tcpSocket: { port: PORTS.redis }, periodSeconds: 10 },
    livenessProbe: { tcpSocket: { port: PORTS.redis }, initialDelaySeconds: 30, periodSeconds: 30, failureThreshold: 3 },
    resources: resourcesOf(resources.redis),
  };
  const template = podTemplate(instance, {
    name: REDIS,
    component: "redis",
    settingsHash,
    mountsToken: false,
    container,
    volumes: [],
    securityContext: { runAsUser: 999 },
  });
  // Two pods at the same time would hold half of the cache each.
  const spec: SpecOf<"Deployment"> = { replicas: 1, strategy: { type: "Recreate" }, selector: selectorOf(REDIS), template };
  return objectOf(instance, { apiVersion: "apps/v1", kind: "Deployment", name: REDIS, component: "redis", spec });
}

function repoServer(parameters: ManifestParameters, settingsHash: string): EngineObject {
  const { instance, release, resources } = parameters;
  const volumes = [
    configMapVolume("ssh-known-hosts", "argocd-ssh-known-hosts-cm"),
    configMapVolume("tls-certs", "argocd-tls-certs-cm"),
    configMapVolume("gpg-keys", "argocd-gpg-keys-cm"),
    emptyDir("gpg-keyring", "64Mi"),
    secretVolume(REPO_SERVER_TLS, ["tls.crt", "tls.key", "ca.crt"]),
    // With mutual TLS, repo-server answers only clients with a certificate of this authority. Only the controller mounts the
    // client's private key. For releases without mutual TLS the Secret is not created, and the volume is empty.
    secretVolume(REPO_SERVER_MTLS, ["client-ca.crt"]),
    // Holds the checkouts of all repositories.
    emptyDir("tmp", resources.repoServer.disk ?? USUAL_DISK),
    emptyDir("helm-working-dir", "2Gi"),
    // Stays empty, because plugins run commands that a repository chooses.
    emptyDir("plugins", "1Mi"),
  ];
  const container: Omit<Container, "name"> = {
    image: release.image,
    args: [PROGRAMS.repoServer],
    env: [REDIS_PASSWORD, ...REPO_SERVER_TIMES, ...envOf(repoServerSettings(parameters)), ...repoServerOnly(resources.repoServer.memory)],
    ports: [
      { name: "grpc", containerPort: PORTS.repoServer },
      { name: "metrics", containerPort: PORTS.repoServerMetrics },
    ],
    livenessProbe: httpProbe("/healthz?full=true", PORTS.repoServerMetrics, {
      initialDelaySeconds: 30,
      periodSeconds: 30,
      failureThreshold: 3,
      timeoutSeconds: 5,
    }),
    readinessProbe: httpProbe("/healthz", PORTS.repoServerMetrics, { periodSeconds: 10 }),
    resources: withDisk(resourcesOf(resources.repoServer), volumes),
    volumeMounts: [
      { name: "ssh-known-hosts", mountPath: "/app/config/ssh" },
      { name: "tls-certs", mountPath: "/app/config/tls" },
      { name: "gpg-keys", mountPath: "/app/config/gpg/source" },
      { name: "gpg-keyring", mountPath: "/app/config/gpg/keys" },
      { name: REPO_SERVER_TLS, mountPath: "/app/config/reposerver/tls" },
      { name: REPO_SERVER_MTLS, mountPath: "/app/config/reposerver/mtls" },
      { name: "tmp", mountPath: "/tmp" },
      { name: "helm-working-dir", mountPath: "/helm-working-dir" },
      { name: "plugins", mountPath: "/home/argocd/cmp-server/plugins" },
    ],
  };
  const template = podTemplate(instance, {
    name: REPO_SERVER,
    component: "repo-server",
    settingsHash,
    mountsToken: false,
    container,
    volumes,
  });
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  const spec: SpecOf<"Deployment"> = {
    replicas: resources.repoServer.replicas,
    strategy,
    selector: selectorOf(REPO_SERVER),
    template,
  };
  return objectOf(instance, { apiVersion: "apps/v1", kind: "Deployment", name: REPO_SERVER, component: "repo-server", spec });
}

/** Variables that are set directly, not from a config map. */
function repoServerOnly(memory: string): readonly EnvVar[] {
  return [
    goMemoryLimit(memory),
    { name: "ARGOCD_EXEC_TIMEOUT", value: "90s" },
    { name: "ARGOCD_GPG_ENABLED", value: "false" },
    ...["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map((name) => ({ name, value: "/helm-working-dir" })),
  ];
}

function controller(parameters: ManifestParameters, settingsHash: string): EngineObject {
  const { instance, release, resources } = parameters;
  const isMutual = hasMutualTls(release.version);
  const volumes = [
    emptyDir("argocd-home", "1Gi"),
    emptyDir("tmp", "2Gi"),
    secretVolume(REPO_SERVER_TLS, ["tls.crt", "ca.crt"]),
    ...(isMutual ? [secretVolume(REPO_SERVER_MTLS, ["client.crt", "client.key", "server-ca.crt"])] : []),
  ];
  const beside = parameters.filter === undefined ? undefined : renderFilter(instance, parameters.filter);
  const container: Omit<Container, "name"> = {
    image: release.image,
    args: [PROGRAMS.controller],
    workingDir: "/home/argocd",
    env: [REDIS_PASSWORD, ...CONTROLLER_TIMES, ...envOf(controllerSettings(parameters)), ...controllerOnly(resources.controller.memory)],
    ports: [{ name: "metrics", containerPort: PORTS.controllerMetrics }],
    readinessProbe: httpProbe("/healthz", PORTS.controllerMetrics, { periodSeconds: 10 }),
    resources: withDisk(resourcesOf(resources.controller), volumes),
    volumeMounts: [
      { name: "argocd-home", mountPath: "/home/argocd" },
      { name: "tmp", mountPath: "/tmp" },
      { name: REPO_SERVER_TLS, mountPath: "/app/config/controller/tls" },
      ...(isMutual ? [{ name: REPO_SERVER_MTLS, mountPath: "/app/config/reposerver/mtls" }] : []),
    ],
  };
  const template = podTemplate(instance, {
    name: CONTROLLER,
    component: "application-controller",
    settingsHash,
    mountsToken: true,
    container,
    ...(beside === undefined ? { volumes } : { beside: [beside.container], volumes: [...volumes, beside.volume] }),
  });
  // At most one pod: the controller has no leader election. Hence a StatefulSet, which never runs two pods of one name.
  // `Parallel`: an ordered StatefulSet waits until a pod is ready before it replaces the pod, and a pod with a wrong image
  // never gets ready. No Service has the name in `serviceName`: nothing needs a DNS name of the pod.
  const replicas = parameters.isHalted === true ? 0 : 1;
  const spec: SpecOf<"StatefulSet"> = {
    replicas,
    serviceName: CONTROLLER,
    podManagementPolicy: "Parallel",
    selector: selectorOf(CONTROLLER),
    template,
  };
  return objectOf(instance, { apiVersion: "apps/v1", kind: "StatefulSet", name: CONTROLLER, component: "application-controller", spec });
}

/** Variables that are set directly, not from a config map. */
function controllerOnly(memory: string): readonly EnvVar[] {
  return [
    goMemoryLimit(memory),
    { name: "ARGOCD_CONTROLLER_REPLICAS", value: "1" },
    { name: "KUBECACHEDIR", value: "/tmp/kubecache" },
    // No Kubernetes events: one for each refresh would be a write that nobody reads.
    { name: "ARGOCD_ENABLE_K8S_EVENT", value: "none" },
  ];
}
