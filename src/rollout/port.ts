import type { Millis } from "../domain/clock.ts";
import type { CatalogueEntry } from "../domain/fleet.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceSight } from "../domain/rollout.ts";

export type Release = Pick<CatalogueEntry, "version" | "image" | "redisImage">;

export interface SightRequest {
  /** Those pods may run. */
  readonly releases: readonly Release[];
  /** Only crashes of pods that run this one count. */
  readonly version: string;
  /** What Argo CD has done since; `undefined`: nothing counts as done. */
  readonly since: Millis | undefined;
  /** How long after a look Argo CD looks at an application again at most, in ms. */
  readonly resyncMs: number;
}

/** What can be seen of an instance from outside. */
export interface InstanceSights {
  /** `undefined`: its cluster is not known or gave no answer. Errors are those of the Kubernetes client. */
  look(
    instance: Pick<Instance, "engineCluster" | "namespace">,
    request: SightRequest,
    signal: AbortSignal,
  ): Promise<InstanceSight | undefined>;
}
