import type { Instance } from "../domain/instance.ts";
import type { InstanceSight, SightRequest } from "../domain/rollout.ts";

/** What can be seen of an instance from outside. */
export interface InstanceSights {
  /** `undefined`: its cluster is not known or gave no answer. Errors are those of the Kubernetes client. */
  look(
    instance: Pick<Instance, "engineCluster" | "namespace">,
    request: SightRequest,
    signal: AbortSignal,
  ): Promise<InstanceSight | undefined>;
}
