import type { ComponentResources } from "../../domain/fleet.ts";
import { LABEL_INSTANCE } from "../../domain/names.ts";
import { parseQuantity, renderCpu, renderMemory } from "../../domain/quantity.ts";
import type {
  Affinity,
  Container,
  PodSecurityContext,
  PodTemplate,
  Probe,
  Resources,
  SecurityContext,
  Volume,
} from "./kubernetes-types.ts";
import type { Labels, ManifestIdentity } from "./object.ts";
import { labelsOf } from "./object.ts";

/** Hash of everything that the pod's process reads only at its start. When it changes, the pods are replaced. */
const ANNOTATION_SETTINGS = "argosy.dev/settings-hash";

export interface PodContent {
  readonly name: string;
  readonly component: string;
  readonly settingsHash: string;
  readonly mountsToken: boolean;
  readonly container: Omit<Container, "name">;
  /** Containers that run with it. */
  readonly beside?: readonly Container[];
  readonly volumes: readonly Volume[];
  readonly securityContext?: PodSecurityContext;
}

export function selectorOf(name: string): { readonly matchLabels: Labels } {
  return { matchLabels: { "app.kubernetes.io/name": name } };
}

export function podTemplate(instance: ManifestIdentity, pod: PodContent): PodTemplate {
  return {
    metadata: { labels: labelsOf(instance, pod.name, pod.component), annotations: { [ANNOTATION_SETTINGS]: pod.settingsHash } },
    spec: {
      serviceAccountName: pod.name,
      automountServiceAccountToken: pod.mountsToken,
      // Services are found by name. Variables for each Service are not needed, and there are many of them in a large namespace.
      enableServiceLinks: false,
      nodeSelector: { "kubernetes.io/os": "linux" },
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" }, ...pod.securityContext },
      affinity: spread(instance, pod.name),
      containers: [{ name: pod.name, ...pod.container }, ...(pod.beside ?? [])].map((container) => ({
        ...{ name: container.name, imagePullPolicy: "IfNotPresent", securityContext: CONFINED },
        ...container,
      })),
      volumes: pod.volumes,
    },
  };
}

const CONFINED: SecurityContext = {
  runAsNonRoot: true,
  readOnlyRootFilesystem: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};

/** Prefers a node without a pod of the same workload, and without other pods of the same instance. */
function spread(instance: ManifestIdentity, name: string): Affinity {
  const term = (weight: number, matchLabels: Labels) => ({
    weight,
    podAffinityTerm: { labelSelector: { matchLabels }, topologyKey: "kubernetes.io/hostname" },
  });
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        term(100, { "app.kubernetes.io/name": name }),
        term(5, { [LABEL_INSTANCE]: instance.id }),
      ],
    },
  };
}

/** Memory is requested in full, so that a busy node does not evict the pod. CPU is requested to a quarter; the rest is shared. */
export function resourcesOf({ cpu, memory }: ComponentResources): Resources {
  return { requests: { cpu: renderCpu((parseQuantity(cpu) ?? 0) / 4), memory }, limits: { cpu, memory } };
}

/** What a container may take of its node's disk beside the pod's volumes, in bytes: its logs, for the most part. */
const BESIDE_VOLUMES = 2 ** 30;

/**
 * Resources with a limit for all that the pod has on its node's disk: its volumes, each filled to its own limit, and what is written beside
 * them. None is requested. A limit without a request would be one, and keep pods from nodes with less disk than the limit, or that say
 * nothing of their disk. A node that runs short evicts pods by what they use beyond their request: who has filled most goes first, and what
 * these pods have on disk can be fetched again.
 */
export function withDisk({ requests, limits }: Resources, volumes: readonly Volume[]): Resources {
  const sizes = volumes.map(({ emptyDir: volume }) => parseQuantity(volume?.sizeLimit ?? "") ?? 0);
  const bytes = sizes.reduce((sum, size) => sum + size, BESIDE_VOLUMES);
  return {
    requests: { ...requests, "ephemeral-storage": "0" },
    limits: { ...limits, "ephemeral-storage": renderMemory(bytes) },
  };
}

/** When and how often a container is probed, in seconds. */
type ProbeTimes = Pick<Probe, "initialDelaySeconds" | "periodSeconds" | "failureThreshold" | "timeoutSeconds">;

export function httpProbe(path: string, port: number, times: ProbeTimes): Probe {
  return { httpGet: { path, port }, ...times };
}

export const emptyDir = (name: string, sizeLimit: string): Volume => ({ name, emptyDir: { sizeLimit } });

export const configMapVolume = (name: string, map: string): Volume => ({ name, configMap: { name: map } });

/** Mounts keys of a Secret as files of the same names. A pod starts also without the Secret. */
export function secretVolume(name: string, keys: readonly string[]): Volume {
  return { name, secret: { secretName: name, optional: true, items: keys.map((key) => ({ key, path: key })) } };
}
