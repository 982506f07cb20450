import type { Millis } from "../../../domain/clock.ts";
import type { Component, Evidence, HealthCause, HealthSample, InstanceVerdict, VerdictState } from "../../../domain/health.ts";
import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { HealthStore, TroubledUnit } from "../../health/port.ts";
import type { Database, Statement } from "./database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues, NO_DECISION } from "./decisions.ts";
import { instant, sqlText } from "./sql-values.ts";

const RECORD: Statement = {
  name: "record_health",
  text: `
with alive as materialized (
  select id from instance where id = $1 for key share
), before as (
  select state from instance_verdict where instance = $1
), verdict as (
  insert into instance_verdict as v (instance, at, since, state, cause, component, text, evidence, baseline)
  select id, $2, $3, $4, $5, $6, $7, $8::json, $9::json from alive
      on conflict (instance) do update
     set at = excluded.at, since = excluded.since, state = excluded.state, cause = excluded.cause, component = excluded.component,
         text = excluded.text, evidence = excluded.evidence, baseline = excluded.baseline
   where v.at < excluded.at
  returning v.instance
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $13, $14::timestamptz, $15, $16, $17, $18, $19::json from verdict where $13::text is not null
), old as (
  delete from probe_sample where instance = $1 and at < $12
), sample as (
  insert into probe_sample (instance, at, signals) select id, $10, $11::json from alive on conflict do nothing
)
select pg_notify('argosy', 'verdict:' || instance) from verdict where $4 is distinct from (select state from before)`,
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

/** A condition's type stands in its document as it is: it needs no parsing to be found. */
const TROUBLES: Statement = {
  name: "read_troubles",
  text: `
select u.id as "unitId", w.namespace, count(s.application) as applications
  from placement_unit u
  join workspace w on w.id = u.workspace
  left join application a on a.unit = u.id
  left join application_status s on s.application = a.id and s.conditions::text like '%"ComparisonError"%'
 where u.owner = $1
 group by u.id, w.namespace
 order by applications desc, u.id`,
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
    async record({ sample, verdict, keepSince, decision }, signal) {
      const { instanceId, at, since, state, cause, component, evidence, baseline } = verdict;
      const said = [state, cause, component ?? null, sqlText(verdict.text), JSON.stringify(evidence), JSON.stringify(baseline ?? null)];
      const seen = [instant(sample.at), JSON.stringify(sample.signals), instant(keepSince)];
      const journal = decision === undefined ? NO_DECISION : decisionValues(ids, decision);
      await database.run(RECORD, [instanceId, instant(at), instant(since), ...said, ...seen, ...journal], signal);
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
    async readTroubles(instanceId, signal) {
      const rows = await database.run<TroubledUnit>(TROUBLES, [instanceId], signal);
      return { units: rows.length, troubled: rows.filter(({ applications }) => applications > 0) };
    },
  };
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
