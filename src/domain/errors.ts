/**
 * Failures of the world and of ourselves. An expected alternative is a value, never one of these. The class says what the
 * caller's loop has to do; the stable `code` is listed in docs/errors.md; the message names what we were doing and never
 * repeats the cause.
 */
export type ErrorContext = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ErrorOptions {
  readonly code: string;
  readonly context?: ErrorContext;
  readonly cause?: unknown;
}

abstract class ArgosyError extends Error {
  readonly code: string;
  readonly context: ErrorContext;

  constructor(doing: string, options: ErrorOptions) {
    super(doing, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.context = options.context ?? {};
  }
}

/** The other side did not answer or asked to be left alone: back off this key. */
export class UnavailableError extends ArgosyError {
  /** How long the other side asked us to wait, in ms (Retry-After). */
  readonly retryAfterMs: number | undefined;

  constructor(doing: string, options: ErrorOptions & { readonly retryAfterMs?: number | undefined }) {
    super(doing, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Somebody else changed it first: read again at once. */
export class StaleError extends ArgosyError {}

/** What we were working on is not there any more: treat as deleted. */
export class GoneError extends ArgosyError {}

/** The other side says no (401, 403, 422): stop this key until its generation changes, raise a condition. */
export class RefusedError extends ArgosyError {}

/** What a person gave us is wrong: `path` names the field, `remedy` says what to do about it. */
export class InputError extends ArgosyError {
  readonly path: string;
  readonly remedy: string;

  constructor(doing: string, options: ErrorOptions & { readonly path: string; readonly remedy: string }) {
    super(doing, options);
    this.path = options.path;
    this.remedy = options.remedy;
  }
}

/** We are wrong: thrown, counted, alerted, never swallowed. */
export class DefectError extends ArgosyError {}

export type { ArgosyError };
