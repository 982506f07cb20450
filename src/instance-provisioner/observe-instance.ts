import type { Clock } from "../domain/clock.ts";
import type { ObservedInstance } from "../domain/engine.ts";
import { InputError, RefusedError, UnavailableError } from "../domain/errors.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { FleetStore } from "../store/fleet/port.ts";
import { changeReasonOf } from "./change.ts";
import { type Declaration, declarationOf } from "./declaration.ts";
import type { FilterParameters } from "./manifests/parameters.ts";
import type { InstanceFacts } from "./next-step.ts";
import type { EngineClusterPort, EngineClusters } from "./port.ts";

interface Observation {
  /** Absent: it cannot be reached now. */
  readonly cluster: EngineClusterPort | undefined;
  readonly observed: ObservedInstance;
}

/**
 * Observes an instance. A cluster that does not answer is a fact for the decision, not an error, because a creation
 * that waits for it has a deadline.
 */
async function observeInstance(clusters: EngineClusters, instance: Instance, signal: AbortSignal): Promise<Observation> {
  const unknown = (reason: string): Observation => ({ cluster: undefined, observed: { namespace: "unknown", reason } });
  try {
    const cluster = await clusters.get(instance.engineCluster);
    if (cluster === undefined) return unknown(`engine cluster ${instance.engineCluster} is not declared or has no credentials`);
    return { cluster, observed: await cluster.observe(instance, signal) };
  } catch (error) {
    if (signal.aborted || !(error instanceof UnavailableError || error instanceof RefusedError || error instanceof InputError)) throw error;
    return unknown(`engine cluster ${instance.engineCluster}: ${changeReasonOf(error)}`);
  }
}

/** What one run of the controller knows of an instance. */
export interface Scene {
  readonly facts: InstanceFacts;
  readonly declaration: Declaration;
  readonly cluster: EngineClusterPort | undefined;
  /** Of the declared fleet; absent: none is declared. */
  readonly fleetRevision: number | undefined;
}

export interface SceneDeps {
  readonly fleet: FleetStore;
  readonly clusters: EngineClusters;
  readonly systemNamespace: string;
  readonly filter?: FilterParameters | undefined;
  readonly clock: Clock;
}

/**
 * Reads everything a step is decided from. Units are counted only in states in which no new ones can come, and after
 * that state was read.
 */
export async function readScene(deps: SceneDeps, id: InstanceId, signal: AbortSignal): Promise<Scene | undefined> {
  const { fleet, clusters, clock } = deps;
  const instance = await fleet.readInstance(id, signal);
  if (instance === undefined) return undefined;
  const declared = await fleet.readFleet(signal);
  const declaration = declarationOf(instance, declared?.spec, deps);
  const { cluster, observed } = await observeInstance(clusters, instance, signal);
  const isLeaving = instance.state === "DRAINING" || instance.state === "RETIRED";
  const units = isLeaving ? ((await fleet.countUnits(signal)).get(id) ?? 0) : 0;
  return {
    declaration,
    cluster,
    fleetRevision: declared?.revision,
    facts: { instance, observed, wanted: declaration, units, now: clock.now() },
  };
}
