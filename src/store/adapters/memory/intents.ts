import { partOfDeal } from "../../../domain/bucket.ts";
import { areSameGroups, type WorkspaceGroups } from "../../../domain/groups.ts";
import { canonicalJson } from "../../../domain/hash.ts";
import type { ApplicationId, WorkspaceId } from "../../../domain/ids.ts";
import { ZERO_LOAD } from "../../../domain/load.ts";
import type { Application, PlacementUnit, Workspace } from "../../../domain/workspace.ts";
import { ECHO_MS } from "../../intent/echo.ts";
import type {
  ClassAssignment,
  DeletionIntent,
  DeploymentIntent,
  GroupAssignment,
  IntentOutcome,
  IntentStore,
  KeptName,
  KeptNameOutcome,
} from "../../intent/port.ts";
import { SUPERSEDED_BY_DELETION } from "../../operation/messages.ts";
import { applicationsOf, dropApplications, dropWorkspace, putUnit, unitRow, withUnits } from "./applications.ts";
import { completeOperations, openOperation } from "./operations-log.ts";
import { beginAccess } from "./repository-access.ts";
import { type MemoryApplicationRow, type Tables, type Transact, type Transaction, workspaceIdentity } from "./tables.ts";
import { createUserViews } from "./user-views.ts";

export function createIntentStore(transact: Transact): IntentStore {
  return {
    ...createUserViews(transact),
    recordDeployments: (intents, signal) => transact(signal, (transaction) => recordDeployments(transaction, intents)),
    keepName: (name, signal) => transact(signal, (transaction) => keepName(transaction, name)),
    recordDeletions: (deletions, signal) => transact(signal, (transaction) => recordDeletions(transaction, deletions)),
    recordWorkspaceEnds: (ids, signal) => transact(signal, (transaction) => ids.forEach((id) => endWorkspace(transaction, id))),
    assignClass: (assignment, signal) => transact(signal, (transaction) => assignClass(transaction, assignment)),
    recordLabels: (workspaces, signal) =>
      transact(signal, ({ tables }) => {
        for (const { workspaceId, labels } of workspaces) tables.usageLabels.set(workspaceId, { labels, goneAt: undefined });
      }),
    assignGroups: (assignment, signal) => transact(signal, (transaction) => assignGroups(transaction, assignment)),
  };
}

function assignClass({ tables, notify }: Transaction, { workspaceId, class: className, trustClass, decision }: ClassAssignment): void {
  const rows = [...tables.units.where("workspace", workspaceId)];
  const changed = rows.filter(({ unit }) => (unit.wantedClass ?? unit.class) !== className);
  if (changed.length === 0) return;
  for (const row of changed) {
    const { wantedClass: _before, ...unit } = { ...row.unit, rowVersion: row.unit.rowVersion + 1 };
    if (unit.owner === undefined) putUnit(tables, { ...row, unit: { ...unit, class: className } });
    else putUnit(tables, { ...row, unit: unit.class === className ? unit : { ...unit, wantedClass: className } });
    notify("unit", unit.id);
  }
  notify("class", workspaceId);
  const workspace = tables.workspaces.get(workspaceId);
  if (workspace !== undefined && rows.every(({ unit }) => unit.owner === undefined))
    tables.workspaces.put(workspaceId, { ...workspace, trustClass });
  tables.decisions.push(decision);
}

function assignGroups({ tables, notify }: Transaction, { workspaceId, groups, decision }: GroupAssignment): void {
  const workspace = tables.workspaces.get(workspaceId);
  if (workspace === undefined || areSameGroups(workspace.groups, groups)) return;
  tables.workspaces.put(workspaceId, withGroups(workspace, groups));
  for (const row of tables.units.where("workspace", workspaceId)) {
    const { isRegrouped: _before, ...unit } = { ...row.unit, rowVersion: row.unit.rowVersion + 1 };
    putUnit(tables, { ...row, unit: unit.owner === undefined ? unit : { ...unit, isRegrouped: true } });
    notify("unit", unit.id);
  }
  tables.decisions.push(decision);
}

/** As rows hold it: in no group is none. */
function withGroups({ groups: _before, ...workspace }: Workspace, groups: WorkspaceGroups | undefined): Workspace {
  return areSameGroups(groups, undefined) || groups === undefined ? workspace : { ...workspace, groups };
}

