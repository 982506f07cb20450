import type { Clock } from "../../../../domain/clock.ts";
import type { Decision } from "../../../../domain/decision.ts";
import { GoneError, RefusedError, StaleError } from "../../../../domain/errors.ts";
import type { InstanceId } from "../../../../domain/ids.ts";
import type { Instance, InstanceCause, RaisedResources } from "../../../../domain/instance.ts";
import type { FleetStore, InstanceChange } from "../../../fleet/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { loadValues } from "../rows.ts";
import { instant, numbers, sqlText } from "../sql-values.ts";
import { declareFleet } from "./declared-fleet.ts";
import { INSTANCE, type InstanceRow, instanceOf } from "./instance-row.ts";

const LIST: Statement = { name: "list_instances", text: `select ${INSTANCE} from instance i order by i.id` };

const READ: Statement = { name: "read_instance", text: `select ${INSTANCE} from instance i where i.id = $1` };

/** Neither its id, nor its name, nor its namespace may be anybody's yet. */
const INSERT: Statement = {
  name: "insert_instance",
  text: `
with inserted as (
  insert into instance (id, name, engine_cluster, namespace, pool, class, version, desired_version, state, state_since, reason, attempt, capacity, weight, applied_hash, revision, halt, fails_over, cause, entries, raised)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::bigint[], $14, $15, $16, $24, $25, $26::json, $27, $28::json)
  on conflict do nothing
  returning id
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $17, $18, $19, $20, $21, $22, $23::json from inserted
)
select pg_notify('argosy', 'instance:' || id) from inserted`,
};

const CHANGE: Statement = {
  name: "change_instance",
  text: `
with changed as (
  update instance i
     set state = $3, state_since = case when i.state = $3 then i.state_since else $4 end, reason = $5, cause = $21::json, attempt = $6,
         version = coalesce($7, i.version), applied_hash = coalesce($8, i.applied_hash),
         capacity = coalesce($16::bigint[], i.capacity), weight = coalesce($17::integer, i.weight), halt = coalesce($18, i.halt),
         fails_over = coalesce($19, i.fails_over), desired_version = coalesce($20, i.desired_version),
         raised = coalesce($22::json, i.raised), revision = i.revision + 1
   where i.id = $1 and i.revision = $2
  returning ${INSTANCE}
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $9, $10::timestamptz, $11, $12, $13, $14, $15::json from changed where $9::text is not null
), notifications as materialized (
  select count(pg_notify('argosy', 'instance:' || id)) as sent from changed
)
select changed.* from changed cross join notifications`,
};

/** No revision is raised and nobody is notified: nothing is decided by it but what the next process of the instance need not write. */
const NOTE_LEFT: Statement = { name: "note_instance_left", text: "update instance set left_hash = $2 where id = $1" };

/** Waits for first placements that hold the row. The next statement then sees what they have done, and they what it does. */
const LOCK: Statement = { name: "lock_instance", text: "select i.id from instance i where i.id = $1 for no key update" };

/**
 * Waits for everybody who is sending away an instance of this one's class. Whoever waited reads the rows as they are then, and leaves out those
 * that have left meanwhile: the ids of the class's other instances that are still ACTIVE come back. In one order, so that nobody waits in a ring.
 */
const LOCK_ACTIVE: Statement = {
  name: "lock_active_instances",
  text: `
select i.id from instance i
 where i.state = 'ACTIVE' and i.class = (select one.class from instance one where one.id = $1)
 order by i.id for no key update`,
};

/** Waits for everybody who gives resources to an instance of this one's class, and then sees what they have done. In one order, so that nobody waits in a ring. */
const LOCK_CLASS: Statement = {
  name: "lock_instances_of_class",
  text: `
select i.id, i.raised -> 'before' is not null as is_raised from instance i
 where i.state <> 'RETIRED' and i.class = (select one.class from instance one where one.id = $1)
 order by i.id for no key update`,
};

