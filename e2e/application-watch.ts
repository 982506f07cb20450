import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { reflect } from "./reflect.ts";
import { TYPES, type World } from "./world.ts";

/** The part of an Application that stories wait for. */
export interface SeenApplication extends KubeObject {
  readonly spec?: { readonly source?: { readonly path?: string }; readonly destination?: { readonly namespace?: string } };
  readonly operation?: unknown;
  readonly status?: {
    readonly sync?: { readonly status?: string };
    readonly reconciledAt?: string;
    readonly operationState?: {
      readonly phase?: string;
      readonly startedAt?: string;
      readonly finishedAt?: string;
      readonly syncResult?: { readonly revision?: string };
    };
  };
}

/** Sees every state of every Application, also those between two polls. */
export interface ApplicationWatch {
  /** Resolves with the first Application that matches: at once if one does now, else the next one that will. */
  first(fits: (application: SeenApplication) => boolean): Promise<SeenApplication>;
  close(): Promise<void>;
}

/** `onState` gets every state of every Application, beginning with the present ones. */
export async function watchApplications(
  world: World,
  onState: (application: SeenApplication) => void = () => undefined,
): Promise<ApplicationWatch> {
  const waiting = new Set<(application: SeenApplication) => void>();
  const applications = await reflect<SeenApplication>(world, { type: TYPES.application }, (change) => {
    if (change.kind !== "upsert") return;
    onState(change.now);
    for (const observe of waiting) observe(change.now);
  });
  return {
    first: (fits) =>
      new Promise((resolve, reject) => {
        const observe = (application: SeenApplication): void => {
          if (!fits(application)) return;
          waiting.delete(observe);
          resolve(application);
        };
        waiting.add(observe);
        world.signal.addEventListener("abort", () => reject(world.signal.reason), { once: true });
        applications.list().forEach(observe);
      }),
    close: () => applications.close(),
  };
}
