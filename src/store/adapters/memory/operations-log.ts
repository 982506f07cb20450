import { millis } from "../../../domain/clock.ts";
import type { ApplicationId, OperationId } from "../../../domain/ids.ts";
import { OPERATION_DUE_MS, type Operation, type OperationKind } from "../../../domain/operation.ts";
import type { Application } from "../../../domain/workspace.ts";
import { WAITING_FOR_INSTANCE, WAITING_FOR_PLACE } from "../../operation/messages.ts";
import type { OperationRow, Tables, Transaction } from "./tables.ts";

const isOpen = ({ operation }: OperationRow): boolean => operation.state !== "Completed";

function put(tables: Tables, operation: Operation, revision: number, isTrouble = false): void {
  tables.operations.put(operation.id, { operation, revision, isTrouble });
}

/** Records that an application changed, together with a change of the same kind that is still open. */
export function openOperation(
  { tables, now }: Transaction,
  application: Application,
  { id, kind }: { readonly id: OperationId; readonly kind: OperationKind },
): void {
  const at = now();
  const { id: subject, workspaceId, desiredRevision } = application;
  const instanceId = tables.units.get(application.unitId)?.unit.owner;
  const open = tables.operations.where("subject", subject).find((row) => row.operation.kind === kind && isOpen(row))?.operation;
  const anew = {
    instanceId,
    state: "Waiting",
    updatedAt: at,
    deadline: millis(at + OPERATION_DUE_MS),
    message: instanceId === undefined ? WAITING_FOR_PLACE : WAITING_FOR_INSTANCE,
  } as const;
  const fresh: Operation = {
    id,
    workspaceId,
    subject,
    kind,
    attempts: 0,
    createdAt: at,
    ...anew,
  };
  put(tables, open === undefined ? fresh : { ...open, ...anew }, desiredRevision);
}

/** Completes what is open of one kind for an application, up to a revision. */
export function completeOperations(
  { tables, now }: Transaction,
  subject: ApplicationId,
  answer: { readonly kind: OperationKind; readonly revision?: number; readonly message?: string },
): void {
  for (const row of tables.operations.where("subject", subject)) {
    const { operation, revision } = row;
    if (operation.state === "Completed" || operation.kind !== answer.kind || revision > (answer.revision ?? revision)) continue;
    put(
      tables,
      { ...operation, state: "Completed", attempts: operation.attempts + 1, updatedAt: now(), message: answer.message ?? "" },
      revision,
    );
  }
}

/** Changes what is open for an application: where it is to be carried out, or why it is not yet. A `trouble` was met with after so many more attempts. */
export function amendOpen(
  { tables, now }: Transaction,
  subject: ApplicationId,
  change: Partial<Pick<Operation, "instanceId" | "message" | "state">>,
  trouble?: { readonly attempts: number },
): void {
  for (const row of tables.operations.where("subject", subject).filter(isOpen)) {
    const { operation, revision } = row;
    const attempts = operation.attempts + (trouble?.attempts ?? 0);
    put(tables, { ...operation, ...change, attempts, updatedAt: now() }, revision, trouble !== undefined);
  }
}
