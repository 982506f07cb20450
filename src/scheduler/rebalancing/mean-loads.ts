import type { Millis } from "../../domain/clock.ts";
import type { InstanceId } from "../../domain/ids.ts";
import { type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { MeanLoads } from "../../domain/rebalancing.ts";
import { ewma } from "../load/planning-load.ts";

/** One sample of an instance is of a few minutes, and a few deployments more or less change it. */
export const MEAN_MS = 30 * 60_000;

/** What all instances together were measured to have. */
export function totalMean(means: MeanLoads): LoadVector {
  return Object.values(means).reduce<LoadVector>((sum, { load }) => loadVector((dimension) => sum[dimension] + load[dimension]), ZERO_LOAD);
}

/** The means after the newest samples; an instance that has none is left out. */
export function nextMeanLoads(
  known: MeanLoads,
  samples: readonly { readonly instanceId: InstanceId; readonly at: Millis; readonly total: LoadVector }[],
): MeanLoads {
  return Object.fromEntries(
    samples.map(({ instanceId, at, total }) => {
      const was = known[instanceId];
      if (was === undefined) return [instanceId, { load: total, at }];
      if (at <= was.at) return [instanceId, was];
      const elapsed = (at - was.at) / MEAN_MS;
      return [instanceId, { load: loadVector((dimension) => ewma(was.load[dimension], total[dimension], elapsed)), at }];
    }),
  );
}