const HOLDS: Statement = {
  name: "holds_unit",
  text: `
select exists (select from placement_unit where owner = $1)
    or exists (select from move where ended_at is null and $1 in (from_instance, to_instance)) as holds`,
};

const COUNT_UNITS: Statement = {
  name: "count_units",
  text: `
select owner, count(*) as units
  from (select owner, id from placement_unit where owner is not null
        union select from_instance, unit from move where ended_at is null
        union select to_instance, unit from move where ended_at is null) as u
 group by owner order by owner`,
};

const NO_DECISION: readonly null[] = [null, null, null, null, null, null, null];

type Instances = Pick<
  FleetStore,
  "listInstances" | "readInstance" | "insertInstance" | "changeInstance" | "retireInstance" | "noteLeft" | "countUnits"
>;

export function createInstances(database: Database, clock: Clock, ids: DecisionIds): Instances {
  return {
    listInstances: async (signal) => (await database.run<InstanceRow>(LIST, [], signal)).map(instanceOf),
    async readInstance(id, signal) {
      const [row] = await database.run<InstanceRow>(READ, [id], signal);
      return row === undefined ? undefined : instanceOf(row);
    },
    insertInstance: async (instance, decision, signal) =>
      (await database.run(INSERT, insertValues(instance, ids, decision), signal)).length > 0,
    changeInstance: (change, signal) => {
      const values = changeValues(change, clock, ids);
      if (change.onlyIfNotLast === true) return changeNotLast(database, values, signal);
      if (change.onlyIfNoneRaised === true) return changeWhereNoneIsRaised(database, values, signal);
      return change.onlyIfEmpty === true
        ? changeEmpty(database, values, { signal, also: nothing })
        : changeInstance(database, values, signal);
    },
    retireInstance: (change, fleet, signal) => {
      const also = async (run: Run): Promise<void> => {
        if (fleet !== undefined) await declareFleet(run, { clock, ids }, fleet);
      };
      return changeEmpty(database, changeValues(change, clock, ids), { signal, also });
    },
    async noteLeft(id, leftHash, signal) {
      await database.run(NOTE_LEFT, [id, leftHash], signal);
    },
    async countUnits(signal) {
      const rows = await database.run<{ readonly owner: InstanceId; readonly units: number }>(COUNT_UNITS, [], signal);
      return new Map(rows.map(({ owner, units }) => [owner, units]));
    },
  };
}

function insertValues(instance: Instance, ids: DecisionIds, decision: Decision): readonly unknown[] {
  const {
    id,
    name,
    engineCluster,
    namespace,
    pool,
    version,
    desiredVersion,
    state,
    stateSince,
    reason,
    attempt,
    capacity,
    weight,
    appliedHash,
    revision,
  } = instance;
  const life = [state, instant(stateSince), sqlText(reason), attempt, numbers(loadValues(capacity)), weight, appliedHash, revision];
  return [
    id,
    name,
    engineCluster,
    namespace,
    pool,
    instance.class,
    version,
    desiredVersion,
    ...life,
    ...decisionValues(ids, decision),
    instance.halt,
    instance.failsOver,
    jsonValue(instance.cause),
    instance.entries,
    jsonValue(instance.raised),
  ];
}

function changeValues(change: InstanceChange, clock: Clock, ids: DecisionIds): readonly unknown[] {
  const {
    id,
    revision,
    state,
    reason,
    cause,
    attempt,
    version,
    appliedHash,
    capacity,
    weight,
    halt,
    failsOver,
    desiredVersion,
    raised,
    decision,
  } = change;
  const journal = decision === undefined ? NO_DECISION : decisionValues(ids, decision);
  const size = [capacity === undefined ? null : numbers(loadValues(capacity)), weight ?? null];
  const more = [halt ?? null, failsOver ?? null, desiredVersion ?? null];
  return [
    id,
    revision,
    state,
    instant(clock.now()),
    sqlText(reason),
    attempt,
    version ?? null,
    appliedHash ?? null,
    ...journal,
    ...size,
    ...more,
    jsonValue(cause),
    jsonValue(raised),
  ];
}

