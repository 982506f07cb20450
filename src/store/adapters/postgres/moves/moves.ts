import type { Clock, Millis } from "../../../../domain/clock.ts";
import type { MoveId, UnitId } from "../../../../domain/ids.ts";
import type { Move } from "../../../../domain/move.ts";
import { TARGET_LEFT } from "../../../../domain/move-messages.ts";
import { PHASES } from "../../../../domain/move-phases.ts";
import type { MoveBeginning, MoveStore } from "../../../move/port.ts";
import type { Database, Statement } from "../database.ts";
import type { DecisionIds } from "../decisions.ts";
import { isApart } from "../placements/placed-units.ts";
import { sqlText, texts } from "../sql-values.ts";
import { abortMove, commitLiveMove } from "./change-owner.ts";
import { enterAndFree, enterPhase } from "./enter-phase.ts";
import { LIST, LIST_ALL_LIVE, LIST_LIVE, lockMove, type MoveRow, moveOf, READ } from "./move-row.ts";
import { readRows } from "./read-rows.ts";
import { insertMove } from "./request-move.ts";

/** Leaves the unit alone that was moved, or has an application that leaves: 0 or 1 of each. */
const BEGIN_UNIT: Statement = {
  name: "begin_move_of_unit",
  text: `
with unit as materialized (
  select u.id, exists (select from application a where a.unit = u.id and a.deleted_at is not null) as is_leaving,
         exists (select from instance where id = $4 and state = 'ACTIVE') and ${isApart("$4")} as is_welcome
    from placement_unit u where u.id = $1 and u.owner = $2 and u.epoch = $3 and u.phase = 'IDLE'
), taken as (
  update placement_unit u set phase = 'MOVING', row_version = u.row_version + 1 from unit n where u.id = n.id and ($5 or not n.is_leaving) and n.is_welcome returning u.id
)
select n.is_leaving, n.is_welcome, (select count(pg_notify('argosy', 'unit:' || id)) from taken) as sent from unit n`,
};

interface BegunRow {
  readonly is_leaving: boolean;
  /** The target takes units still. */
  readonly is_welcome: boolean;
}

const TAKE_EPOCH: Statement = { name: "take_epoch_for_move", text: "update move set to_epoch = nextval('epoch_seq') where id = $1" };

const NOTE: Statement = {
  name: "note_move",
  text: "update move set message = $3, message_code = 'WAITS' where id = $1 and phase = $2 and message <> $3",
};

const CLUSTERS: Statement = {
  name: "list_clusters_of_units",
  text: `
select a.unit, array_agg(distinct e.api_url order by e.api_url) as clusters
  from application a join environment e on e.workspace = a.workspace and e.name = a.environment
 where a.unit = any($1::text[]) and e.api_url <> ''
 group by a.unit order by a.unit`,
};

/** Live moves in one statement. */
const LIVE_PAGE = 5_000;

export function createMoveStore(database: Database, clock: Clock, ids: DecisionIds): MoveStore {
  return {
    request: (requestedMove, signal) => insertMove(database, ids, requestedMove, signal),
    begin: (id, signal) => begin(database, id, clock.now(), signal),
    advance: (id, advance, signal) =>
      database.transaction(
        "advance_move",
        async (run) => {
          const move = await lockMove(run, id);
          if (move?.phase !== advance.from) return false;
          await enterAndFree(run, move, advance, clock.now());
          return true;
        },
        signal,
      ),
    note: async (id, phase, message, signal) => void (await database.run(NOTE, [id, phase, sqlText(message)], signal)),
    commit: (id, decision, signal) =>
      database.transaction(
        "commit_live_move",
        async (run) => {
          const move = await lockMove(run, id);
          if (move?.phase !== "COMMIT") return false;
          await commitLiveMove(run, ids, { move, decision });
          await enterPhase(run, id, { to: "GRANT", message: "" }, clock.now());
          return true;
        },
        signal,
      ),
    abort: (id, { decision, ...said }, signal) =>
      database.transaction(
        "abort_move",
        async (run) => {
          const move = await lockMove(run, id);
          if (move === undefined || !PHASES[move.phase].isRevocable) return false;
          if (move.phase !== "WAITING") await abortMove(run, ids, { move, decision });
          await enterPhase(run, id, { to: move.phase === "WAITING" ? "ABORTED" : "ABORT", ...said }, clock.now());
          return true;
        },
        signal,
      ),
    async read(id, signal) {
      const [row] = await database.run<MoveRow>(READ, [sqlText(id) as MoveId], signal);
      return row === undefined ? undefined : moveOf(row);
    },
    list: async ({ isLive, unitId, plan, instanceId }, limit, signal) => {
      const values = [unitId, plan, instanceId].map((value) => (value === undefined ? null : sqlText(value)));
      return (await database.run<MoveRow>(isLive === true ? LIST_LIVE : LIST, [...values, limit], signal)).map(moveOf);
    },
    async listLive({ instanceId }, signal) {
      const all: Move[] = [];
      for (let after = ""; ; after = all.at(-1)?.id ?? "") {
        const page = await database.run<MoveRow>(LIST_ALL_LIVE, [instanceId ?? null, after, LIVE_PAGE], signal);
        all.push(...page.map(moveOf));
        if (page.length < LIVE_PAGE) return all.sort((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1));
      }
    },
    async listClusters(unitIds, signal) {
      const rows = await database.run<{ readonly unit: UnitId; readonly clusters: readonly string[] }>(CLUSTERS, [texts(unitIds)], signal);
      return new Map(rows.map(({ unit, clusters }) => [unit, clusters]));
    },
    readRows: (id, signal) => readRows(database, id, signal),
  };
}

async function begin(database: Database, id: MoveId, now: Millis, signal: AbortSignal): Promise<MoveBeginning> {
  return database.transaction<MoveBeginning>(
    "begin_move",
    async (run) => {
      const move = await lockMove(run, id);
      if (move?.phase !== "WAITING") return "stale";
      const [unit] = await run<BegunRow>(BEGIN_UNIT, [move.unitId, move.from, move.fromEpoch, move.to, move.isFailOver]);
      if (unit === undefined) {
        await enterPhase(run, id, { to: "ABORTED", message: "the unit was moved or changed before its turn came" }, now);
        return "dropped";
      }
      if (unit.is_leaving && !move.isFailOver) return "leaving";
      if (!unit.is_welcome) {
        await enterPhase(run, id, { to: "ABORTED", message: TARGET_LEFT }, now);
        return "dropped";
      }
      await run(TAKE_EPOCH, [id]);
      await enterPhase(run, id, { to: "PREPARE", message: "" }, now);
      return "begun";
    },
    signal,
  );
}
