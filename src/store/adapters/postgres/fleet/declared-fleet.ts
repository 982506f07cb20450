import type { Clock } from "../../../../domain/clock.ts";
import type { FleetSpec } from "../../../../domain/fleet.ts";
import { canonicalJson } from "../../../../domain/hash.ts";
import { changedPools } from "../../../fleet/changed-pools.ts";
import { FLEET, fleetDecision } from "../../../fleet/fleet-decision.ts";
import type { FleetStore, StoredFleet } from "../../../fleet/port.ts";
import type { Database, Statement } from "../database.ts";
import { instant, texts } from "../sql-values.ts";
import { DECISION_COLUMNS, type DecisionIds, decisionValues } from "../views/decisions.ts";

const READ: Statement = { name: "read_fleet", text: "select spec, revision from fleet where revision > 0" };

/** The first to declare anything needs a row to lock, too. */
const ENSURE: Statement = {
  name: "ensure_fleet",
  text: "insert into fleet (spec, revision, declared_at) values ('null', 0, $1) on conflict do nothing",
};

const LOCK: Statement = { name: "lock_fleet", text: "select spec, revision from fleet for update" };

const REPLACE: Statement = {
  name: "apply_fleet",
  text: `
with replaced as (
  update fleet set spec = $1::json, revision = $2, declared_at = $3
), journal as (
  insert into decision (${DECISION_COLUMNS}) values ($5, $6, $7, $8, $9, $10, $11::json)
)
select count(pg_notify('argosy', hint)) as sent from unnest($4::text[]) as h (hint)`,
};

interface Row {
  readonly spec: FleetSpec | null;
  readonly revision: number;
}

export function createDeclaredFleet(database: Database, clock: Clock, ids: DecisionIds): Pick<FleetStore, "readFleet" | "applyFleet"> {
  return {
    async readFleet(signal) {
      const [row] = await database.run<Row>(READ, [], signal);
      return row === undefined ? undefined : storedFleet(row);
    },
    applyFleet: (spec, actor, signal) =>
      database.transaction(
        "apply_fleet",
        async (run) => {
          await run(ENSURE, [instant(clock.now())]);
          const [row] = await run<Row>(LOCK, []);
          const before = row === undefined ? undefined : storedFleet(row);
          if (before !== undefined && canonicalJson(before.spec) === canonicalJson(spec)) return before.revision;
          const revision = (before?.revision ?? 0) + 1;
          const pools = changedPools(before?.spec, spec);
          const decision = fleetDecision({ at: clock.now(), actor, revision, pools });
          const hints = texts([`fleet:${FLEET}`, ...pools.map((pool) => `pool:${pool}`)]);
          await run(REPLACE, [canonicalJson(spec), revision, instant(clock.now()), hints, ...decisionValues(ids, decision)]);
          return revision;
        },
        signal,
      ),
  };
}

/** JSON has no `undefined`: a pool without a version of its own lacks the field there. */
function storedFleet({ spec, revision }: Row): StoredFleet | undefined {
  if (spec === null) return undefined;
  return { spec: { ...spec, pools: spec.pools.map((pool) => ({ ...pool, version: pool.version })) }, revision };
}
