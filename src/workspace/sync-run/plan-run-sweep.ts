import type { Millis } from "../../domain/clock.ts";
import { isFinished, type RunPhase } from "../../domain/sync-run.ts";
import type { ObservedResource } from "../../domain/user-resource.ts";
import { resourceKey } from "../keys.ts";
import { parseRun } from "./parse-run.ts";

export interface KnownRunRow {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly phase: RunPhase;
  readonly finishedAt: Millis | undefined;
  readonly isPublished: boolean;
}

export interface RunSweepFacts {
  readonly cluster: string;
  readonly rows: readonly KnownRunRow[];
  readonly resources: readonly ObservedResource[];
  readonly isMine: (namespace: string) => boolean;
}

/** What a comparison of all rows with all resources asks to be looked at, sorted. */
export interface RunSweepPlan {
  readonly keys: readonly string[];
  /** Rows whose resource cannot be seen; whether it is gone the API server has to say. */
  readonly suspects: readonly KnownRunRow[];
}

/** A run is looked at unless it has ended, its user knows, and nobody wishes it away some time later. */
export function planRunSweep({ cluster, rows, resources, isMine }: RunSweepFacts): RunSweepPlan {
  const known = new Map(rows.map((row) => [row.uid, row]));
  const present = new Set(resources.map(({ uid }) => uid));
  const isSettled = (resource: ObservedResource): boolean => {
    const row = known.get(resource.uid);
    return row !== undefined && isFinished(row.phase) && row.isPublished && !mayExpire(resource);
  };
  const keys = resources.filter((resource) => isMine(resource.namespace) && !isSettled(resource)).map((one) => resourceKey(cluster, one));
  return { keys: keys.sort(), suspects: rows.filter((row) => isMine(row.namespace) && !present.has(row.uid)) };
}

function mayExpire(resource: ObservedResource): boolean {
  const parsed = parseRun(resource);
  return parsed.ok && parsed.request.ttlMs !== undefined;
}
