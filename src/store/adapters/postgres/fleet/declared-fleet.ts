import type { Clock } from "../../../../domain/clock.ts";
import type { FleetSpec } from "../../../../domain/fleet.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import { changedPools, changesOf, declaredAnew, FLEET, fleetDecision, stillUndeclared } from "../../../fleet/fleet-changes.ts";
import type { FleetChange, FleetStore, StoredFleet } from "../../../fleet/port.ts";
import type { Database, Run, Statement } from "../database.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../decisions.ts";
import { instant, texts } from "../sql-values.ts";

const READ: Statement = { name: "read_fleet", text: "select spec, revision, pruned from fleet where revision > 0" };

/** The first to declare anything needs a row to lock, too. */
const ENSURE: Statement = {
  name: "ensure_fleet",
  text: "insert into fleet (spec, revision, declared_at) values ('null', 0, $1) on conflict do nothing",
};

const LOCK: Statement = { name: "lock_fleet", text: "select spec, revision, pruned from fleet for update" };

const REPLACE: Statement = {
  name: "apply_fleet",
  text: `
with replaced as (
  update fleet set spec = $1::json, revision = $2, declared_at = $3, pruned = $12::text[]
), journal as (
  insert into decision (${DECISION_COLUMNS}) values ($5, $6, $7, $8, $9, $10, $11::json)
)
select count(pg_notify('argosy', notification)) as sent from unnest($4::text[]) as n (notification)`,
};

/** Byte by byte, as everywhere: the order of names does not depend on the database. */
const POOLS: Statement = {
  name: "list_peopled_pools",
  text: "select distinct pool from instance where state <> 'RETIRED' order by pool",
};

const PRUNE: Statement = {
  name: "prune_pools",
  text: `
with pruned as (
  update fleet set pruned = $1::text[], revision = revision + 1
), journal as (
  insert into decision (${DECISION_COLUMNS}) values ($3, $4, $5, $6, $7, $8, $9::json)
)
select count(pg_notify('argosy', notification)) as sent from unnest($2::text[]) as n (notification)`,
};

interface Row {
  readonly spec: FleetSpec | null;
  readonly revision: number;
  readonly pruned: readonly string[];
}

export function createDeclaredFleet(
  database: Database,
  clock: Clock,
  ids: DecisionIds,
): Pick<FleetStore, "readFleet" | "applyFleet" | "prunePools"> {
  return {
    async readFleet(signal) {
      const [row] = await database.run<Row>(READ, [], signal);
      return row === undefined ? undefined : storedFleet(row);
    },
    applyFleet: (spec, actor, signal) =>
      database.transaction("apply_fleet", (run) => declareFleet(run, { clock, ids }, { spec, actor }), signal),
    prunePools: (actor, signal) =>
      database.transaction(
        "prune_pools",
        async (run) => {
          const [row] = await run<Row>(LOCK, []);
          const before = row === undefined ? undefined : storedFleet(row);
          if (before === undefined) return [];
          const rows = await run<{ readonly pool: string }>(POOLS, []);
          const pruned = stillUndeclared(
            rows.map(({ pool }) => pool),
            before.spec,
          );
          if (canonicalJson(pruned) === canonicalJson(before.pruned)) return pruned;
          const decision = fleetDecision({ at: clock.now(), actor, revision: before.revision + 1, pools: pruned, verdict: "PRUNED" });
          const notifications = texts(pruned.map((pool) => `pool:${pool}`));
          await run(PRUNE, [texts(pruned), notifications, ...decisionValues(ids, decision)]);
          return pruned;
        },
        signal,
      ),
  };
}

/**
 * Replaces the declared fleet if it differs, inside the caller's transaction; returns the revision in force. With a `revision`
 * it throws `StaleError` when another one is declared.
 */
export async function declareFleet(
  run: Run,
  { clock, ids }: { readonly clock: Clock; readonly ids: DecisionIds },
  change: Omit<FleetChange, "revision"> & Partial<FleetChange>,
): Promise<number> {
  const { spec, actor } = change;
  await run(ENSURE, [instant(clock.now())]);
  const [row] = await run<Row>(LOCK, []);
  const before = row === undefined ? undefined : storedFleet(row);
  if (change.revision !== undefined && before?.revision !== change.revision) throw declaredAnew(change.revision);
  if (before !== undefined && canonicalJson(before.spec) === canonicalJson(spec)) return before.revision;
  const revision = (before?.revision ?? 0) + 1;
  const pools = changedPools(before?.spec, spec);
  const decision = fleetDecision({ at: clock.now(), actor, revision, pools, changes: changesOf(before?.spec, spec) });
  const notifications = texts([`fleet:${FLEET}`, ...pools.map((pool) => `pool:${pool}`)]);
  const pruned = stillUndeclared(before?.pruned ?? [], spec);
  await run(REPLACE, [canonicalJson(spec), revision, instant(clock.now()), notifications, ...decisionValues(ids, decision), texts(pruned)]);
  return revision;
}

/** JSON has no `undefined`: a pool without a version of its own does not have the field there. */
function storedFleet({ spec, revision, pruned }: Row): StoredFleet | undefined {
  if (spec === null) return undefined;
  return { spec: { ...spec, pools: spec.pools.map((pool) => ({ ...pool, version: pool.version })) }, revision, pruned };
}
