import type { Millis } from "../domain/clock.ts";
import type { Instance, InstancePlace } from "../domain/instance.ts";
import type { InstanceObservation, ObservationRequest } from "../domain/rollout.ts";

/** Empties an instance for a rollout, by live moves. */
export interface Emptying {
  /**
   * Requests live moves of all its units that are not being moved yet, to instances that run this release only. A
   * unit without a candidate stays, and is requested again with the next call.
   */
  carryOn(instance: Instance, release: string, actor: string, signal: AbortSignal): Promise<void>;
  /** Aborts the moves that wait for their turn. The instance keeps their units. */
  giveUp(instance: Pick<Instance, "id">, actor: string, signal: AbortSignal): Promise<void>;
}

/** Observes instances from outside. */
export interface InstanceObservations {
  /**
   * Observes pods and Applications, and has the Applications watched from then on. `undefined`: the cluster is not declared or did not answer.
   * Errors are those of the Kubernetes client.
   */
  observe(instance: InstancePlace, request: RolloutObservationRequest, signal: AbortSignal): Promise<InstanceObservation | undefined>;
  /** Ends the watches of all other instances. */
  watchOnly(instances: readonly InstancePlace[]): void;
  /** Ends all watches, and resolves when they have ended. */
  rest(): Promise<void>;
}

export interface RolloutObservationRequest extends ObservationRequest {
  /** When the release was assigned: events of pods before that say nothing about it. */
  readonly askedAt?: Millis;
  /** Whether the Applications are listed anew, and not taken as a watch reports them. */
  readonly isAfresh?: boolean;
}
