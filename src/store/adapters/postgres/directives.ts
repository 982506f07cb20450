import type { Millis } from "../../../domain/clock.ts";
import type { Assignment, Directive, Freeze, Hold, Pin } from "../../../domain/directive.ts";
import { GoneError } from "../../../domain/errors.ts";
import type { DirectiveChange, DirectiveStore } from "../../port.ts";
import type { Database, Statement } from "./database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "./decisions.ts";
import { instant, sqlText } from "./sql-values.ts";

/** Units are locked in the order of their ids, as by everybody who changes several of them. */
const DIRECT: Statement = {
  name: "direct_workspace",
  text: `
with known as materialized (
  select id from workspace where id = $1 for key share
), directed as (
  insert into directive as d (workspace, pin, hold, assigned)
  select id, $2::json, $3::json, $4::json from known
  on conflict (workspace) do update
     set pin = case when $5 then excluded.pin else d.pin end, hold = case when $6 then excluded.hold else d.hold end,
         assigned = case when $7 then excluded.assigned else d.assigned end
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $8, $9, $10, $11, $12, $13, $14::json from known
), units as materialized (
  select u.id from known k cross join lateral (select id from placement_unit where workspace = k.id order by id for no key update) as u
), changed as (
  update placement_unit u set row_version = u.row_version + 1 from units n where u.id = n.id
), notifications as materialized (
  select count(pg_notify('argosy', n.notification)) as sent
    from (select 'unit:' || id from units union all select 'class:' || id from known where $7) as n (notification)
)
select (select count(*) from known) as known from notifications`,
};

const READ: Statement = {
  name: "read_directive",
  text: "select pin as d_pin, hold as d_hold, assigned as d_assigned from directive where workspace = $1",
};

const PUT_FREEZE: Statement = {
  name: "put_freeze",
  text: `
with put as (
  insert into freeze_window (name, schedule, duration_ms, actor, reason, at) values ($1, $2, $3, $4, $5, $6)
  on conflict (name) do update
     set schedule = excluded.schedule, duration_ms = excluded.duration_ms, actor = excluded.actor, reason = excluded.reason, at = excluded.at
)
insert into decision (${DECISION_COLUMNS}) values ($7, $8, $9, $10, $11, $12, $13::json)`,
};

const DROP_FREEZE: Statement = {
  name: "drop_freeze",
  text: `
with dropped as (
  delete from freeze_window where name = $1 returning name
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $2, $3::timestamptz, $4, $5, $6, $7, $8::json from dropped
)
select name from dropped`,
};

export const FREEZES: Statement = {
  name: "list_freezes",
  text: "select name, schedule, duration_ms, actor, reason, at from freeze_window order by name",
};

/** Columns of a directive, as {@link directiveOf} reads them. */
export interface DirectiveRow {
  readonly d_pin: Pin | null;
  readonly d_hold: Hold | null;
  readonly d_assigned: Assignment | null;
}

export interface FreezeRow {
  readonly name: string;
  readonly schedule: string | null;
  readonly duration_ms: number;
  readonly actor: string;
  readonly reason: string;
  readonly at: Millis;
}

export function directiveOf(row: DirectiveRow | undefined): Directive {
  return { pin: row?.d_pin ?? undefined, hold: row?.d_hold ?? undefined, assigned: row?.d_assigned ?? undefined };
}

export function freezeOf({ name, schedule, duration_ms, actor, reason, at }: FreezeRow): Freeze {
  return { name, schedule: schedule ?? undefined, durationMs: duration_ms, actor, reason, at };
}

export function createDirectiveStore(database: Database, ids: DecisionIds): DirectiveStore {
  return {
    direct: (change, signal) => direct(database, ids, change, signal),
    read: async (workspaceId, signal) => directiveOf((await database.run<DirectiveRow>(READ, [workspaceId], signal))[0]),
    async putFreeze({ name, schedule, durationMs, actor, reason, at }, decision, signal) {
      const row = [
        sqlText(name),
        schedule === undefined ? null : sqlText(schedule),
        durationMs,
        sqlText(actor),
        sqlText(reason),
        instant(at),
      ];
      await database.run(PUT_FREEZE, [...row, ...decisionValues(ids, decision)], signal);
    },
    dropFreeze: async (name, decision, signal) =>
      (await database.run(DROP_FREEZE, [sqlText(name), ...decisionValues(ids, decision)], signal)).length > 0,
    listFreezes: async (signal) => (await database.run<FreezeRow>(FREEZES, [], signal)).map(freezeOf),
  };
}

async function direct(
  database: Database,
  ids: DecisionIds,
  { workspaceId, change, decision }: DirectiveChange,
  signal: AbortSignal,
): Promise<void> {
  const { pin, hold, assigned } = { pin: undefined, hold: undefined, assigned: undefined, ...change };
  const documents = [pin, hold, assigned].map((document) => (document === undefined ? null : JSON.stringify(document)));
  const values = [workspaceId, ...documents, "pin" in change, "hold" in change, "assigned" in change, ...decisionValues(ids, decision)];
  const [row] = await database.run<{ readonly known: number }>(DIRECT, values, signal);
  if (row?.known === 1) return;
  throw new GoneError("ordering something about a workspace that is not there", {
    code: "store.workspace-gone",
    context: { workspace: workspaceId },
  });
}
