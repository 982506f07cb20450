import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { HealthRecord, HealthStore, NeverCompared } from "../../health/port.ts";
import { applicationsOf, workspaceOfTables } from "./applications.ts";
import type { MemoryApplicationRow, Tables, Transact, Transaction } from "./tables.ts";

export function createMemoryHealthStore(transact: Transact): HealthStore {
  return {
    record: (observation, signal) => transact(signal, (transaction) => record(transaction, observation)),
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
    readTroubles: (instanceId, signal) => transact(signal, ({ tables }) => troublesOf(tables, instanceId)),
  };
}

function record({ tables, notify }: Transaction, { sample, verdict, keepSince, decision }: HealthRecord): void {
  const { instanceId } = verdict;
  if (!tables.instances.has(instanceId)) return;
  const before = tables.verdicts.get(instanceId);
  if (before === undefined || before.at < verdict.at) {
    tables.verdicts.set(instanceId, verdict);
    if (decision !== undefined) tables.decisions.push(decision);
    if (before?.state !== verdict.state) notify("verdict", instanceId);
  }
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

function troublesOf(tables: Tables, instanceId: InstanceId) {
  const units = tables.units.where("owner", instanceId).map(({ unit }) => {
    const broken = applicationsOf(tables, unit.id).filter(({ status }) =>
      status?.status.conditions.some(({ type }) => type === "ComparisonError"),
    );
    return { unitId: unit.id, namespace: workspaceOfTables(tables, unit.workspaceId).namespace, applications: broken.length };
  });
  const troubled = units.filter(({ applications }) => applications > 0);
  return { units: units.length, troubled: troubled.sort((a, b) => b.applications - a.applications || (a.unitId < b.unitId ? -1 : 1)) };
}
