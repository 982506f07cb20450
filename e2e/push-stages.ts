import { ANNOTATION_REFRESH } from "../src/shard/names.ts";
import { type SeenApplication, watchApplications } from "./application-watch.ts";
import type { World } from "./world.ts";

/** When a push reached each stage, by the clock of this process. `undefined`: that was not observed. */
export interface Stages {
  /** A refresh was requested from Argo CD. */
  readonly askedAt: number | undefined;
  /** Argo CD had compared: the request is gone. */
  readonly observedAt: number | undefined;
  /** It had a sync to carry out. */
  readonly syncedAt: number | undefined;
}

/** Observes how far the last push to each namespace has come. Each namespace has one Application. */
export interface StageWatch {
  /** What was observed since that time. */
  since(namespace: string, atMs: number): Stages;
  close(): Promise<void>;
}

interface Marks {
  readonly asked: number[];
  readonly observed: number[];
  readonly synced: number[];
}

export async function watchStages(world: World, namespaces: readonly string[]): Promise<StageWatch> {
  const marks = new Map(namespaces.map((namespace): [string, Marks] => [namespace, { asked: [], observed: [], synced: [] }]));
  const last = new Map<string, { readonly isAsked: boolean; readonly startedAt: string | undefined }>();
  const watch = await watchApplications(world, (application) => {
    const namespace = destinationOf(application);
    const own = marks.get(namespace);
    if (own === undefined) return;
    const was = last.get(namespace);
    const isAsked = application.metadata.annotations?.[ANNOTATION_REFRESH] !== undefined;
    const startedAt = application.status?.operationState?.startedAt;
    last.set(namespace, { isAsked, startedAt });
    if (was === undefined) return;
    if (isAsked && !was.isAsked) own.asked.push(performance.now());
    if (!isAsked && was.isAsked) own.observed.push(performance.now());
    if (startedAt !== was.startedAt) own.synced.push(performance.now());
  });
  const first = (times: readonly number[] | undefined, atMs: number) => times?.find((time) => time >= atMs);
  return {
    since(namespace, atMs) {
      const own = marks.get(namespace);
      return { askedAt: first(own?.asked, atMs), observedAt: first(own?.observed, atMs), syncedAt: first(own?.synced, atMs) };
    },
    close: () => watch.close(),
  };
}

function destinationOf({ spec }: SeenApplication): string {
  return spec?.destination?.namespace ?? "";
}
