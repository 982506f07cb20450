import type { ArgosyError, ErrorContext, ErrorOptions } from "../../domain/errors.ts";
import { GoneError, RefusedError, StaleError, UnavailableError } from "../../domain/errors.ts";

/** An answer that is not a success, with as much of its body as was worth reading. */
export interface FailedAnswer {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

/** What the toolkit reads of a `meta/v1 Status`. */
export interface KubeStatus {
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
  /** Name of the object it is about, as opposed to the path. */
  readonly name?: string;
  readonly retryAfterSeconds?: number;
  /** The first field complained about. */
  readonly field?: string;
  /** Kubernetes' word for the first cause. */
  readonly cause?: string;
}

/** The cause that API servers give where something is to be made in a namespace that is being deleted. */
const NAMESPACE_ENDING = "NamespaceTerminating";

/** Servers put whole objects into validation messages; logs and conditions need the beginning only. */
const longestMessage = 1_000;

/**
 * Nobody sends us away for longer than this, in ms: by a date that is an hour ahead the server may mean now, its clock and ours need not
 * agree.
 */
export const longestRetryAfterMs = 300_000;

/** Parses `Retry-After` (whole seconds or an HTTP date) into ms from now; `undefined` if it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,6}$/.test(value.trim())) return bounded(Number(value.trim()) * 1_000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : bounded(at - nowMs);
}

function bounded(askedMs: number): number {
  return Math.min(longestRetryAfterMs, Math.max(0, askedMs));
}

/** Reads a `Status` from decoded JSON; `undefined` if it is something else. Nothing in it is believed to have the right type. */
export function readStatus(value: unknown): KubeStatus | undefined {
  if (!isFields(value) || value["kind"] !== "Status") return undefined;
  const details = isFields(value["details"]) ? value["details"] : {};
  const cause: unknown = Array.isArray(details["causes"]) ? details["causes"][0] : undefined;
  return {
    ...pick(value, "code", isNumber),
    ...pick(value, "reason", isText),
    ...pick(value, "message", isText),
    ...pick(details, "name", isText),
    ...pick(details, "retryAfterSeconds", isNumber),
    ...(isFields(cause) ? pick(cause, "field", isText) : {}),
    ...(isFields(cause) && isText(cause["reason"]) ? { cause: cause["reason"] } : {}),
  };
}

function decode(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * The error for an answer that is not a success (client.ts lists which is which). A 404 that does not name the missing object did
 * not come from an API server that knows this kind of object but from something in front of it, or from a server on which the
 * definition is not installed (yet): that is `UnavailableError`, because "gone" would make callers forget objects.
 *
 * @param doing what the request was for
 * @param options ids of the request, to which status, reason and the first complained-about field are added; the wall clock
 */
export function errorForAnswer(
  doing: string,
  answer: FailedAnswer,
  options: { readonly context: ErrorContext; readonly nowMs: number },
): ArgosyError {
  const status = readStatus(decode(answer.body)) ?? { message: answer.body };
  const error = errorForStatus(doing, { ...status, code: answer.status }, options.context);
  if (answer.status === 404 && status.name === undefined)
    return new UnavailableError(doing, { ...optionsOf(error), code: "kube.unknown-path" });
  if (!(error instanceof UnavailableError)) return error;
  return new UnavailableError(doing, {
    ...optionsOf(error),
    retryAfterMs: parseRetryAfter(answer.retryAfter, options.nowMs) ?? error.retryAfterMs,
  });
}

/** The error for a `Status` object, be it the body of an answer or the object of an ERROR event in a watch. */
export function errorForStatus(doing: string, status: KubeStatus, context: ErrorContext): ArgosyError {
  const { code = 500, reason, field, cause, message, retryAfterSeconds } = status;
  const options = {
    context: { ...context, status: code, ...(reason === undefined ? {} : { reason }), ...(field === undefined ? {} : { field }) },
    ...(message === undefined ? {} : { cause: new Error(message.slice(0, longestMessage)) }),
  };
  if (code === 404) return new GoneError(doing, { ...options, code: "kube.not-found" });
  if (code === 410) return new GoneError(doing, { ...options, code: "kube.expired" });
  if (code === 409) return new StaleError(doing, { ...options, code: reason === "AlreadyExists" ? "kube.exists" : "kube.conflict" });
  if (code === 403 && cause === NAMESPACE_ENDING) return new RefusedError(doing, { ...options, code: "kube.namespace-ending" });
  if (code >= 400 && code < 500 && code !== 408 && code !== 429) return new RefusedError(doing, { ...options, code: "kube.refused" });
  const retryAfterMs = retryAfterSeconds === undefined ? undefined : bounded(retryAfterSeconds * 1_000);
  return new UnavailableError(doing, { ...options, code: "kube.unavailable", retryAfterMs });
}

function optionsOf(error: ArgosyError): ErrorOptions {
  return { code: error.code, context: error.context, ...(error.cause === undefined ? {} : { cause: error.cause }) };
}

function pick<K extends string, V>(
  fields: Readonly<Record<string, unknown>>,
  key: K,
  is: (value: unknown) => value is V,
): { readonly [P in K]?: V } {
  const value = fields[key];
  return is(value) ? ({ [key]: value } as { readonly [P in K]?: V }) : {};
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
