import type { Instance } from "../domain/instance.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** What stands on the engine clusters. */
export interface ApplicationsSeen {
  /** Every Application in the instance's namespace, whoever made it. `undefined`: its cluster cannot be reached, so that nothing is known. */
  list(instance: Pick<Instance, "engineCluster" | "namespace">, signal: AbortSignal): Promise<readonly SeenApplication[] | undefined>;
}

/** What runs there. */
export interface ControllersSeen {
  /** How the controllers on an engine cluster are asked; `undefined`: nobody can ask them. */
  on(engineCluster: string, signal: AbortSignal): Promise<AskController | undefined>;
}

/**
 * Whether the controller of the instance in a namespace answers within seconds. `undefined`: that cannot be asked, because its cluster or
 * its pod is away or nothing listens there. One that is asked and says nothing stands still.
 */
export type AskController = (namespace: string, signal: AbortSignal) => Promise<boolean | undefined>;