function recordDeployments(transaction: Transaction, intents: readonly DeploymentIntent[]): readonly IntentOutcome[] {
  const { tables, notify } = transaction;
  const sorted = intents.toSorted((a, b) => (a.uid < b.uid ? -1 : 1));
  const units = new Map(sorted.map((intent) => [intent.uid, unitFor(transaction, intent, ensureUnit(transaction, intent))]));
  const outcomes = new Map<string, IntentOutcome>();
  withUnits(
    transaction,
    [...units.values()].map(({ id }) => id),
    () => {
      for (const intent of sorted) {
        const unit = units.get(intent.uid);
        if (unit !== undefined) outcomes.set(intent.uid, recordDeployment(transaction, intent, unit));
      }
    },
  );
  for (const { kind, applicationId } of outcomes.values()) {
    const row = tables.applications.get(applicationId);
    if ((kind !== "created" && kind !== "updated") || row === undefined) continue;
    const { owner, id } = unitRow(tables, row.application.unitId).unit;
    if (owner === undefined) notify("unit", id);
    else notify("application", applicationId);
  }
  return intents.flatMap(({ uid }) => outcomes.get(uid) ?? []);
}

function keepName({ tables, now }: Transaction, { uid, argoName, goneBefore }: KeptName): KeptNameOutcome {
  const rows = [...tables.applications.values()].map(({ application }) => application);
  if (rows.some((row) => row.uid === uid && row.argoName !== argoName)) return "late";
  if (rows.some((row) => row.uid !== uid && row.argoName === argoName)) return "taken";
  const own = tables.keptNames.get(uid);
  if (own !== undefined && own.argoName !== argoName) return "taken";
  const holder = [...tables.keptNames].find(([, kept]) => kept.argoName === argoName);
  if (holder !== undefined && holder[0] !== uid) {
    const isGone = holder[1].at < goneBefore && !rows.some((row) => row.uid === holder[0]);
    if (!isGone) return "taken";
    tables.keptNames.delete(holder[0]);
  }
  tables.keptNames.set(uid, { argoName, at: now() });
  return "kept";
}

/** The unit an application has, or that of its bucket's part where its workspace is split. */
function unitFor({ tables }: Transaction, { uid, spec, name }: DeploymentIntent, first: PlacementUnit): PlacementUnit {
  const [known] = tables.applications.where("uid", uid);
  if (known !== undefined && known.application.workspaceId === first.workspaceId) return unitRow(tables, known.application.unitId).unit;
  const split = tables.splits.get(first.workspaceId);
  if (split === undefined) return first;
  const part = partOfDeal(split.deal, { destination: spec.destination, name }) ?? split.openPart;
  return tables.units.where("workspace", first.workspaceId).find(({ unit }) => unit.bucket === part)?.unit ?? first;
}

/** What a workspace and its unit are made from where they do not exist yet. */
type UnitRequest = Pick<DeploymentIntent, "workspace" | "class"> & {
  readonly newIds: Pick<DeploymentIntent["newIds"], "workspaceId" | "unitId">;
};

export function ensureUnit({ tables, notify, now }: Transaction, intent: UnitRequest): PlacementUnit {
  const [known] = tables.workspaces.where("identity", workspaceIdentity(intent.workspace));
  const workspaceId = known?.id ?? intent.newIds.workspaceId;
  const hasUnits = tables.units.where("workspace", workspaceId).length > 0;
  const workspace: Workspace = { ...(known ?? { ...intent.workspace, id: workspaceId }), state: "active" };
  // Groups of one that has units are changed elsewhere, where the units are marked too.
  if (known?.state !== "active" || !hasUnits)
    tables.workspaces.put(workspaceId, hasUnits ? workspace : withGroups(workspace, intent.workspace.groups));
  const row = tables.units.where("workspace", workspaceId).find(({ unit }) => unit.bucket === 0);
  if (row === undefined) {
    const fresh: PlacementUnit = {
      id: intent.newIds.unitId,
      workspaceId,
      bucket: 0,
      class: intent.class,
      owner: undefined,
      epoch: 0,
      phase: "UNPLACED",
      load: ZERO_LOAD,
      desiredRevision: 0,
      rowVersion: 1,
    };
    putUnit(tables, { unit: fresh, unplaceable: undefined, createdAt: now() });
    return fresh;
  }
  if (known?.state !== "deleting") return row.unit;
  // Its objects may be gone already: what was acknowledged of them says nothing any more.
  putUnit(tables, { ...row, unit: { ...row.unit, desiredRevision: row.unit.desiredRevision + 1 } });
  notify("unit", row.unit.id);
  return row.unit;
}

