import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { Party } from "../../world/party.ts";
import type { Git } from "../git.ts";
import type { EngineApplication, Project } from "./application.ts";
import type { ClusterCache } from "./cluster-cache.ts";

/** One application-controller of Argo CD, with its repo-server: what it holds in memory and what it does with it. */
export interface Engine {
  readonly party: Party;
  /** Namespace of the instance. */
  readonly namespace: string;
  /** Client of the engine cluster, as the controller's own account. */
  readonly own: KubeClient;
  readonly managed: KubeClient;
  readonly git: Git;
  readonly cache: ClusterCache;
  /** What one comparison takes, in ms: from, to. */
  readonly comparisonMs: readonly [number, number];
  application(name: string): EngineApplication | undefined;
  project(name: string): Project | undefined;
  /** Whether the entry of this server is there; applications cannot reach a cluster without it. */
  knowsServer(server: string): boolean;
  requestRefresh(name: string, afterMs?: number): void;
  /** Looks at it in a while, unless it is paused then: that is looked at when events are queued. */
  resync(name: string, afterMs: number): void;
  requestOperation(name: string, afterMs?: number): void;
  signal: AbortSignal;
}
