import type { ObservedInstance } from "../../domain/engine.ts";
import { InputError, RefusedError, UnavailableError } from "../../domain/errors.ts";
import type { Instance } from "../../domain/instance.ts";
import type { EngineClusterPort, EngineClusters } from "../port.ts";
import { reasonOf } from "../reason.ts";

export interface Observation {
  /** Absent when it cannot be asked for anything now. */
  readonly cluster: EngineClusterPort | undefined;
  readonly observed: ObservedInstance;
}

/** Looks at an instance. A cluster that is away is a fact to decide from, not a failure: a creation that waits for it has a deadline. */
export async function observeInstance(clusters: EngineClusters, instance: Instance, signal: AbortSignal): Promise<Observation> {
  const unknown = (reason: string): Observation => ({ cluster: undefined, observed: { namespace: "unknown", reason } });
  try {
    const cluster = await clusters.get(instance.engineCluster);
    if (cluster === undefined) return unknown(`engine cluster ${instance.engineCluster} is not declared or has no credentials`);
    return { cluster, observed: await cluster.observe(instance, signal) };
  } catch (error) {
    if (signal.aborted || !(error instanceof UnavailableError || error instanceof RefusedError || error instanceof InputError)) throw error;
    return unknown(`engine cluster ${instance.engineCluster}: ${reasonOf(error)}`);
  }
}