function recordDeployment(transaction: Transaction, intent: DeploymentIntent, unit: PlacementUnit): IntentOutcome {
  const { tables } = transaction;
  const { uid, name, generation, spec, argoName, newIds } = intent;
  const [row] = tables.applications.where("uid", uid);
  const ended = tables.endedApplications.where("uid", uid).find(({ endedAt }) => endedAt > transaction.now() - ECHO_MS);
  if (ended !== undefined) return { kind: "deleting", applicationId: ended.id };
  if (row === undefined) {
    if (intent.provesAccess === true) beginAccess(transaction, unit.workspaceId, spec.source.repoUrl);
    const wanted = { desiredRevision: 1, deletion: "none", deletedAt: undefined } as const;
    const application: Application = {
      id: newIds.applicationId,
      workspaceId: unit.workspaceId,
      unitId: unit.id,
      name,
      uid,
      generation,
      spec,
      argoName: tables.keptNames.get(uid)?.argoName ?? argoName,
      ...wanted,
    };
    tables.applications.put(application.id, {
      application,
      status: undefined,
      blockage: undefined,
      viewRevision: 1,
      publishedRevision: 0,
      publishedHash: "",
    });
    openOperation(transaction, application, { id: newIds.operationId, kind: "apply-application" });
    return { kind: "created", applicationId: application.id };
  }
  const { application } = row;
  const applicationId = application.id;
  if (application.deletedAt !== undefined) return { kind: "deleting", applicationId };
  if (generation < application.generation) return { kind: "unchanged", applicationId };
  const isChanged = canonicalJson(spec) !== canonicalJson(application.spec);
  const after = { ...application, generation, spec, desiredRevision: application.desiredRevision + (isChanged ? 1 : 0) };
  if (isChanged && intent.provesAccess === true) beginAccess(transaction, application.workspaceId, spec.source.repoUrl);
  putApplication(tables, row, after);
  if (isChanged) openOperation(transaction, after, { id: newIds.operationId, kind: "apply-application" });
  return { kind: isChanged ? "updated" : "unchanged", applicationId };
}

function recordDeletions(transaction: Transaction, deletions: readonly DeletionIntent[]): void {
  const { tables } = transaction;
  const nowhere: ApplicationId[] = [];
  for (const deletion of deletions) {
    const [row] = tables.applications.where("uid", deletion.uid);
    if (row === undefined) continue;
    markDeleted(transaction, row, deletion);
    if (unitRow(tables, row.application.unitId).unit.epoch === 0) nowhere.push(row.application.id);
  }
  dropApplications(
    transaction,
    nowhere.flatMap((id) => tables.applications.get(id)?.application ?? []),
  );
}

function markDeleted(transaction: Transaction, row: MemoryApplicationRow, { deletion: asked, operationId }: DeletionIntent): void {
  const { tables, notify, now } = transaction;
  const { application } = row;
  const isElsewhere = application.spec.destination.environment !== undefined;
  const isNamespaceGone = asked === "with-namespace" || tables.workspaces.get(application.workspaceId)?.state === "deleting";
  const deletion = asked === "orphan" || (isNamespaceGone && !isElsewhere) ? "orphan" : "cascade";
  const isFirst = application.deletedAt === undefined;
  if (!isFirst && (application.deletion === "orphan" || application.deletion === deletion)) return;
  const after: Application = { ...application, deletion, deletedAt: application.deletedAt ?? now() };
  putApplication(tables, row, after);
  notify("application", application.id);
  if (!isFirst) return;
  completeOperations(transaction, application.id, { kind: "apply-application", message: SUPERSEDED_BY_DELETION });
  openOperation(transaction, after, { id: operationId, kind: "delete-application" });
}

function putApplication(tables: Tables, row: MemoryApplicationRow, application: Application): void {
  tables.applications.put(application.id, { ...row, application });
}

/** A cascade that had not ended when its namespace was gone finds nothing left there, and the right to read there is gone too. */
function release({ tables, notify }: Transaction, row: MemoryApplicationRow): void {
  const { id, deletion, spec } = row.application;
  if (deletion !== "cascade" || spec.destination.environment !== undefined) return;
  putApplication(tables, row, { ...row.application, deletion: "orphan" });
  notify("application", id);
}

function endWorkspace(transaction: Transaction, id: WorkspaceId): void {
  const { tables, notify } = transaction;
  const workspace = tables.workspaces.get(id);
  if (workspace === undefined) return;
  const units = tables.units.where("workspace", id).map(({ unit }) => unit);
  const isNowhere = units.every((unit) => unit.epoch === 0 && applicationsOf(tables, unit.id).length === 0);
  const leavesNothing = tables.environments.where("workspace", id).every(({ hasAccount }) => !hasAccount);
  if (isNowhere && leavesNothing) return dropWorkspace(tables, id);
  if (workspace.state === "deleting") return;
  tables.workspaces.put(id, { ...workspace, state: "deleting" });
  for (const unit of units) notify("unit", unit.id);
  for (const row of units.flatMap((unit) => tables.applications.where("unit", unit.id))) release(transaction, row);
}
