import type { MoveId, UnitId } from "../../../domain/ids.ts";
import { LOAD_DIMENSIONS } from "../../../domain/load.ts";
import type { Move } from "../../../domain/move.ts";
import { TAKEN_ON, TARGET_LEFT } from "../../../domain/move-messages.ts";
import { PHASES } from "../../../domain/move-phases.ts";
import type { MoveBeginning, MoveRequest, MoveRows, MoveStore, RequestedMove } from "../../move/port.ts";
import { applicationsOf, putUnit, workspaceOfTables } from "./applications.ts";
import { clustersOf, environmentNamed, environmentsOf } from "./environments.ts";
import { enterPhaseInMemory, liveMoveOf } from "./live-moves.ts";
import type { PartRules } from "./part-rules.ts";
import { deploy, isApart, loadWith, strangersOf, takeClassOfOwner } from "./placements.ts";
import { spelled } from "./repository-access.ts";
import type { Tables, Transact, Transaction } from "./tables.ts";

export function createMemoryMoveStore(transact: Transact, rules: PartRules): MoveStore {
  return {
    request: (requestedMove, signal) => transact(signal, (transaction) => request(transaction, rules, requestedMove)),
    begin: (id, signal) => transact(signal, (transaction) => begin(transaction, id)),
    advance: (id, advance, signal) =>
      transact(signal, (transaction) => {
        const move = transaction.tables.moves.get(id);
        if (move?.phase !== advance.from) return false;
        enterAndFree(transaction, move, advance);
        return true;
      }),
    note: (id, phase, message, signal) =>
      transact(signal, ({ tables }) => {
        const move = tables.moves.get(id);
        if (move?.phase === phase) tables.moves.set(id, { ...move, message, messageCode: "WAITS" });
      }),
    commit: (id, decision, signal) =>
      transact(signal, (transaction) => {
        const move = transaction.tables.moves.get(id);
        if (move?.phase !== "COMMIT") return false;
        const { unitId, from, to, reason, toEpoch } = move;
        deploy(transaction, unitId, { owner: to, epoch: toEpoch, tookFrom: undefined });
        const unit = takeClassOfOwner(transaction, unitId);
        const row = transaction.tables.units.get(unitId);
        if (row !== undefined) putUnit(transaction.tables, { ...row, unplaceable: undefined });
        transaction.tables.unitMoves.push({ unit: unitId, class: unit?.class ?? "", from, to, reason, at: decision.at });
        transaction.tables.decisions.push(decision);
        enterPhaseInMemory(transaction, move, { to: "GRANT", message: "" });
        return true;
      }),
    abort: (id, { decision, ...said }, signal) =>
      transact(signal, (transaction) => {
        const { tables } = transaction;
        const move = tables.moves.get(id);
        if (move === undefined || !PHASES[move.phase].isRevocable) return false;
        const isWaiting = move.phase === "WAITING";
        if (!isWaiting) {
          tables.lastEpoch += 1;
          deploy(transaction, move.unitId, { owner: move.from, epoch: tables.lastEpoch, phase: "IDLE" });
          tables.decisions.push(decision);
        }
        enterPhaseInMemory(transaction, move, { to: isWaiting ? "ABORTED" : "ABORT", ...said });
        return true;
      }),
    read: (id, signal) => transact(signal, ({ tables }) => tables.moves.get(id)),
    list: ({ isLive, unitId, plan, instanceId }, limit, signal) =>
      transact(signal, ({ tables }) => {
        const wanted = [...tables.moves.values()].filter(
          (move) =>
            (isLive !== true || move.endedAt === undefined) &&
            (unitId === undefined || move.unitId === unitId) &&
            (plan === undefined || move.plan === plan) &&
            (instanceId === undefined || move.from === instanceId || move.to === instanceId),
        );
        return wanted.sort((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1)).slice(0, limit);
      }),
    listLive: ({ instanceId }, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.moves.values()]
          .filter(({ endedAt, from, to }) => endedAt === undefined && (instanceId === undefined || [from, to].includes(instanceId)))
          .sort((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1)),
      ),
    listClusters: (unitIds, signal) =>
      transact(signal, ({ tables }) => {
        const known = unitIds.map((id) => [id, clustersOf(tables, id)] as const);
        return new Map(known.filter(([, clusters]) => clusters.length > 0));
      }),
    readRows: (id, signal) => transact(signal, ({ tables }) => readRows(tables, id)),
  };
}

function readRows(tables: Tables, id: MoveId): MoveRows | undefined {
  const move = tables.moves.get(id);
  const unit = move && tables.units.get(move.unitId)?.unit;
  if (move === undefined || unit === undefined) return undefined;
  const applications = applicationsOf(tables, unit.id).map(({ application }) => {
    const environment = environmentNamed(tables, application.workspaceId, application.spec.destination.environment);
    return { application: spelled(tables, application).application, environment };
  });
  return {
    move,
    source: tables.instances.get(move.from),
    target: tables.instances.get(move.to),
    unit: { unit, workspace: workspaceOfTables(tables, unit.workspaceId), environments: environmentsOf(tables, unit), applications },
    takers: tables.units
      .where("workspace", unit.workspaceId)
      .filter((row) => row.unit.tookFrom === unit.id && row.unit.owner === move.from)
      .map((row) => row.unit.id)
      .sort(),
  };
}

