import { LABEL_UNIT } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { type SeenApplication, watchApplications } from "./application-watch.ts";
import type { World } from "./world.ts";

/** A sync as an Application shows it: the present or last one, and later an entry of its history. */
export interface SeenSync {
  readonly application: string;
  /** As Argo CD reports it, to the second: it identifies a sync of an application. */
  readonly startedAt: string;
  readonly revision: string;
  /** What was synced of the repository, as JSON. */
  readonly source: string;
}

interface Reported {
  readonly startedAt?: string;
  readonly syncResult?: { readonly revision?: string; readonly source?: unknown };
}

interface Entry {
  readonly deployStartedAt?: string;
  readonly revision?: string;
  readonly source?: unknown;
}

/** The syncs that one state of an Application shows. A requested sync that has not begun shows later. */
export function syncsOf(application: KubeObject): readonly SeenSync[] {
  const { status } = application as KubeObject & {
    readonly status?: { readonly operationState?: Reported; readonly history?: readonly Entry[] };
  };
  const { startedAt, syncResult } = status?.operationState ?? {};
  const last = { startedAt, revision: syncResult?.revision, source: syncResult?.source };
  const before = (status?.history ?? []).map((entry) => ({ ...entry, startedAt: entry.deployStartedAt }));
  return [last, ...before].flatMap(({ startedAt: at, revision, source }) =>
    at === undefined || revision === undefined || revision === ""
      ? []
      : [{ application: application.metadata.name, startedAt: at, revision, source: JSON.stringify(source ?? {}) }],
  );
}

/** Syncs that repeat an earlier one of the application: the same revision of the same source, begun at another time. */
export function secondSyncs(seen: readonly SeenSync[]): readonly SeenSync[] {
  const whatOf = ({ application, revision, source }: SeenSync): string => [application, revision, source].join(" ");
  const first = new Map<string, SeenSync>();
  const inOrder = [...seen].sort((a, b) => (a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0));
  return inOrder.filter((sync) => {
    const known = first.get(whatOf(sync));
    first.set(whatOf(sync), known ?? sync);
    return known !== undefined && known.startedAt !== sync.startedAt;
  });
}

/** Observes every sync of a unit's Applications, on any instance. */
export interface SyncWatch {
  /** All syncs so far, each once. */
  seen(): readonly SeenSync[];
  close(): Promise<void>;
}

export async function watchSyncs(world: World, unitId: string): Promise<SyncWatch> {
  const known = new Map<string, SeenSync>();
  const observation = (application: SeenApplication): void => {
    if (application.metadata.labels?.[LABEL_UNIT] !== unitId) return;
    for (const sync of syncsOf(application)) known.set(Object.values(sync).join(" "), sync);
  };
  const watch = await watchApplications(world, observation);
  return { seen: () => [...known.values()], close: () => watch.close() };
}
