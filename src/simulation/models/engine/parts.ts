import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { Party } from "../../world/party.ts";
import type { Git } from "../git.ts";
import type { EngineApplication, Project } from "./application.ts";
import type { ClusterCache } from "./cluster-cache.ts";

/** One application-controller of Argo CD, with its repo-server: what it has in memory, and what it can queue. */
export interface Engine {
  readonly party: Party;
  /** Namespace of the instance. */
  readonly namespace: string;
  /** Client of the engine cluster, as the controller's own account. */
  readonly own: KubeClient;
  readonly managed: KubeClient;
  readonly git: Git;
  readonly cache: ClusterCache;
  /** How long one comparison takes, in ms: from, to. */
  readonly comparisonMs: readonly [number, number];
  application(name: string): EngineApplication | undefined;
  project(name: string): Project | undefined;
  /** Whether there is a cluster entry with this server; without one no Application reaches the cluster. */
  knowsServer(server: string): boolean;
  requestRefresh(name: string, afterMs?: number): void;
  /** Requests a refresh in a while, unless the Application is paused by then: a pause is checked when keys are queued. */
  resync(name: string, afterMs: number): void;
  requestOperation(name: string, afterMs?: number): void;
  signal: AbortSignal;
}
