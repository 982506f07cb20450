import { CONTROLLER_COST_MIB } from "../../domain/controller-memory.ts";
import { asLoadVector, type LoadVector } from "../../domain/load.ts";

/** What an instance was given: memory of its controller, MiB, and CPU of controller and repo-server, thousandths of a core. */
export interface InstanceSize {
  readonly controllerMiB: number;
  readonly milliCpu: number;
}

/** A controller that restarts takes up to 1.35 times what it takes in the steady state, which has to fit into its limit. */
const RESTART_PEAK = 1.35;
/** A comparison takes 8 ms, and each application has one in two to three minutes: so many for each core leave room for syncs. */
const APPLICATIONS_PER_CORE = 2_000;
const GIT_PER_CORE = 600_000;

/**
 * Capacity of an instance for which none was declared: what its memory and CPU bear, half of the memory for cluster entries
 * and half for cached resources. A start for a fleet that nobody has measured; a load test of one instance is better.
 */
export function defaultCapacity({ controllerMiB, milliCpu }: InstanceSize): LoadVector {
  const memory = Math.max(0, controllerMiB / RESTART_PEAK - CONTROLLER_COST_MIB.empty);
  const byMemory = memory / 2 / (CONTROLLER_COST_MIB.application + 12 * CONTROLLER_COST_MIB.resource);
  const applications = Math.floor(Math.min(byMemory, (milliCpu / 1_000) * APPLICATIONS_PER_CORE));
  return asLoadVector({
    applications: applications * 1_000,
    clusterEntries: Math.floor(memory / 2 / CONTROLLER_COST_MIB.entry),
    cachedResources: Math.floor(memory / 2 / CONTROLLER_COST_MIB.resource),
    milliCpu,
    gitPerMinute: Math.floor((milliCpu / 1_000) * GIT_PER_CORE),
  });
}
