import type { Instance } from "../domain/instance.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** What stands on the engine clusters. */
export interface ApplicationsSeen {
  /** Every Application in the instance's namespace, whoever made it. `undefined`: its cluster cannot be reached, so that nothing is known. */
  list(instance: Pick<Instance, "engineCluster" | "namespace">, signal: AbortSignal): Promise<readonly SeenApplication[] | undefined>;
}