function request(transaction: Transaction, rules: PartRules, requestedMove: RequestedMove): MoveRequest {
  const { tables, notify } = transaction;
  const unit = tables.units.get(requestedMove.unitId)?.unit;
  const target = tables.instances.get(requestedMove.to);
  if (unit === undefined) return { kind: "stale" };
  if (target === undefined) return { kind: "full" };
  const live = liveMoveOf(tables, unit.id);
  if (live?.id === requestedMove.id) return { kind: "requested" };
  const isStale = unit.owner === undefined || unit.owner === requestedMove.to || unit.epoch !== requestedMove.epoch;
  // It brought the unit to where it is by now, and waits for that instance.
  const isTakenOn =
    requestedMove.isFailOver && !isStale && live?.toEpoch === requestedMove.epoch && PHASES[live.phase].next.includes("REDIRECTED");
  if (live !== undefined && !isTakenOn) return { kind: "moving", id: live.id };
  if (unit.owner === undefined || isStale) return { kind: "stale" };
  if (rules.isKept(tables, unit, requestedMove.isFailOver)) return { kind: "kept" };
  const load = loadWith(tables, requestedMove.to, unit);
  const fits = LOAD_DIMENSIONS.every((dimension) => load[dimension] <= requestedMove.ceiling[dimension]);
  const mayGo = !strangersOf(tables, unit).includes(requestedMove.to) && isApart(tables, unit, requestedMove.to);
  if (target.state !== "ACTIVE" || !fits || !mayGo) return { kind: "full" };
  if (live !== undefined) enterAndFree(transaction, live, { to: "REDIRECTED", message: TAKEN_ON });
  const { id, unitId, to, epoch: fromEpoch, kind, reason, plan, reverses, isFailOver, actor, decision } = requestedMove;
  const { at } = decision;
  tables.moves.set(id, {
    id,
    unitId,
    from: unit.owner,
    to,
    fromEpoch,
    toEpoch: 0,
    phase: "WAITING",
    phaseSince: at,
    kind,
    reason,
    plan,
    reverses,
    actor,
    isFailOver,
    createdAt: at,
    endedAt: undefined,
    message: "",
    messageCode: undefined,
    baseline: [],
    marks: [{ phase: "WAITING", at }],
  });
  tables.decisions.push(decision);
  notify("move", id);
  return { kind: "requested" };
}

function begin(transaction: Transaction, id: MoveId): MoveBeginning {
  const { tables, notify } = transaction;
  const move = tables.moves.get(id);
  if (move?.phase !== "WAITING") return "stale";
  const row = tables.units.get(move.unitId);
  if (row?.unit.owner !== move.from || row.unit.epoch !== move.fromEpoch || row.unit.phase !== "IDLE") {
    enterPhaseInMemory(transaction, move, { to: "ABORTED", message: "the unit was moved or changed before its turn came" });
    return "dropped";
  }
  const isLeaving = applicationsOf(tables, move.unitId).some(({ application }) => application.deletedAt !== undefined);
  if (isLeaving && !move.isFailOver) return "leaving";
  if (tables.instances.get(move.to)?.state !== "ACTIVE" || !isApart(tables, row.unit, move.to)) {
    enterPhaseInMemory(transaction, move, { to: "ABORTED", message: TARGET_LEFT });
    return "dropped";
  }
  tables.lastEpoch += 1;
  enterPhaseInMemory(transaction, { ...move, toEpoch: tables.lastEpoch }, { to: "PREPARE", message: "" });
  putUnit(tables, { ...row, unit: { ...row.unit, phase: "MOVING", rowVersion: row.unit.rowVersion + 1 } });
  notify("unit", move.unitId);
  return "begun";
}

/** Puts a move into a phase, and gives its unit back where it holds that no longer. */
function enterAndFree(transaction: Transaction, move: Move, entering: Parameters<typeof enterPhaseInMemory>[2]): void {
  enterPhaseInMemory(transaction, move, entering);
  if (PHASES[move.phase].holdsUnit && !PHASES[entering.to].holdsUnit) free(transaction, move.unitId);
}

function free({ tables, notify }: Transaction, unitId: UnitId): void {
  const row = tables.units.get(unitId);
  if (row?.unit.phase !== "MOVING") return;
  putUnit(tables, { ...row, unit: { ...row.unit, phase: "IDLE", rowVersion: row.unit.rowVersion + 1 } });
  notify("unit", unitId);
  for (const { application } of applicationsOf(tables, unitId)) notify("application", application.id);
}
