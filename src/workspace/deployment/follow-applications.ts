import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import type { IntentStore } from "../../store/intent/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { parseKey, resourceKey } from "../keys.ts";
import type { RowIndex } from "./row-index.ts";

export interface ApplicationFollowerDeps {
  readonly apiCluster: string;
  readonly intents: IntentStore;
  readonly rows: RowIndex;
  /** The row of a resource changed. */
  readonly onRow: (key: string, when: "now" | "soon") => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Passes on what changed about an application to the resource it is of. */
export interface ApplicationFollower {
  /** Something about the application changed. Its resource is looked up in the database where it is not known here. */
  add(applicationId: ApplicationId, when: "now" | "soon"): void;
  start(): void;
  stop(): Promise<void>;
}

const PAGE = 500;
const EVERYTHING = "unknown";

/**
 * Creates a follower. An application is unknown here when another process recorded it, or when we did this very moment: a notification may
 * overtake the answer of the transaction that it is about.
 */
export function createApplicationFollower(deps: ApplicationFollowerDeps): ApplicationFollower {
  const { apiCluster, intents, rows, onRow } = deps;
  const waiting = new Map<ApplicationId, "now" | "soon">();

  async function lookUp(_key: string, signal: AbortSignal): Promise<void> {
    const asked = [...waiting.keys()].slice(0, PAGE);
    const unknown = asked.filter((id) => rows.keyOf(id) === undefined);
    for (const { application, workspace } of unknown.length === 0 ? [] : await intents.readByIds(unknown, signal)) {
      const key = resourceKey(workspace.apiCluster, { namespace: workspace.namespace, name: application.name });
      rows.recorded(key, { uid: application.uid, applicationId: application.id });
    }
    for (const id of asked) {
      // What was said meanwhile counts too.
      const when = waiting.get(id) ?? "soon";
      waiting.delete(id);
      const key = rows.keyOf(id);
      if (key !== undefined && parseKey(key).cluster === apiCluster) onRow(key, when);
    }
    if (waiting.size > 0) queue.add(EVERYTHING);
  }

  const queue = createKeyedQueue({ ...deps, name: "workspace-announce", concurrency: 1, work: lookUp });
  return {
    add(id, when) {
      const key = rows.keyOf(id);
      if (key !== undefined) return onRow(key, when);
      if (waiting.get(id) !== "now") waiting.set(id, when);
      queue.add(EVERYTHING);
    },
    start: queue.start,
    stop: queue.stop,
  };
}
