import type { Millis } from "../../../../domain/clock.ts";
import type { PlanId } from "../../../../domain/ids.ts";
import type { StoredPlan } from "../../../../domain/plan.ts";
import type { PlanStore } from "../../../plan/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant, text } from "../sql-values.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../views/decisions.ts";
import { commitMove } from "./commit-move.ts";
import { readFacts } from "./read-facts.ts";

const CLASSES: Statement = {
  name: "list_classes",
  text: "select class from instance where state <> 'RETIRED' union select class from placement_unit order by 1",
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

const LIST: Statement = {
  name: "list_plans",
  text: `select ${COLUMNS} from plan where $1::text is null or class = $1 order by created_at desc, id desc limit $2`,
};

const APPLIED: Statement = {
  name: "record_plan_applied",
  text: `
with applied as (
  update plan set applied_at = $2 where id = $1 returning id
)
insert into decision (${DECISION_COLUMNS}) select $3, $4::timestamptz, $5, $6, $7, $8, $9::json from applied`,
};

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
      const head = [id, plan.class, goal, text(subject), snapshotHash, planHash, text(actor), instant(createdAt), instant(expiresAt)];
      const documents = [moves, records, report].map((document) => JSON.stringify(document));
      await database.run(RECORD, [...head, ...documents, ...decisionValues(ids, decision)], signal);
    },
    async read(id, signal) {
      const [row] = await database.run<Row>(READ, [text(id) as PlanId], signal);
      return row === undefined ? undefined : planOf(row);
    },
    list: async (filter, limit, signal) => (await database.run<Row>(LIST, [filter.class ?? null, limit], signal)).map(planOf),
    recordApplied: async (id, decision, signal) =>
      void (await database.run(APPLIED, [id, instant(decision.at), ...decisionValues(ids, decision)], signal)),
    commitMove: (move, signal) => commitMove(database, ids, move, signal),
  };
}

function planOf({ snapshot_hash, plan_hash, created_at, expires_at, applied_at, ...row }: Row): StoredPlan {
  return {
    ...row,
    // JSON has no `undefined`: a move of a unit that was nowhere lacks the field there.
    moves: row.moves.map((move) => ({ ...move, from: move.from })),
    snapshotHash: snapshot_hash,
    planHash: plan_hash,
    createdAt: created_at,
    expiresAt: expires_at,
    appliedAt: applied_at ?? undefined,
  };
}
