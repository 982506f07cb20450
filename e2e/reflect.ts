import { systemClock } from "../src/runtime/clock.ts";
import { createReflector, type ReflectorChange } from "../src/runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { createSeededRng } from "../src/runtime/rng.ts";
import { silentLog } from "../src/telemetry/log.ts";
import { noMetrics } from "../src/telemetry/metrics.ts";
import type { World } from "./world.ts";

/** Sees every state of every object of a kind, also those between two polls. */
export interface Reflected<T> {
  list(): readonly T[];
  close(): Promise<void>;
}

/** Resolves once `onChange` has got the present states. Without a namespace: of all namespaces. */
export async function reflect<T extends KubeObject>(
  { kube, signal }: Pick<World, "kube" | "signal">,
  { type, namespace }: { readonly type: ResourceType; readonly namespace?: string },
  onChange: (change: ReflectorChange<T>) => void,
): Promise<Reflected<T>> {
  const abort = new AbortController();
  const reflector = createReflector<T>({
    ...{ client: kube, type, ...(namespace === undefined ? {} : { namespace }), onChange },
    project: (object) => object as T,
    ...{ clock: systemClock, rng: createSeededRng("e2e"), log: silentLog, metrics: noMetrics },
  });
  reflector.start(abort.signal);
  await reflector.synced(signal);
  return {
    list: () => reflector.list(),
    async close() {
      abort.abort();
      await reflector.stopped();
    },
  };
}
