import type { Clock } from "../../../domain/clock.ts";
import { StaleError } from "../../../domain/errors.ts";
import type { FrozenVersion, Rollout } from "../../../domain/rollout.ts";
import type { RolloutChange, RolloutStore } from "../../port.ts";
import type { Database, Statement } from "./database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues, NO_DECISION } from "./decisions.ts";
import { instant, sqlText } from "./sql-values.ts";

/** The index over live ones lets one in, whoever else asks at this moment. */
const CREATE: Statement = {
  name: "create_rollout",
  text: `
with made as (
  insert into rollout (id, state, version, created_at, document, revision) values ($1, $2, $3, $4, $5::json, $6)
  on conflict do nothing
  returning id
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $7, $8::timestamptz, $9, $10, $11, $12, $13::json from made
)
select id, pg_notify('argosy', 'rollout:' || id) as sent from made`,
};

const CHANGE: Statement = {
  name: "change_rollout",
  text: `
with changed as (
  update rollout set state = $3, document = $4::json, revision = revision + 1 where id = $1 and revision = $2
  returning id, document, revision
), frozen as (
  insert into frozen_version (version, rollout, reason, at) select $5::text, id, $6, $7::timestamptz from changed where $5::text is not null
  on conflict (version) do update set rollout = excluded.rollout, reason = excluded.reason, at = excluded.at
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $8, $9::timestamptz, $10, $11, $12, $13, $14::json from changed where $8::text is not null
), notifications as materialized (
  select count(pg_notify('argosy', 'rollout:' || id)) as sent from changed
)
select changed.document, changed.revision from changed cross join notifications`,
};

const READ: Statement = { name: "read_rollout", text: "select document, revision from rollout where id = $1" };

const LIST: Statement = {
  name: "list_rollouts",
  text: "select document, revision from rollout order by created_at desc, id desc limit $1",
};

const FROZEN: Statement = {
  name: "list_frozen_versions",
  text: "select version, rollout, reason, at from frozen_version order by version",
};

const UNFREEZE: Statement = {
  name: "unfreeze_version",
  text: `
with thawed as (
  delete from frozen_version where version = $1 returning version
), journal as (
  insert into decision (${DECISION_COLUMNS}) select $2, $3::timestamptz, $4, $5, $6, $7, $8::json from thawed
)
select version from thawed`,
};

export function createRolloutStore(database: Database, clock: Clock, ids: DecisionIds): RolloutStore {
  const one = async (statement: Statement, values: readonly unknown[], signal: AbortSignal): Promise<Rollout | undefined> => {
    const [row] = await database.run<RolloutRow>(statement, values, signal);
    return row === undefined ? undefined : rolloutOf(row);
  };
  return {
    async create(rollout, decision, signal) {
      const { id, state, version, createdAt, revision } = rollout;
      const values = [id, state, sqlText(version), instant(createdAt), JSON.stringify(rollout), revision, ...decisionValues(ids, decision)];
      if ((await database.run(CREATE, values, signal)).length > 0) return undefined;
      const live = await one(LIVE_ROLLOUT, [], signal);
      return live?.id === id ? undefined : live;
    },
    change: (change, signal) => changeRollout({ database, clock, ids }, change, signal),
    read: (id, signal) => one(READ, [id], signal),
    readLive: (signal) => one(LIVE_ROLLOUT, [], signal),
    list: async (limit, signal) => (await database.run<RolloutRow>(LIST, [limit], signal)).map(rolloutOf),
    listFrozen: (signal) => database.run<FrozenVersion>(FROZEN, [], signal),
    unfreeze: async (version, decision, signal) =>
      (await database.run(UNFREEZE, [sqlText(version), ...decisionValues(ids, decision)], signal)).length > 0,
  };
}

async function changeRollout(
  { database, clock, ids }: { readonly database: Database; readonly clock: Clock; readonly ids: DecisionIds },
  { rollout, decision, freezes }: RolloutChange,
  signal: AbortSignal,
): Promise<Rollout> {
  const { id, revision, state, ending } = rollout;
  const journal = decision === undefined ? NO_DECISION : decisionValues(ids, decision);
  const frozen = [freezes ?? null, sqlText(ending?.reason ?? ""), instant(clock.now())];
  const [row] = await database.run<RolloutRow>(CHANGE, [id, revision, state, JSON.stringify(rollout), ...frozen, ...journal], signal);
  if (row !== undefined) return rolloutOf(row);
  throw new StaleError("changing a rollout that has changed meanwhile", {
    code: "store.rollout-stale",
    context: { rollout: id, revision },
  });
}

export const LIVE_ROLLOUT: Statement = {
  name: "read_live_rollout",
  text: "select document, revision from rollout where state not in ('DONE', 'FAILED', 'ABORTED')",
};

export interface RolloutRow {
  readonly document: Rollout;
  readonly revision: number;
}

/** The row's revision is the one that counts: the document's was written before it was raised. What JSON leaves out is absent, and older ones say no mode. */
export function rolloutOf({ document, revision }: RolloutRow): Rollout {
  return { ...document, pool: document.pool, mode: document.mode ?? "in-place", ending: document.ending, revision };
}
