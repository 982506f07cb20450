import type { PlanSummary } from "../api/routes/plans.ts";
import type { ApplicationView, InstanceView, OperationView, WorkspaceView } from "../api/schema.ts";
import type { Column } from "./output.ts";

export const instances: readonly Column<InstanceView>[] = [
  { title: "NAME", value: (row) => row.name },
  { title: "STATE", value: (row) => row.state },
  { title: "VERSION", value: (row) => (row.version === row.desiredVersion ? row.version : `${row.version} → ${row.desiredVersion}`) },
  { title: "UNITS", value: (row) => row.units },
  { title: "APPS", value: (row) => row.load.applications },
  { title: "USED", value: (row) => percentOf(row.utilisation) },
  { title: "SINCE", value: (row) => row.since },
  { title: "POOL", value: (row) => row.pool, isWide: true },
  { title: "CLASS", value: (row) => row.class, isWide: true },
  { title: "CLUSTER", value: (row) => row.engineCluster, isWide: true },
  { title: "NAMESPACE", value: (row) => row.namespace, isWide: true },
  { title: "ENTRIES", value: (row) => `${row.clusterEntries ?? "?"}/${row.capacity.clusterEntries}`, isWide: true },
  { title: "MEMORY", value: (row) => memoryOf(row.controllerMemoryBytes), isWide: true },
  { title: "REASON", value: (row) => row.reason, isWide: true },
];

function memoryOf(bytes: number | null): string | null {
  return bytes === null ? null : `${Math.round(bytes / 2 ** 20)} MiB`;
}

function percentOf(share: number): string {
  return share > 0 && share < 0.01 ? "<1 %" : `${Math.round(share * 100)} %`;
}

export const workspaces: readonly Column<WorkspaceView>[] = [
  { title: "NAMESPACE", value: (row) => row.namespace },
  { title: "APPS", value: (row) => row.applications },
  { title: "INSTANCE", value: (row) => row.units.map((unit) => unit.instance ?? "waiting for capacity").join(", ") },
  { title: "STATE", value: (row) => row.state },
  { title: "EPOCH", value: (row) => row.units.map((unit) => unit.epoch).join(", "), isWide: true },
  { title: "CLASS", value: (row) => row.units.map((unit) => unit.class).join(", "), isWide: true },
  { title: "CLUSTER", value: (row) => row.apiCluster, isWide: true },
  { title: "ID", value: (row) => row.id, isWide: true },
];

export const applications: readonly Column<ApplicationView>[] = [
  { title: "NAMESPACE", value: (row) => row.namespace },
  { title: "NAME", value: (row) => row.name },
  { title: "INSTANCE", value: (row) => row.instance },
  { title: "SYNC", value: (row) => (row.deleting ? `${row.sync} (deleting)` : row.sync) },
  { title: "HEALTH", value: (row) => row.health },
  { title: "REVISION", value: (row) => row.revision.slice(0, 12) },
  { title: "TYPE", value: (row) => row.type, isWide: true },
  { title: "REPOSITORY", value: (row) => row.repoUrl, isWide: true },
  { title: "PATH", value: (row) => row.path, isWide: true },
  { title: "TARGET", value: (row) => (row.targetRevision === "" ? "HEAD" : row.targetRevision), isWide: true },
  { title: "RECONCILED", value: (row) => row.reconciledAt, isWide: true },
  { title: "ARGO CD NAME", value: (row) => row.argoName, isWide: true },
  { title: "ERROR", value: (row) => row.failure?.message ?? row.errors[0]?.message ?? null, isWide: true },
];

export const operations: readonly Column<OperationView>[] = [
  { title: "APPLICATION", value: (row) => row.subjectName ?? "(gone)" },
  { title: "KIND", value: (row) => row.kind },
  { title: "STATE", value: (row) => row.state },
  { title: "UPDATED", value: (row) => row.updatedAt },
  { title: "MESSAGE", value: (row) => row.message },
  { title: "INSTANCE", value: (row) => row.instance, isWide: true },
  { title: "ATTEMPTS", value: (row) => row.attempts, isWide: true },
  { title: "DUE", value: (row) => (row.state === "Completed" ? "" : (row.deadline ?? "")), isWide: true },
  { title: "CREATED", value: (row) => row.createdAt, isWide: true },
  { title: "ID", value: (row) => row.id, isWide: true },
];

export const plans: readonly Column<PlanSummary>[] = [
  { title: "ID", value: (row) => row.id },
  { title: "GOAL", value: (row) => `${row.goal} ${row.subject}`.trimEnd() },
  { title: "MOVES", value: (row) => row.moves.length },
  { title: "MADE", value: (row) => row.createdAt },
  { title: "BY", value: (row) => row.actor },
  { title: "CARRIED OUT", value: (row) => row.appliedAt },
  { title: "CLASS", value: (row) => row.class, isWide: true },
  { title: "EXPIRES", value: (row) => row.expiresAt, isWide: true },
  { title: "APPROVAL", value: (row) => row.approval.join(", "), isWide: true },
];
