import type { Instance } from "../domain/instance.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** The Applications on the engine clusters. */
export interface ApplicationsSeen {
  /** Lists every Application in the instance's namespace, whoever created it. `undefined`: its cluster cannot be reached. */
  list(instance: Pick<Instance, "engineCluster" | "namespace">, signal: AbortSignal): Promise<readonly SeenApplication[] | undefined>;
}

/** The controllers on the engine clusters. */
export interface ControllersSeen {
  /** How to ask the controllers on an engine cluster. `undefined`: they cannot be asked. */
  on(engineCluster: string, signal: AbortSignal): Promise<AskController | undefined>;
}

/**
 * Whether the controller of the instance in a namespace answers within seconds. `undefined`: it cannot be asked,
 * because its cluster or its pod cannot be reached, or it refuses the connection. A controller that accepts the
 * connection and does not answer hangs.
 */
export type AskController = (namespace: string, signal: AbortSignal) => Promise<boolean | undefined>;
