import { forgottenEntry } from "../../../domain/audit.ts";
import type { Millis } from "../../../domain/clock.ts";
import type { Decision } from "../../../domain/decision.ts";
import {
  ACCOUNT_PURPOSE,
  accountCredentialPrefix,
  ENVIRONMENT_PURPOSE,
  OWNER_PURPOSE,
  ownerCredentialId,
} from "../../../domain/environment.ts";
import type { CredentialId, EnvironmentId, InstanceId, PlanId, UnitId, WorkspaceId } from "../../../domain/ids.ts";
import { REPOSITORY_PURPOSE } from "../../../domain/repository-credential.ts";
import type { RetentionStore } from "../../retention/port.ts";
import { appendAudit } from "./audit.ts";
import type { CredentialRow, Tables, Transact } from "./tables.ts";

/** As the database's trigger has it. */
const LEAST_AUDIT_MS = 30 * 24 * 60 * 60_000;

export function createMemoryRetentionStore(transact: Transact): RetentionStore {
  return {
    forgetOperations: (before, limit, signal) =>
      transact(signal, ({ tables }) => {
        const old = [...tables.operations.values()].filter(
          ({ operation }) => operation.state === "Completed" && operation.updatedAt < before,
        );
        const doomed = old.slice(0, limit);
        for (const { operation } of doomed) tables.operations.drop(operation.id);
        return doomed.length;
      }),
    forgetCredentials: (limit, signal) =>
      transact(signal, ({ tables }) => {
        const doomed = [...tables.credentials].filter(([id, row]) => isOrphan(tables, id, row)).slice(0, limit);
        for (const [id] of doomed) tables.credentials.delete(id);
        return doomed.length;
      }),
    forgetPlans: (before, limit, signal) =>
      transact(signal, ({ tables }) => {
        const doomed = [...tables.plans.values()].filter(({ expiresAt }) => expiresAt < before).slice(0, limit);
        for (const { id } of doomed) {
          tables.plans.delete(id);
          tables.planSteps.delete(id);
        }
        const kept = tables.unitMoves.filter(({ at }) => at >= before);
        if (doomed.length < limit) tables.unitMoves.splice(0, tables.unitMoves.length, ...kept);
        return doomed.length;
      }),
    forgetMoves: (before, limit, signal) =>
      transact(signal, ({ tables }) => {
        const old = [...tables.moves.values()].filter(({ endedAt }) => endedAt !== undefined && endedAt < before);
        const doomed = old.slice(0, limit);
        for (const { id } of doomed) tables.moves.delete(id);
        return doomed.length;
      }),
    forgetEnded: (before, limit, signal) =>
      transact(signal, ({ tables }) => {
        const old = [...tables.endedApplications.values()].filter(({ endedAt }) => endedAt < before);
        const doomed = old.slice(0, limit);
        for (const { id } of doomed) tables.endedApplications.drop(id);
        return doomed.length;
      }),
    forgetUsage: (before, limit, signal) =>
      transact(signal, ({ tables, now }) => {
        for (const [id, { until }] of tables.usageMarks) if (until < before) tables.usageMarks.delete(id);
        forgetLabels(tables, before, now());
        const doomed = [...tables.usageHours].filter(([, { hour }]) => hour < before).slice(0, limit);
        for (const [key] of doomed) tables.usageHours.delete(key);
        return doomed.length;
      }),
    forgetAudit: (before, limit, signal) =>
      transact(signal, (transaction) => {
        const { audit } = transaction.tables;
        const until = Math.min(before, transaction.now() - LEAST_AUDIT_MS);
        const young = audit.findIndex(({ at }) => at >= until);
        const count = Math.min(limit, young < 0 ? audit.length : young);
        const last = audit[count - 1];
        if (last === undefined) return 0;
        appendAudit(transaction, forgottenEntry(last));
        audit.splice(0, count);
        return count;
      }),
    // No walk has to be continued here: the whole array is searched at once.
    forgetDecisions: ({ before }, signal) =>
      transact(signal, ({ tables }) => {
        const kept = tables.decisions.filter((decision) => decision.at >= before || restsOn(tables, decision));
        const forgotten = tables.decisions.length - kept.length;
        tables.decisions.splice(0, tables.decisions.length, ...kept);
        return { forgotten, next: undefined };
      }),
  };
}

function forgetLabels(tables: Tables, before: Millis, now: Millis): void {
  for (const [id, { labels, goneAt }] of tables.usageLabels) {
    if (goneAt === undefined && tables.workspaces.get(id) === undefined) tables.usageLabels.set(id, { labels, goneAt: now });
    if (goneAt !== undefined && goneAt < before) tables.usageLabels.delete(id);
  }
}

/** Whether it is the newest of its kind about something that is still there. Later entries of the array are newer at the same time. */
function restsOn(tables: Tables, decision: Decision): boolean {
  const { subject, kind, at } = decision;
  if ((kind === "placement" || kind === "owner-binding") && tables.units.get(subject as UnitId) === undefined) return false;
  if ((kind === "instance" || kind === "health") && !tables.instances.has(subject as InstanceId)) return false;
  if (kind === "ownership" && tables.units.get(subject as UnitId) === undefined && !tables.instances.has(subject as InstanceId))
    return false;
  if (kind === "directive" && !isDirected(tables, subject)) return false;
  if (kind === "deletion" && tables.workspaces.get(subject as WorkspaceId) === undefined) return false;
  if (kind === "plan" && !tables.plans.has(subject as PlanId)) return false;
  const index = tables.decisions.indexOf(decision);
  return !tables.decisions.some(
    (one, place) => one.subject === subject && one.kind === kind && (one.at > at || (one.at === at && place > index)),
  );
}

function isOrphan(tables: Tables, id: CredentialId, { owner, purpose }: CredentialRow): boolean {
  if (tables.workspaces.get(owner as WorkspaceId) === undefined && !tables.instances.has(owner as InstanceId)) return true;
  if (purpose === ENVIRONMENT_PURPOSE) return tables.environments.get(id as string as EnvironmentId) === undefined;
  if (purpose === ACCOUNT_PURPOSE)
    return ![...tables.environments.values()].some((each) => id.startsWith(accountCredentialPrefix(each.id)));
  if (purpose === OWNER_PURPOSE) return ![...tables.environments.values()].some((each) => ownerCredentialId(each.id) === id);
  if (purpose === REPOSITORY_PURPOSE) return ![...tables.repositoryCredentials.values()].some(({ credentialId }) => credentialId === id);
  return false;
}

/** Subjects of orders: a workspace, or a freeze by its name. */
function isDirected(tables: Tables, subject: string): boolean {
  return tables.workspaces.get(subject as WorkspaceId) !== undefined || tables.freezes.has(subject.replace(/^freeze\//, ""));
}
