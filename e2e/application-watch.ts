import { systemClock } from "../src/runtime/clock.ts";
import { createReflector } from "../src/runtime/kube/reflector.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { createSeededRng } from "../src/runtime/rng.ts";
import { silentLog } from "../src/telemetry/log.ts";
import { noMetrics } from "../src/telemetry/metrics.ts";
import { TYPES, type World } from "./world.ts";

/** What is looked for in an Application. */
export interface SeenApplication extends KubeObject {
  readonly spec?: { readonly source?: { readonly path?: string } };
  readonly operation?: unknown;
  readonly status?: { readonly operationState?: { readonly phase?: string } };
}

/** Sees every state of every Application, also those between two polls. */
export interface ApplicationWatch {
  /** Resolves with the first Application that fits from now on, or at once where one does. */
  first(fits: (application: SeenApplication) => boolean): Promise<SeenApplication>;
  close(): Promise<void>;
}

/** `onState` is shown every state of every Application, beginning with those they are in. */
export async function watchApplications(
  { kube, signal }: World,
  onState: (application: SeenApplication) => void = () => undefined,
): Promise<ApplicationWatch> {
  const abort = new AbortController();
  const waiting = new Set<(application: SeenApplication) => void>();
  const reflector = createReflector<SeenApplication>({
    client: kube,
    type: TYPES.application,
    project: (object) => object,
    onChange: (change) => {
      if (change.kind !== "upsert") return;
      onState(change.now);
      for (const look of waiting) look(change.now);
    },
    clock: systemClock,
    rng: createSeededRng("e2e"),
    log: silentLog,
    metrics: noMetrics,
  });
  reflector.start(abort.signal);
  await reflector.synced(signal);
  return {
    first: (fits) =>
      new Promise((resolve, reject) => {
        const look = (application: SeenApplication): void => {
          if (!fits(application)) return;
          waiting.delete(look);
          resolve(application);
        };
        waiting.add(look);
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        reflector.list().forEach(look);
      }),
    async close() {
      abort.abort();
      await reflector.stopped();
    },
  };
}
