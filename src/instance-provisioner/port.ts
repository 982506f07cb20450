import type { Millis } from "../domain/clock.ts";
import type { EngineCertificates, EngineObject, ObservedInstance } from "../domain/engine.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";

export type InstancePlace = Pick<Instance, "id" | "namespace">;

export type NamespaceDeletion =
  /** Under way, or done. */
  | { readonly kind: "deleting" }
  /** Not begun: so many Applications there would leave something behind. */
  | { readonly kind: "held"; readonly applications: number };

/** One Kubernetes cluster that hosts instances. Errors are those of the Kubernetes client. */
export interface EngineClusterPort {
  readonly name: string;
  observe(instance: InstancePlace, signal: AbortSignal): Promise<ObservedInstance>;
  /**
   * Writes, in order, those objects that are not as they were last written here: changed, edited by somebody, deleted, or
   * not yet written by this process. Returns `Kind/name` of each.
   */
  applyObjects(objects: readonly EngineObject[], signal: AbortSignal): Promise<readonly string[]>;
  /** Brings the definitions to `version` unless newer ones of ours are in use. Returns the names of those that were written. */
  ensureCrds(
    crds: { readonly version: string; readonly objects: readonly EngineObject[] },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** Deletes the instance's namespace, but never another's, nor one that holds an Application with a finalizer. */
  deleteNamespace(instance: InstancePlace, signal: AbortSignal): Promise<NamespaceDeletion>;
}

export interface EngineClusters {
  /** `undefined` for a cluster that is not declared, or whose credentials are not there (yet). */
  get(name: string): Promise<EngineClusterPort | undefined>;
  /** Calls `listener` when an object of an instance has changed on any cluster asked for so far. Returned: the end of it. */
  subscribe(listener: (id: InstanceId) => void): () => void;
}

/** Lines of a page of metrics as they come; whoever stops reading ends the request. Errors are those of the Kubernetes client. */
export type ReadMetrics = (
  at: { readonly namespace: string; readonly pod: string; readonly port: number },
  signal: AbortSignal,
) => AsyncIterable<string>;

/** What can be asked of an engine cluster about what an instance costs. */
export interface UsageSource {
  /** Cluster entries the instance has, whoever wrote them. */
  countClusterEntries(instance: InstancePlace, signal: AbortSignal): Promise<number>;
  readonly readMetrics: ReadMetrics;
  /** Pods of a component whose metrics can be read whatever their names are, sorted: none where only an API server is reached, which passes on to pods of known names. */
  listReachable(at: { readonly namespace: string; readonly component: string }, signal: AbortSignal): Promise<readonly string[]>;
}

/** Where releases' own definitions of their kinds come from. */
export interface CrdSource {
  /** `InputError` when the directory does not hold them. */
  read(directory: string, signal: AbortSignal): Promise<readonly EngineObject[]>;
}

/** Makes what components prove themselves to each other with. */
export interface SecretMaker {
  /** 32 random bytes, in letters and digits. */
  randomText(): string;
  /** An authority that signs one server certificate for these names and one client certificate, and is then forgotten. */
  certificates(serverNames: readonly string[], validity: { readonly from: Millis; readonly until: Millis }): EngineCertificates;
}
