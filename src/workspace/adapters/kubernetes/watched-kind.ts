import type { Clock } from "../../../domain/clock.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { ObservedResource } from "../../../domain/user-resource.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type CustomResources, createCustomResources } from "../../../runtime/kube/custom-resources/custom-resources.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { API_GROUP, API_VERSION, STATUS_MANAGER, USER_KINDS, type UserKind } from "../../api/names.ts";
import { parseResource, resourceDiffersInRequest, withoutContent } from "../../parse-resource.ts";
import { byAge } from "../../quota.ts";

export interface WatchedKindOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly kind: UserKind;
}

/**
 * How many resources of one kind are kept whole of one namespace: several times what any quota lets in. Of a kind whose resources say much (an environment
 * up to a thousand namespaces), a namespace could otherwise fill the memory of whoever serves everybody. Runs say little, and old ones are many.
 */
const KEPT_WHOLE = 1_000;

interface Versioned extends ObservedResource {
  readonly resourceVersion: string;
}

export type WatchedKind = CustomResources<Versioned>;

export function watchedTypeOf({ kind, plural }: UserKind): ResourceType {
  return { group: API_GROUP, version: API_VERSION, plural, kind, namespaced: true };
}

/** Watches all resources of one of the users' kinds on the cluster that `client` speaks to, and writes their status. */
export function createWatchedKind({ kind, ...options }: WatchedKindOptions): WatchedKind {
  return createCustomResources<Versioned>({
    ...options,
    type: watchedTypeOf(kind),
    rng: options.rng.fork(kind.plural),
    project: parseVersioned,
    order: byAge,
    ...(kind === USER_KINDS.syncRun ? {} : { bound: { whole: KEPT_WHOLE, reduce: withoutContent<Versioned> } }),
    isChange: resourceDiffersInRequest,
    statusManager: STATUS_MANAGER,
    withStatus: (seen, { resourceVersion, conditions, observedGeneration }) => ({
      ...seen,
      resourceVersion,
      conditions,
      observedGeneration,
    }),
  });
}

function parseVersioned(raw: KubeObject): Versioned | undefined {
  const observed = parseResource(raw);
  return observed && { ...observed, resourceVersion: raw.metadata.resourceVersion ?? "" };
}
