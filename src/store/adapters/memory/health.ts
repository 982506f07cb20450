import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { HealthRecord, HealthStore, NeverCompared, Troubles } from "../../health/port.ts";
import { applicationsOf } from "./applications.ts";
import type { MemoryApplicationRow, Tables, Transact, Transaction } from "./tables.ts";

export function createMemoryHealthStore(transact: Transact): HealthStore {
  return {
    record: (observations, signal) =>
      transact(signal, (transaction) => {
        for (const observation of observations) recordSample(transaction, observation);
        for (const ofInstance of Map.groupBy(observations, ({ verdict }) => verdict.instanceId).values())
          recordVerdict(
            transaction,
            ofInstance.reduce((newest, each) => (each.verdict.at > newest.verdict.at ? each : newest)),
          );
      }),
    readWindow: (instanceId, since, signal) =>
      transact(signal, ({ tables }) => ({
        samples: (tables.probeSamples.get(instanceId) ?? []).filter(({ at }) => at >= since),
        verdict: tables.verdicts.get(instanceId),
      })),
    listVerdicts: (signal) =>
      transact(signal, ({ tables }) => {
        const standing = [...tables.verdicts.values()].filter(({ instanceId }) => tables.instances.get(instanceId)?.state !== "RETIRED");
        return standing.sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
      }),
    listNeverCompared: (wanted, signal) => transact(signal, ({ tables }) => neverCompared(tables, wanted)),
    listTroubles: (instanceIds, signal) =>
      transact(signal, ({ tables }) => [...new Set(instanceIds)].sort().flatMap((id) => troublesOf(tables, id) ?? [])),
  };
}

function recordVerdict({ tables, notify }: Transaction, { verdict, decision }: HealthRecord): void {
  const { instanceId } = verdict;
  const before = tables.verdicts.get(instanceId);
  if (!tables.instances.has(instanceId) || (before !== undefined && before.at >= verdict.at)) return;
  tables.verdicts.set(instanceId, verdict);
  if (decision !== undefined) tables.decisions.push(decision);
  if (before?.state !== verdict.state) notify("verdict", instanceId);
}

function recordSample({ tables }: Transaction, { sample, verdict: { instanceId }, keepSince }: HealthRecord): void {
  if (!tables.instances.has(instanceId)) return;
  const others = (tables.probeSamples.get(instanceId) ?? []).filter(({ at }) => at >= keepSince && at !== sample.at);
  tables.probeSamples.set(
    instanceId,
    [...others, sample].toSorted((a, b) => a.at - b.at),
  );
}

function neverCompared(tables: Tables, { instanceId, madeBefore, notMovedSince, limit }: NeverCompared): readonly UnitId[] {
  const isLeaving = (id: UnitId): boolean =>
    [...tables.moves.values()].some(
      ({ unitId, from, endedAt }) => unitId === id && from === instanceId && (endedAt === undefined || endedAt > notMovedSince),
    );
  const isCompared = ({ status }: MemoryApplicationRow): boolean => status !== undefined && status.status.sync.status !== "Unknown";
  const meant = tables.units.where("owner", instanceId).filter(({ unit, createdAt }) => {
    const applications = applicationsOf(tables, unit.id);
    return createdAt <= madeBefore && applications.length > 0 && !applications.some(isCompared) && !isLeaving(unit.id);
  });
  const sorted = meant.toSorted((a, b) => a.createdAt - b.createdAt || (a.unit.id < b.unit.id ? -1 : 1));
  return sorted.slice(0, limit).map(({ unit }) => unit.id);
}

function troublesOf(tables: Tables, instanceId: InstanceId): Troubles | undefined {
  const units = tables.units.where("owner", instanceId);
  const isBroken = ({ status }: MemoryApplicationRow): boolean =>
    status?.status.conditions.some(({ type }) => type === "ComparisonError") === true;
  const troubledUnits = units.filter(({ unit }) => applicationsOf(tables, unit.id).some(isBroken)).length;
  return troubledUnits === 0 ? undefined : { instanceId, units: units.length, troubledUnits };
}