function jsonValue(value: InstanceCause | RaisedResources | undefined): string | null {
  return value === undefined ? null : sqlText(JSON.stringify(value));
}

async function changeInstance(database: Database, values: readonly unknown[], signal: AbortSignal): Promise<Instance> {
  const [row] = await database.run<InstanceRow>(CHANGE, values, signal);
  return row === undefined ? whyUnchanged(database, values, signal) : instanceOf(row);
}

interface EmptyChange {
  readonly signal: AbortSignal;
  /** What happens in the same transaction once the instance is changed. */
  readonly also: (run: Run) => Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

/** The check stands between lock and change: asked in the change itself it would be answered by what was there before the lock. */
async function changeEmpty(database: Database, values: readonly unknown[], { signal, also }: EmptyChange): Promise<Instance> {
  const [id, revision] = values as readonly [InstanceId, number];
  const outcome = await database.transaction<InstanceRow | "held" | undefined>(
    "change_empty_instance",
    async (run) => {
      await run(LOCK, [id]);
      const [unit] = await run<{ readonly holds: boolean }>(HOLDS, [id]);
      if (unit?.holds === true) return "held";
      const [changed] = await run<InstanceRow>(CHANGE, values);
      if (changed !== undefined) await also(run);
      return changed;
    },
    signal,
  );
  if (outcome === undefined) return whyUnchanged(database, values, signal);
  if (outcome !== "held") return instanceOf(outcome);
  throw new StaleError("sending an instance away that was given a unit meanwhile", {
    code: "store.instance-held",
    context: { instance: id, revision },
  });
}

/** Two that are given resources at the same moment lock the same rows: the second one finds the first one's change. */
async function changeWhereNoneIsRaised(database: Database, values: readonly unknown[], signal: AbortSignal): Promise<Instance> {
  const [id, revision] = values as readonly [InstanceId, number];
  const outcome = await database.transaction<InstanceRow | "raised" | undefined>(
    "change_raised_instance",
    async (run) => {
      const rows = await run<{ readonly id: InstanceId; readonly is_raised: boolean }>(LOCK_CLASS, [id]);
      if (rows.some((one) => one.id !== id && one.is_raised)) return "raised";
      return (await run<InstanceRow>(CHANGE, values))[0];
    },
    signal,
  );
  if (outcome === undefined) return whyUnchanged(database, values, signal);
  if (outcome !== "raised") return instanceOf(outcome);
  throw new StaleError("giving resources to an instance while another one of its class is given some", {
    code: "store.instance-raised",
    context: { instance: id, revision },
  });
}

/** Two that leave at the same moment lock the same rows: the second one finds itself alone. */
async function changeNotLast(database: Database, values: readonly unknown[], signal: AbortSignal): Promise<Instance> {
  const [id] = values as readonly [InstanceId];
  const outcome = await database.transaction<InstanceRow | "last" | undefined>(
    "change_not_last_instance",
    async (run) => {
      const active = await run<{ readonly id: InstanceId }>(LOCK_ACTIVE, [id]);
      const isThere = active.length > 0 || (await run(READ, [id])).length > 0;
      if (isThere && !active.some((one) => one.id !== id)) return "last";
      return (await run<InstanceRow>(CHANGE, values))[0];
    },
    signal,
  );
  if (outcome === undefined) return whyUnchanged(database, values, signal);
  if (outcome !== "last") return instanceOf(outcome);
  throw new RefusedError("sending away the last instance of its class that is ACTIVE", {
    code: "store.instance-last",
    context: { instance: id },
  });
}

async function whyUnchanged(database: Database, values: readonly unknown[], signal: AbortSignal): Promise<never> {
  const [id, revision] = values as readonly [InstanceId, number];
  const isThere = (await database.run(READ, [id], signal)).length > 0;
  if (!isThere) throw new GoneError("changing an instance that is not there", { code: "store.instance-gone", context: { instance: id } });
  throw new StaleError("changing an instance that has changed meanwhile", {
    code: "store.instance-stale",
    context: { instance: id, revision },
  });
}
