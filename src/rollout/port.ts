import type { Millis } from "../domain/clock.ts";
import type { Instance } from "../domain/instance.ts";
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
   * Observes pods and Applications. Events of pods before `askedAt`, when the release was assigned, say nothing about
   * it. `undefined`: the cluster is not declared or did not answer. Errors are those of the Kubernetes client.
   */
  observe(
    instance: Pick<Instance, "engineCluster" | "namespace">,
    request: ObservationRequest & { readonly askedAt?: Millis },
    signal: AbortSignal,
  ): Promise<InstanceObservation | undefined>;
}
