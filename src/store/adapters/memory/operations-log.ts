import type { ApplicationId, OperationId } from "../../../domain/ids.ts";
import type { Operation, OperationKind } from "../../../domain/operation.ts";
import type { Application } from "../../../domain/workspace.ts";
import type { OperationRow, Tables, Transaction } from "./tables.ts";

/** How long an operation that ended is kept, in ms. */
const KEPT_MS = 24 * 60 * 60_000;

const hasEnded = ({ operation }: OperationRow): boolean => operation.state === "Completed" || operation.state === "Failed";

function put(tables: Tables, operation: Operation, revision: number): void {
  tables.operations.put(operation.id, { operation, revision });
}

/** Records that an application changed, together with a change of the same kind that still waits. */
export function openOperation(
  { tables, now }: Transaction,
  application: Application,
  { id, kind }: { readonly id: OperationId; readonly kind: OperationKind },
): void {
  const at = now();
  const { id: subject, workspaceId, desiredRevision } = application;
  forgetEnded(tables, subject, at);
  const instanceId = tables.units.get(application.unitId)?.unit.owner;
  const waiting = tables.operations
    .where("subject", subject)
    .find(({ operation }) => operation.kind === kind && operation.state === "Waiting")?.operation;
  const fresh: Operation = {
    id,
    workspaceId,
    instanceId,
    subject,
    kind,
    state: "Waiting",
    attempts: 0,
    createdAt: at,
    updatedAt: at,
    message: "",
  };
  put(tables, waiting === undefined ? fresh : { ...waiting, instanceId, updatedAt: at }, desiredRevision);
}

function forgetEnded(tables: Tables, subject: string, at: number): void {
  for (const row of tables.operations.where("subject", subject))
    if (hasEnded(row) && row.operation.updatedAt < at - KEPT_MS) tables.operations.drop(row.operation.id);
}

/** Completes what waits of one kind for an application, up to a revision. */
export function completeOperations(
  { tables, now }: Transaction,
  subject: ApplicationId,
  answer: { readonly kind: OperationKind; readonly revision?: number; readonly message?: string },
): void {
  for (const row of tables.operations.where("subject", subject)) {
    const { operation, revision } = row;
    if (operation.state !== "Waiting" || operation.kind !== answer.kind || revision > (answer.revision ?? revision)) continue;
    put(
      tables,
      { ...operation, state: "Completed", attempts: operation.attempts + 1, updatedAt: now(), message: answer.message ?? "" },
      revision,
    );
  }
}

/** Changes what waits for an application: where it is to be carried out, or why it still waits. */
export function amendWaiting(
  { tables, now }: Transaction,
  subject: ApplicationId,
  change: Partial<Pick<Operation, "instanceId" | "message">>,
): void {
  for (const { operation, revision } of tables.operations.where("subject", subject)) {
    if (operation.state === "Waiting") put(tables, { ...operation, ...change, updatedAt: now() }, revision);
  }
}
