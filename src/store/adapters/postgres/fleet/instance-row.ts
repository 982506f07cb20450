import type { Millis } from "../../../../domain/clock.ts";
import type { InstanceId } from "../../../../domain/ids.ts";
import type { Entries, Halt, Instance, InstanceCause, InstanceState, RaisedResources } from "../../../../domain/instance.ts";
import { loadOfRow } from "../rows.ts";

/** Columns of an instance `i`, as {@link instanceOf} reads them. */
export const INSTANCE = `i.id, i.name, i.engine_cluster, i.namespace, i.pool, i.class, i.entries, i.version, i.desired_version, i.state, i.state_since, i.reason, i.cause,
       i.attempt, i.capacity, i.weight, i.applied_hash, i.left_hash, i.halt, i.fails_over, i.raised, i.revision`;

export interface InstanceRow {
  readonly id: InstanceId;
  readonly name: string;
  readonly engine_cluster: string;
  readonly namespace: string;
  readonly pool: string;
  readonly class: string;
  readonly entries: Entries;
  readonly version: string;
  readonly desired_version: string;
  readonly state: InstanceState;
  readonly state_since: Millis;
  readonly reason: string;
  readonly cause: InstanceCause | null;
  readonly attempt: number;
  readonly capacity: readonly number[];
  readonly weight: number;
  readonly applied_hash: string;
  readonly left_hash: string | null;
  readonly halt: Halt;
  readonly fails_over: boolean;
  readonly raised: RaisedResources | null;
  readonly revision: number;
}

export function instanceOf(row: InstanceRow): Instance {
  const { id, name, namespace, pool, version, state, reason, attempt, weight, revision } = row;
  return {
    id,
    name,
    engineCluster: row.engine_cluster,
    namespace,
    pool,
    class: row.class,
    entries: row.entries,
    version,
    desiredVersion: row.desired_version,
    state,
    stateSince: row.state_since,
    halt: row.halt,
    failsOver: row.fails_over,
    reason,
    cause: row.cause ?? undefined,
    attempt,
    capacity: loadOfRow(row.capacity),
    ...(row.raised === null ? {} : { raised: row.raised }),
    weight,
    appliedHash: row.applied_hash,
    ...(row.left_hash === null ? {} : { leftHash: row.left_hash }),
    revision,
  };
}
