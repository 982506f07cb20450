import type { KubeObject, ObjectMeta, ResourceType } from "../../../src/runtime/kube/resource.ts";

/** The fields of pods and related objects that a node reads (core/v1). They come from an API server, which has validated them. */
export interface Pod extends KubeObject {
  readonly metadata: PodMeta;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodMeta extends ObjectMeta {
  readonly uid: string;
  readonly namespace: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly serviceAccountName?: string;
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number; readonly protocol?: string }[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: { readonly limits?: Quantities; readonly requests?: Quantities };
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
}

export type Quantities = Readonly<Record<string, string>>;

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: KeyRef;
    readonly secretKeyRef?: KeyRef;
    readonly fieldRef?: { readonly fieldPath: string };
    readonly resourceFieldRef?: { readonly resource: string; readonly divisor?: string };
  };
}

export interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface EnvFrom {
  readonly prefix?: string;
  readonly configMapRef?: ObjectRef;
  readonly secretRef?: ObjectRef;
}

export interface ObjectRef {
  readonly name: string;
  readonly optional?: boolean;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
}

export interface Volume {
  readonly name: string;
  readonly configMap?: FilesOf & { readonly name: string };
  readonly secret?: FilesOf & { readonly secretName: string };
  readonly projected?: { readonly sources?: readonly ProjectedSource[] };
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[] };
  readonly emptyDir?: unknown;
}

export interface FilesOf {
  readonly items?: readonly { readonly key: string; readonly path: string }[];
  readonly optional?: boolean;
}

export interface DownwardItem {
  readonly path: string;
  readonly fieldRef?: { readonly fieldPath: string };
}

export interface ProjectedSource {
  readonly configMap?: FilesOf & { readonly name: string };
  readonly secret?: FilesOf & { readonly name: string };
  readonly downwardAPI?: { readonly items?: readonly DownwardItem[] };
  readonly serviceAccountToken?: { readonly path: string; readonly audience?: string; readonly expirationSeconds?: number };
}

export interface Probe {
  readonly httpGet?: {
    readonly path?: string;
    readonly port: number | string;
    readonly scheme?: string;
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: number | string };
  readonly grpc?: { readonly port: number };
  readonly exec?: unknown;
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly { readonly name: string; readonly restartCount?: number }[];
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
}

/** ConfigMaps and Secrets: `data` of a Secret is base64. */
export interface DataObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

const core = (plural: string, kind: string, namespaced = true): ResourceType => ({ group: "", version: "v1", plural, kind, namespaced });
export const podType = core("pods", "Pod");
export const serviceType = core("services", "Service");
export const configMapType = core("configmaps", "ConfigMap");
export const secretType = core("secrets", "Secret");
export const nodeType = core("nodes", "Node", false);
export const serviceAccountType = core("serviceaccounts", "ServiceAccount");

/** What a pod's owner may ask this node for by annotations, since a container of an unknown image does nothing by itself. */
export const annotation = {
  /** Exit code of containers without a process. They end only if this is set, or if the pod's restartPolicy is not Always. */
  exitCode: "dev.argosy/exit-code",
  /** How long containers without a process run before they end, in ms; default 1000. */
  runMs: "dev.argosy/run-ms",
  /** `"false"`: containers without a process never become ready. */
  ready: "dev.argosy/ready",
  /** Share of the time that the pod's processes may run, from 0 (stopped) to 1. */
  cpuShare: "dev.argosy/cpu-share",
} as const;
