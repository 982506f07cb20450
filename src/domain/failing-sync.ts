import type { Millis } from "./clock.ts";
import { asObject, asString, asTime } from "./json.ts";
import type { EngineStatus } from "./status.ts";
import { withCulprits } from "./sync-failure.ts";

/** Argo CD's present or last operation on an application. */
export interface SyncOperation {
  /** As Argo CD calls it: Running, Terminating, Succeeded, Failed or Error. */
  readonly phase: string;
  readonly message: string;
  readonly revision: string;
  readonly startedAt: Millis | undefined;
  /** Of the attempt that ended last; one that is Running all the same waits for the next. */
  readonly finishedAt: Millis | undefined;
  /** The attempt it is at, the first being 1. */
  readonly attempt: number;
}

/** A sync that fails, and will until something is changed. */
export interface SyncFailure {
  readonly message: string;
  /** When Argo CD began what fails; absent where it does not say. */
  readonly since: Millis | undefined;
  readonly attempt: number;
}

/** Of what an instance said last; `undefined` before the first sync. */
export function syncOperationOf({ operationState }: Pick<EngineStatus, "operationState">): SyncOperation | undefined {
  const phase = asString(operationState?.["phase"]);
  if (operationState === undefined || phase === "") return undefined;
  const result = asObject(operationState["syncResult"]);
  const asked = asObject(asObject(operationState["operation"])["sync"]);
  const retries = operationState["retryCount"];
  return {
    ...{ phase, message: asString(operationState["message"]) },
    revision: asString(result["revision"]) || asString(asked["revision"]),
    startedAt: asTime(operationState["startedAt"]),
    finishedAt: asTime(operationState["finishedAt"]),
    attempt: typeof retries === "number" && Number.isSafeInteger(retries) && retries > 0 ? retries + 1 : 1,
  };
}

/**
 * Whether syncs of an application fail: the last attempt did, and what it was to deploy is still not deployed; or Argo CD says that it
 * tries no more by itself. A sync that failed and was overtaken by another revision that is Synced is over.
 */
export function syncFailureOf(status: Pick<EngineStatus, "operationState" | "conditions" | "sync">): SyncFailure | undefined {
  const operation = syncOperationOf(status);
  const complaint = status.conditions.find(({ type }) => type === "SyncError");
  const hasFailed = operation !== undefined && isFailed(operation) && !isOvertaken(operation, status);
  if (!hasFailed && complaint === undefined) return undefined;
  const said = hasFailed ? operation.message.replace(NEXT_ATTEMPT, "") : (complaint?.message ?? "");
  const resources = asObject(status.operationState?.["syncResult"])["resources"];
  const message = operation === undefined || !isFailed(operation) ? said : withCulprits(said, resources);
  return {
    message: message === "" ? "Argo CD gives no reason" : message,
    since: operation?.startedAt,
    attempt: operation?.attempt ?? 1,
  };
}

/** When the next attempt is due changes with each. */
const NEXT_ATTEMPT = / Retrying attempt #\d+ at [^ ]+$/;

function isFailed({ phase, finishedAt }: SyncOperation): boolean {
  return phase === "Failed" || phase === "Error" || (phase === "Running" && finishedAt !== undefined);
}

function isOvertaken({ phase, revision }: SyncOperation, { sync }: Pick<EngineStatus, "sync">): boolean {
  return phase !== "Running" && sync.status === "Synced" && revision !== sync.revision;
}
