import type { InstancePlace } from "../domain/instance.ts";
import type { SeenApplication } from "../domain/seen-application.ts";

/** The Applications on the engine clusters. */
export interface ApplicationsSeen {
  /**
   * Lists every Application in the instance's namespace from the API server, whoever created it, and has its cluster watched from then on.
   * `undefined`: the cluster cannot be reached, or refuses that.
   */
  list(instance: InstancePlace, signal: AbortSignal): Promise<readonly SeenApplication[] | undefined>;
  /** The same as a watch has reported it last. `undefined`: the cluster is not watched, or its watch is silent. */
  reported(instance: InstancePlace): readonly SeenApplication[] | undefined;
  /** Ends the watches, and resolves when they have ended. */
  rest(): Promise<void>;
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
