import type { FullInstances } from "../../domain/capacity.ts";
import type { Millis } from "../../domain/clock.ts";
import type { PoolSpec } from "../../domain/fleet.ts";
import { type InstanceVerdict, VERDICT_LASTS_MS } from "../../domain/health.ts";
import { type Instance, loadOn } from "../../domain/instance.ts";
import { addLoad, type LoadAmounts, type LoadDimension, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import { maximumOf, type ResourceLimits } from "../../domain/raised-resources.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";

/** How long it counts what an instance held when it ran out of memory, in ms: what a week does happens once within it. */
const FULL_MS = 7 * 24 * 3_600_000;
/** What memory of a controller is taken by. */
const IN_MEMORY: readonly LoadDimension[] = ["applications", "clusterEntries", "cachedResources"];

export interface FullFacts {
  /** Of one class. */
  readonly instances: readonly Instance[];
  readonly units: readonly { readonly unit: Pick<PlacementUnit, "owner" | "load"> }[];
  readonly verdicts: readonly Pick<InstanceVerdict, "instanceId" | "cause" | "component" | "at">[];
  /** Pools that let resources be raised, and which instances cannot be given more all the same. */
  readonly raisable: readonly PoolSpec[];
  readonly limits: ResourceLimits;
  readonly at: Millis;
}

/**
 * What instances held when their controllers ran out of memory, of those that cannot be given more: they bear no more than that, whatever is declared. It counts for
 * a week after it was seen last, and no longer once the instance was given other resources.
 */
export function nextFull(before: FullInstances, facts: FullFacts): FullInstances {
  const entries = facts.instances.flatMap((instance): readonly (readonly [string, FullInstances[string]])[] => {
    const known = before[instance.id];
    const held = heldBy(instance, facts);
    if (isOutOfMemory(instance, facts) && held !== undefined) return [[instance.id, { at: facts.at, load: held }]];
    const isCounted = known !== undefined && facts.at - known.at < FULL_MS && (instance.raised?.at ?? 0) <= known.at;
    return isCounted ? [[instance.id, known]] : [];
  });
  return Object.fromEntries(entries);
}

/** What an instance bears: no more of what takes memory than it held when that ran out. */
export function capacityOfFull(capacity: LoadVector, full: { readonly load: LoadAmounts } | undefined): LoadVector {
  if (full === undefined) return capacity;
  return loadVector((dimension) =>
    IN_MEMORY.includes(dimension) ? Math.min(capacity[dimension], full.load[dimension]) : capacity[dimension],
  );
}

function isOutOfMemory({ id, pool: name }: Instance, { verdicts, raisable, limits, at }: FullFacts): boolean {
  const verdict = verdicts.find(({ instanceId }) => instanceId === id);
  const isShort = verdict?.cause === "memory" && verdict.component === "controller" && at - verdict.at <= VERDICT_LASTS_MS;
  const pool = raisable.find((each) => each.name === name);
  const isRaised = pool !== undefined && maximumOf(pool, "controller.memory") !== undefined && limits[id]?.amount !== "controller.memory";
  return isShort && !isRaised;
}

/** `undefined`: nothing. A controller that runs out of memory without any workspace is not helped by more instances. */
function heldBy(instance: Instance, { units }: FullFacts): LoadVector | undefined {
  const own = units.filter(({ unit }) => unit.owner === instance.id);
  const load = own.reduce((sum, { unit }) => addLoad(sum, unit.load), ZERO_LOAD);
  return own.length === 0 ? undefined : loadOn(instance, load, own.length);
}
