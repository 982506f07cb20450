import type { PlanSummary } from "../api/routes/plans.ts";
import type { ApplicationView, InstanceView, OperationView, WorkspaceView } from "../api/schema.ts";
import { age, shortId, timeText } from "./age.ts";
import type { Column } from "./table.ts";

export const instanceColumns: readonly Column<InstanceView>[] = [
  { title: "NAME", value: (row) => row.name, fit: "name" },
  { title: "STATE", value: (row) => row.state },
  { title: "VERSION", value: (row) => (row.version === row.desiredVersion ? row.version : `${row.version} → ${row.desiredVersion}`) },
  { title: "UNITS", value: (row) => row.units },
  { title: "APPS", value: (row) => row.load.applications },
  { title: "USED", value: (row) => percentOf(row.utilisation) },
  { title: "FOR", value: (row) => age(row.since), isClock: true },
  { title: "SINCE", value: (row) => timeText(row.since), isWide: true },
  { title: "POOL", value: (row) => row.pool, isWide: true },
  { title: "CLASS", value: (row) => row.class, isWide: true },
  { title: "CLUSTER", value: (row) => row.engineCluster, isWide: true },
  { title: "NAMESPACE", value: (row) => row.namespace, isWide: true },
  { title: "ENTRIES", value: (row) => `${row.clusterEntries ?? "?"}/${row.capacity.clusterEntries}`, isWide: true },
  { title: "MEMORY", value: (row) => memoryOf(row.controllerMemoryBytes), isWide: true },
  { title: "RAISED", value: (row) => raisedText(row.raised), isWide: true },
  { title: "REASON", value: (row) => row.reason, isWide: true },
];

/** `controller.memory 6Gi`, what it has beyond its pool's resources. */
export function raisedText(raised: InstanceView["raised"]): string | null {
  return raised.length === 0 ? null : raised.map(({ amount, given }) => `${amount} ${given}`).join(", ");
}

function memoryOf(bytes: number | null): string | null {
  return bytes === null ? null : `${Math.round(bytes / 2 ** 20)} MiB`;
}

function percentOf(share: number): string {
  return share > 0 && share < 0.01 ? "<1 %" : `${Math.round(share * 100)} %`;
}

export const workspaceColumns: readonly Column<WorkspaceView>[] = [
  { title: "NAMESPACE", value: (row) => row.namespace, fit: "name" },
  { title: "APPS", value: (row) => row.applications },
  { title: "INSTANCE", value: (row) => row.units.map((unit) => unit.instance ?? "waiting for capacity").join(", "), fit: "name" },
  { title: "STATE", value: (row) => row.state },
  { title: "EPOCH", value: (row) => row.units.map((unit) => unit.epoch).join(", "), isWide: true },
  { title: "CLASS", value: (row) => row.units.map((unit) => unit.class).join(", "), isWide: true },
  { title: "CLUSTER", value: (row) => row.apiCluster, isWide: true },
  { title: "ID", value: (row) => row.id, isWide: true },
];

export const applications: readonly Column<ApplicationView>[] = [
  { title: "NAMESPACE", value: (row) => row.namespace, fit: "name" },
  { title: "NAME", value: (row) => row.name, fit: "name" },
  { title: "INSTANCE", value: (row) => row.instance, fit: "name" },
  { title: "SYNC", value: (row) => (row.deleting ? `${row.sync} (deleting)` : row.sync) },
  { title: "HEALTH", value: (row) => row.health },
  { title: "REVISION", value: (row) => row.revision.slice(0, 7) },
  { title: "COMMIT", value: (row) => row.revision, isWide: true },
  { title: "TYPE", value: (row) => row.type, isWide: true },
  { title: "REPOSITORY", value: (row) => row.repoUrl, isWide: true },
  { title: "PATH", value: (row) => row.path, isWide: true },
  { title: "TARGET", value: (row) => (row.targetRevision === "" ? "HEAD" : row.targetRevision), isWide: true },
  { title: "RECONCILED", value: (row) => timeText(row.reconciledAt), isWide: true },
  { title: "ARGO CD NAME", value: (row) => row.argoName, isWide: true },
  { title: "ERROR", value: (row) => row.failure?.message ?? row.errors[0]?.message ?? null, isWide: true },
];

export const operations: readonly Column<OperationView>[] = [
  { title: "ID", value: (row) => row.id, isWide: true },
  { title: "APPLICATION", value: (row) => row.subjectName ?? "(gone)", fit: "name" },
  { title: "KIND", value: (row) => row.kind },
  { title: "STATE", value: (row) => row.state },
  { title: "CHANGED", value: (row) => age(row.updatedAt), isClock: true },
  { title: "INSTANCE", value: (row) => row.instance, isWide: true },
  { title: "ATTEMPTS", value: (row) => row.attempts, isWide: true },
  { title: "DUE", value: (row) => (row.state === "Completed" || row.deadline === null ? "" : timeText(row.deadline)), isWide: true },
  { title: "CREATED", value: (row) => timeText(row.createdAt), isWide: true },
  { title: "MESSAGE", value: (row) => row.message, fit: "text" },
];

export const plans: readonly Column<PlanSummary>[] = [
  { title: "PLAN", value: (row) => shortId(row.id) },
  { title: "GOAL", value: (row) => `${row.goal} ${row.subject}`.trimEnd(), fit: "name" },
  { title: "MOVES", value: (row) => row.moves.length },
  { title: "AGE", value: (row) => age(row.createdAt), isClock: true },
  { title: "BY", value: (row) => row.actor, fit: "name" },
  { title: "APPLIED", value: (row) => age(row.appliedAt), isClock: true },
  { title: "ID", value: (row) => row.id, isWide: true },
  { title: "MADE", value: (row) => timeText(row.createdAt), isWide: true },
  { title: "CARRIED OUT", value: (row) => timeText(row.appliedAt), isWide: true },
  { title: "CLASS", value: (row) => row.class, isWide: true },
  { title: "EXPIRES", value: (row) => timeText(row.expiresAt), isWide: true },
  { title: "APPROVAL", value: (row) => row.approval.join(", "), isWide: true },
];
