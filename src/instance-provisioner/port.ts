import type { Millis } from "../domain/clock.ts";
import type { CertificatePair, CertificatePairs, EngineObject, ObservedInstance } from "../domain/engine.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";

export type InstancePlace = Pick<Instance, "id" | "namespace">;

export type NamespaceDeletion =
  /** The deletion is under way, or the namespace is gone. */
  | { readonly kind: "deleting" }
  /** Not begun: so many Applications in it have a finalizer. */
  | { readonly kind: "held"; readonly applications: number };

/** One Kubernetes cluster that hosts instances. Errors are those of the Kubernetes client. */
export interface EngineClusterPort {
  readonly name: string;
  observe(instance: InstancePlace, signal: AbortSignal): Promise<ObservedInstance>;
  /**
   * Writes, in order, the objects that are not as this process last wrote them: changed in the declaration, edited by
   * somebody, deleted, or not yet written by this process. Returns `Kind/name` of each that was written.
   */
  applyObjects(objects: readonly EngineObject[], signal: AbortSignal): Promise<readonly string[]>;
  /**
   * What stands for these objects as this process last left them: for what it wrote, and for what it found in the cluster after that. `undefined`: it has
   * not written all of them.
   */
  leftOf(objects: readonly EngineObject[]): Promise<string | undefined>;
  /**
   * Takes the objects for written where they are in the cluster as another process left them, and are to be what it wrote. `left`: what `leftOf`
   * returned there. Does nothing otherwise.
   */
  adoptObjects(objects: readonly EngineObject[], left: string, signal: AbortSignal): Promise<void>;
  /** Applies the CRDs of `version`, unless newer ones of ours are there. Returns the names of those that were written. */
  ensureCrds(
    crds: { readonly version: string; readonly objects: readonly EngineObject[] },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Deletes the instance's namespace, but not one that belongs to another, or that holds an Application with a finalizer. */
  deleteNamespace(instance: InstancePlace, signal: AbortSignal): Promise<NamespaceDeletion>;
}

export interface EngineClusters {
  /** `undefined`: the cluster is not declared, or its credentials do not exist (yet). */
  get(name: string): Promise<EngineClusterPort | undefined>;
  /**
   * Calls `listener` when an object of an instance has changed on any cluster used so far. Returns the end of the
   * subscription.
   */
  subscribe(listener: (id: InstanceId) => void): () => void;
}

/** Reads a page of metrics line by line. A reader that stops ends the request. Errors are those of the Kubernetes client. */
export type ReadMetrics = (
  at: { readonly namespace: string; readonly pod: string; readonly port: number },
  signal: AbortSignal,
) => AsyncIterable<string>;

export interface ReachablePod {
  readonly name: string;
  readonly component: string;
}

/** How to measure what an instance costs on an engine cluster. */
export interface UsageSource {
  /** Counts the cluster entries of the instance, whoever wrote them. */
  countClusterEntries(instance: InstancePlace, signal: AbortSignal): Promise<number>;
  readonly readMetrics: ReadMetrics;
  /**
   * Pods of these components whose metrics can be read, sorted by name. Empty where only the API server is reached: Argosy
   * may use its proxy for pods of fixed names only. The metrics of pods that were listed are read without looking for the pods again.
   */
  listReachable(
    at: { readonly namespace: string; readonly components: readonly string[] },
    signal: AbortSignal,
  ): Promise<readonly ReachablePod[]>;
}

/** Where the CRDs of releases come from. */
export interface CrdSource {
  /** Throws `InputError` when the directory does not hold them. */
  read(directory: string, signal: AbortSignal): Promise<readonly EngineObject[]>;
}

/** From when to when certificates are valid. */
export interface Validity {
  readonly from: Millis;
  readonly until: Millis;
}

/** Creates the credentials that components use among themselves. */
export interface SecretMaker {
  /** 32 random bytes, as letters and digits. */
  randomText(): string;
  /** Creates an authority, which signs certificates of one instance. */
  authority(validity: Validity): CertificatePair;
  /** Creates a server certificate for these names and a client certificate, signed by the authority. */
  certificates(authority: CertificatePair, serverNames: readonly string[], validity: Validity): CertificatePairs;
}
