import type { Millis } from "../../../domain/clock.ts";
import type { Component, Evidence, HealthCause, HealthSample, InstanceVerdict, VerdictState } from "../../../domain/health.ts";
import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { HealthRecord, HealthStore, Troubles } from "../../health/port.ts";
import type { Database, Statement } from "./database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "./decisions.ts";
import { instant, instants, sortedBy, texts } from "./sql-values.ts";

const RECORD: Statement = {
  name: "record_health",
  text: `
with given as materialized (
  select * from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                       $10::timestamptz[], $11::text[], $12::timestamptz[],
                       $13::text[], $14::timestamptz[], $15::text[], $16::text[], $17::text[], $18::text[], $19::text[])
      as i (instance, at, since, state, cause, component, text, evidence, baseline, sample_at, signals, keep_since,
            entry_id, entry_at, subject, kind, entry_verdict, rule, details)
), alive as materialized (
  select g.* from given g cross join lateral (select id from instance where id = g.instance for key share) as a
), newest as materialized (
  select distinct on (instance) * from alive order by instance, at desc
), before as materialized (
  select v.instance, v.state from newest n cross join lateral (select instance, state from instance_verdict where instance = n.instance offset 0) as v
), verdict as (
  insert into instance_verdict as v (instance, at, since, state, cause, component, text, evidence, baseline)
  select instance, at, since, state, cause, component, text, evidence::json, baseline::json from newest
      on conflict (instance) do update
     set at = excluded.at, since = excluded.since, state = excluded.state, cause = excluded.cause, component = excluded.component,
         text = excluded.text, evidence = excluded.evidence, baseline = excluded.baseline
   where v.at < excluded.at
  returning v.instance, v.state
), journal as (
  insert into decision (${DECISION_COLUMNS})
  select entry_id, entry_at, subject, kind, entry_verdict, rule, details::json from newest join verdict using (instance) where entry_id is not null
), old as (
  delete from probe_sample where ctid = any (array(
    select p.at_row from newest n
     cross join lateral (select ctid as at_row from probe_sample where instance = n.instance and at < n.keep_since offset 0) as p))
), sample as (
  insert into probe_sample (instance, at, signals) select instance, sample_at, signals::json from alive on conflict do nothing
)
select pg_notify('argosy', 'verdict:' || v.instance) from verdict v left join before b using (instance) where v.state is distinct from b.state`,
};

const SAMPLES: Statement = {
  name: "read_probe_samples",
  text: "select at, signals from probe_sample where instance = $1 and at >= $2 order by at",
};

const COLUMNS = "v.instance, v.at, v.since, v.state, v.cause, v.component, v.text, v.evidence, v.baseline";
const READ: Statement = { name: "read_verdict", text: `select ${COLUMNS} from instance_verdict v where v.instance = $1` };
const LIST: Statement = {
  name: "list_verdicts",
  text: `select ${COLUMNS} from instance_verdict v join instance i on i.id = v.instance where i.state <> 'RETIRED' order by v.instance`,
};

/** A condition's type stands in its document as it is: it needs no parsing to be found. From the statuses that say so, which an index has, to their instances. */
const TROUBLES: Statement = {
  name: "list_troubles",
  text: `
with troubled as materialized (
  select distinct unit from application_status where conditions::text like '%"ComparisonError"%'
), held as (
  select u.owner, count(*) as units
    from troubled t cross join lateral (select owner from placement_unit where id = t.unit offset 0) as u
   where u.owner = any ($1::text[])
   group by u.owner
)
select owner as "instanceId", units as "troubledUnits", (select count(*) from placement_unit u where u.owner = held.owner) as units
  from held order by owner`,
};

const NEVER_COMPARED: Statement = {
  name: "list_never_compared",
  text: `
select u.id
  from placement_unit u
 where u.owner = $1 and u.created_at <= $2
   and exists (select from application a where a.unit = u.id)
   and not exists (select from application a join application_status s on s.application = a.id where a.unit = u.id and s.sync in ('Synced', 'OutOfSync'))
   and not exists (select from move m where m.unit = u.id and m.from_instance = u.owner and (m.ended_at is null or m.ended_at > $3))
 order by u.created_at, u.id
 limit $4`,
};

interface Row {
  readonly instance: InstanceId;
  readonly at: Millis;
  readonly since: Millis;
  readonly state: VerdictState;
  readonly cause: HealthCause;
  readonly component: Component | null;
  readonly text: string;
  readonly evidence: readonly Evidence[];
  readonly baseline: InstanceVerdict["baseline"] | null;
}

export function createHealthStore(database: Database, ids: DecisionIds): HealthStore {
  return {
    async record(observations, signal) {
      if (observations.length > 0) await database.run(RECORD, recordValues(ids, observations), signal);
    },
    async readWindow(instanceId, since, signal) {
      const samples = await database.run<HealthSample>(SAMPLES, [instanceId, instant(since)], signal);
      const [row] = await database.run<Row>(READ, [instanceId], signal);
      return { samples, verdict: row && verdictOf(row) };
    },
    listVerdicts: async (signal) => (await database.run<Row>(LIST, [], signal)).map(verdictOf),
    async listNeverCompared({ instanceId, madeBefore, notMovedSince, limit }, signal) {
      const values = [instanceId, instant(madeBefore), instant(notMovedSince), limit];
      return (await database.run<{ readonly id: UnitId }>(NEVER_COMPARED, values, signal)).map(({ id }) => id);
    },
    listTroubles: (instanceIds, signal) => database.run<Troubles>(TROUBLES, [texts(instanceIds)], signal),
  };
}

/** Observations as arrays by column, in the order in which instances are locked. */
function recordValues(ids: DecisionIds, observations: readonly HealthRecord[]): readonly string[] {
  const sorted = sortedBy(observations, ({ verdict }) => verdict.instanceId);
  const column = (of: (one: HealthRecord) => string | undefined): string => texts(sorted.map(of));
  const journal = sorted.map(({ decision }) => (decision === undefined ? [] : decisionValues(ids, decision)));
  return [
    column(({ verdict }) => verdict.instanceId),
    instants(sorted.map(({ verdict }) => verdict.at)),
    instants(sorted.map(({ verdict }) => verdict.since)),
    column(({ verdict }) => verdict.state),
    column(({ verdict }) => verdict.cause),
    column(({ verdict }) => verdict.component),
    column(({ verdict }) => verdict.text),
    column(({ verdict }) => JSON.stringify(verdict.evidence)),
    column(({ verdict }) => JSON.stringify(verdict.baseline ?? null)),
    instants(sorted.map(({ sample }) => sample.at)),
    column(({ sample }) => JSON.stringify(sample.signals)),
    instants(sorted.map(({ keepSince }) => keepSince)),
    ...DECISION_COLUMNS.split(", ").map((_, place) => texts(journal.map((values) => values[place]))),
  ];
}

/** A value that was not known is not in the document; readers see it as absent. */
function verdictOf({ instance, component, baseline, evidence, ...row }: Row): InstanceVerdict {
  return {
    ...row,
    instanceId: instance,
    component: component ?? undefined,
    baseline: baseline ?? undefined,
    evidence: evidence.map(({ signal, value }) => ({ signal, value: value ?? undefined })),
  };
}
