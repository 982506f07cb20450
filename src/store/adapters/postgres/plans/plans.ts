import type { Millis } from "../../../../domain/clock.ts";
import type { InstanceId, MoveId, PlanId } from "../../../../domain/ids.ts";
import type { CarriedStep, StoredPlan } from "../../../../domain/plan.ts";
import type { PlanStore } from "../../../plan/port.ts";
import type { Database, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { build } from "../query-builder.ts";
import { instant, sqlText } from "../sql-values.ts";
import { commitMove } from "./commit-move.ts";
import { readFacts } from "./read-facts.ts";

/** Units' classes are found by one probe of their index for each, not by reading all units. */
const CLASSES: Statement = {
  name: "list_classes_to_plan",
  text: `
with recursive held as (
  (select class from placement_unit order by class limit 1)
  union all
  select (select u.class from placement_unit u where u.class > h.class order by u.class limit 1) from held h where h.class is not null
)
select class from instance where state <> 'RETIRED' union select class from held where class is not null order by 1`,
};

const RECORD: Statement = {
  name: "record_plan",
  text: `
with kept as (
  insert into plan (id, class, goal, subject, snapshot_hash, plan_hash, actor, created_at, expires_at, moves, records, report)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json, $11::json, $12::json)
)
insert into decision (${DECISION_COLUMNS}) values ($13, $14, $15, $16, $17, $18, $19::json)`,
};

const COLUMNS = "id, class, goal, subject, snapshot_hash, plan_hash, actor, created_at, expires_at, applied_at, moves, records, report";

const READ: Statement = { name: "read_plan", text: `select ${COLUMNS} from plan where id = $1` };

const APPLIED: Statement = {
  name: "record_plan_applied",
  text: `
with applied as (
  update plan set applied_at = $2 where id = $1 returning id
), steps as (
  insert into plan_step (plan, unit, name, from_instance, to_instance, reason, outcome, why, move)
  select a.id, s.unit, s.name, s."from", s."to", s.reason, s.outcome, s.why, s.move
    from applied a
   cross join json_to_recordset($10::json) as s (unit text, name text, "from" text, "to" text, reason text, outcome text, why text, move text)
   order by s.unit
  on conflict (plan, unit)
  do update set name = excluded.name, from_instance = excluded.from_instance, to_instance = excluded.to_instance, reason = excluded.reason,
                outcome = excluded.outcome, why = excluded.why, move = excluded.move
)
insert into decision (${DECISION_COLUMNS}) select $3, $4::timestamptz, $5, $6, $7, $8, $9::json from applied`,
};

/** Of each unit the step of the newest plan: what an older one said of it was tried again. */
const STEPS: Statement = {
  name: "list_plan_steps",
  text: `
select distinct on (s.unit) s.unit, s.name, s.from_instance, s.to_instance, s.reason, s.outcome, s.why, s.move
  from plan p join plan_step s on s.plan = p.id
 where p.id = $1 or (p.goal = 'drain' and p.subject = $2 and p.created_at >= $3::timestamptz)
 order by s.unit, p.created_at desc, p.id desc`,
};

interface StepRow extends Pick<CarriedStep, "unit" | "name" | "reason" | "outcome" | "why"> {
  readonly from_instance: InstanceId | null;
  readonly to_instance: InstanceId | null;
  readonly move: MoveId | null;
}

interface Row extends Pick<StoredPlan, "id" | "class" | "goal" | "subject" | "actor" | "moves" | "records" | "report"> {
  readonly snapshot_hash: string;
  readonly plan_hash: string;
  readonly created_at: Millis;
  readonly expires_at: Millis;
  readonly applied_at: Millis | null;
}

export function createPlanStore(database: Database, ids: DecisionIds): PlanStore {
  return {
    listClasses: async (signal) => (await database.run<{ readonly class: string }>(CLASSES, [], signal)).map((row) => row.class),
    readFacts: (className, movesSince, signal) => readFacts(database, className, movesSince, signal),
    async record(plan, decision, signal) {
      const { id, goal, subject, snapshotHash, planHash, actor, createdAt, expiresAt, moves, records, report } = plan;
      const head = [id, plan.class, goal, sqlText(subject), snapshotHash, planHash, sqlText(actor), instant(createdAt), instant(expiresAt)];
      const documents = [moves, records, report].map((document) => JSON.stringify(document));
      await database.run(RECORD, [...head, ...documents, ...decisionValues(ids, decision)], signal);
    },
    async read(id, signal) {
      const [row] = await database.run<Row>(READ, [sqlText(id) as PlanId], signal);
      return row === undefined ? undefined : planOf(row);
    },
    async list(filter, limit, signal) {
      const plans = build("plan").select(build.raw(COLUMNS)).orderByRaw("created_at desc, id desc").limit(limit);
      if (filter.class !== undefined) plans.where({ class: filter.class });
      return (await database.query<Row>("list_plans", plans, signal)).map(planOf);
    },
    recordApplied: async (id, steps, decision, signal) => {
      const rows = JSON.stringify(steps.map((step) => ({ ...step, why: sqlText(step.why) })));
      await database.run(APPLIED, [id, instant(decision.at), ...decisionValues(ids, decision), rows], signal);
    },
    async listSteps(of, signal) {
      const values = "plan" in of ? [sqlText(of.plan), null, null] : [null, sqlText(of.drained), instant(of.since)];
      return (await database.run<StepRow>(STEPS, values, signal)).map(stepOf);
    },
    commitMove: (move, signal) => commitMove(database, ids, move, signal),
  };
}

function stepOf({ from_instance, to_instance, move, ...row }: StepRow): CarriedStep {
  return { ...row, from: from_instance ?? undefined, to: to_instance ?? undefined, move: move ?? undefined };
}

function planOf({ snapshot_hash, plan_hash, created_at, expires_at, applied_at, ...row }: Row): StoredPlan {
  return {
    ...row,
    // JSON has no `undefined`: a move of a unit that was nowhere does not have the field there.
    moves: row.moves.map((move) => ({ ...move, from: move.from })),
    snapshotHash: snapshot_hash,
    planHash: plan_hash,
    createdAt: created_at,
    expiresAt: expires_at,
    appliedAt: applied_at ?? undefined,
  };
}
