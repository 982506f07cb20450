import type { Millis } from "../domain/clock.ts";
import type { Instance } from "../domain/instance.ts";
import type { InstanceObservation, ObservationRequest } from "../domain/rollout.ts";

/** Hands over what an instance holds. */
export interface Emptying {
  /**
   * Asks for live moves of what it holds and nobody is moving yet, to instances that run this release and no others. What finds no room there
   * stays, and is asked for when this is called again.
   */
  carryOn(instance: Instance, release: string, actor: string, signal: AbortSignal): Promise<void>;
  /** Gives up those that wait for their turn: it keeps what it holds. */
  giveUp(instance: Pick<Instance, "id">, actor: string, signal: AbortSignal): Promise<void>;
}

/** What can be seen of an instance from outside. */
export interface InstanceObservations {
  /** What pods did that are older than `askedAt`, when it was told to run the release, says nothing of that. `undefined`: its cluster is not known or gave no answer. Errors are those of the Kubernetes client. */
  observe(
    instance: Pick<Instance, "engineCluster" | "namespace">,
    request: ObservationRequest & { readonly askedAt?: Millis },
    signal: AbortSignal,
  ): Promise<InstanceObservation | undefined>;
}
