import type { RecoveredOwner, RecoveryStore, UnitToRecover } from "../../recovery/port.ts";
import { enterPhaseInMemory, liveMoveOf } from "./live-moves.ts";
import { deploy } from "./placements.ts";
import type { Tables, Transact, Transaction } from "./tables.ts";

export function createMemoryRecoveryStore(transact: Transact): RecoveryStore {
  return {
    readLastEpoch: (signal) => transact(signal, ({ tables }) => tables.lastEpoch),
    raiseEpochs: (above, signal) =>
      transact(signal, ({ tables }) => {
        tables.lastEpoch = Math.max(tables.lastEpoch, above);
      }),
    listPlaced: ({ after, limit }, signal) =>
      transact(signal, ({ tables }) => {
        const later = placed(tables).filter(({ id }) => id > after);
        return later.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      }),
    recordOwner: (change, signal) => transact(signal, (transaction) => recordOwner(transaction, change)),
  };
}

function placed(tables: Tables): UnitToRecover[] {
  return [...tables.units.values()].flatMap(({ unit: { id, workspaceId, bucket, owner, epoch, phase } }) => {
    const namespace = tables.workspaces.get(workspaceId)?.namespace;
    return owner === undefined || namespace === undefined ? [] : [{ id, namespace, bucket, owner, epoch, phase }];
  });
}

function recordOwner(transaction: Transaction, { unit, owner, message, decision }: RecoveredOwner): boolean {
  const { tables } = transaction;
  const now = tables.units.get(unit.id)?.unit;
  if (now?.owner !== unit.owner || now.epoch !== unit.epoch || now.phase !== unit.phase) return false;
  const move = liveMoveOf(tables, unit.id);
  if (move !== undefined) enterPhaseInMemory(transaction, move, { to: "ABORTED", message });
  tables.lastEpoch += 1;
  deploy(transaction, unit.id, { owner, epoch: tables.lastEpoch, phase: "IDLE" });
  tables.decisions.push(decision);
  return true;
}
