import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../../src/runtime/clock.ts";
import { createKeyedQueue } from "../../../src/runtime/keyed-queue.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { createReflector } from "../../../src/runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../../src/runtime/kube/resource.ts";
import { systemRng } from "../../../src/runtime/rng.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import { noMetrics } from "../../../src/telemetry/metrics.ts";
import { typeOf } from "../apply.ts";

const PROVISIONER = "argosy.dev/folders";
const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";

/**
 * The class of volumes that need no name: folders of this machine. They are of the kind `local`, as whose owner the kubelet makes the pod's
 * `fsGroup`, as it does on volumes of most clusters. Those that the controller manager can make of folders belong to root alone.
 */
export const STORAGE_CLASS = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "folders", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: PROVISIONER,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
} as const;

interface Claim extends KubeObject {
  readonly spec: {
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: { readonly storage?: string } };
  };
}

interface Volume extends KubeObject {
  readonly spec: { readonly persistentVolumeReclaimPolicy?: string };
  readonly status?: { readonly phase?: string };
}

export interface VolumeProvisioner {
  /** Makes a folder for each claim of the class, and removes it with the claim, until `stop` is called. */
  start(): void;
  stop(): Promise<void>;
}

export interface VolumeProvisionerOptions {
  readonly client: KubeClient;
  /** Folder that holds the volumes' folders. */
  readonly directory: string;
  readonly log: Log;
}

const claims: ResourceType = {
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
};
const volumes: ResourceType = { group: "", version: "v1", plural: "persistentvolumes", kind: "PersistentVolume", namespaced: false };

const BACKOFF = { minMs: 200, maxMs: 5_000 };

export function createVolumeProvisioner({ client, directory, log }: VolumeProvisionerOptions): VolumeProvisioner {
  const life = new AbortController();
  const tools = { client, clock: systemClock, rng: systemRng, log, metrics: noMetrics };
  const pending = createReflector<Claim>({
    ...{ ...tools, type: claims, onChange: () => queue.add("all") },
    project: (object) => (isPending(object as Claim) ? (object as Claim) : undefined),
  });
  const released = createReflector<Volume>({
    ...{ ...tools, type: volumes, onChange: () => queue.add("all") },
    project: (object) => (isReleased(object as Volume) ? (object as Volume) : undefined),
  });
  const queue = createKeyedQueue({
    ...{ ...tools, name: "volumes", concurrency: 1, backoff: BACKOFF },
    work: async (_key, signal) => {
      for (const claim of pending.list()) await provide(claim, signal);
      for (const { metadata } of released.list()) await remove(metadata.name, signal);
    },
  });

  async function provide(claim: Claim, signal: AbortSignal): Promise<void> {
    const name = `pvc-${claim.metadata.uid ?? ""}`;
    const path = join(directory, name);
    await mkdir(path, { recursive: true });
    const volume = renderVolume(claim, { name, path });
    await client.apply(typeOf(volume), volume, { fieldManager: "development", decode: false }, signal);
  }

  async function remove(name: string, signal: AbortSignal): Promise<void> {
    await rm(join(directory, name), { recursive: true, force: true });
    await client.delete(volumes, { namespace: "", name }, {}, signal);
  }

  return {
    start() {
      queue.start();
      pending.start(life.signal);
      released.start(life.signal);
    },
    async stop() {
      life.abort();
      await Promise.all([queue.stop(), pending.stopped(), released.stopped()]);
    },
  };
}

function isPending({ spec, metadata }: Claim): boolean {
  const isUnbound = spec.volumeName === undefined && metadata.deletionTimestamp === undefined;
  return isUnbound && spec.storageClassName === STORAGE_CLASS.metadata.name;
}

function isReleased({ metadata, spec, status }: Volume): boolean {
  const isOurs = metadata.annotations?.[PROVISIONED_BY] === PROVISIONER;
  return isOurs && status?.phase === "Released" && spec.persistentVolumeReclaimPolicy === "Delete";
}

/** Every node is on this machine, so a volume of one is a volume of all. */
function renderVolume(
  { metadata: { name, namespace, uid }, spec }: Claim,
  volume: { readonly name: string; readonly path: string },
): KubeObject & Readonly<Record<string, unknown>> {
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: volume.name, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      storageClassName: STORAGE_CLASS.metadata.name,
      persistentVolumeReclaimPolicy: STORAGE_CLASS.reclaimPolicy,
      accessModes: spec.accessModes ?? ["ReadWriteOnce"],
      capacity: { storage: spec.resources?.requests?.storage ?? "1Gi" },
      claimRef: { apiVersion: "v1", kind: claims.kind, name, namespace, uid },
      local: { path: volume.path },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/os", operator: "In", values: ["linux"] }] }] },
      },
    },
  };
}
