import pg from "pg";
import { DefectError, StaleError, UnavailableError } from "../../../domain/errors.ts";
import { tlsTroubleOf } from "../../../runtime/tls-trouble.ts";

/** What PostgreSQL calls what went wrong (appendix A of its manual), `undefined` when it was not PostgreSQL that complained. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** Serialisation failure and deadlock: the same statement may succeed when it is sent again. */
const COLLISIONS: readonly string[] = ["40001", "40P01"];

export function isCollision(error: unknown): boolean {
  return COLLISIONS.includes(sqlState(error) ?? "");
}

/**
 * Conditions that pass: connection exceptions (08), out of connections, memory or disk (53), shut down or starting (57P),
 * cancelled by a timeout (57014, 55P03, 25P03), a standby that does not take writes (25006), and a role, a password or a
 * database that is away or closed for a moment during a fail-over (28, 3D, 55000).
 */
const PASSING = /^(08|53|57P|57014|55P03|25P03|25006|28|3D|55000)/;

/** Whether the connection is of no use any more. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined ? isDriverError(error) : /^(08|57P|25P03)/.test(state);
}

/** Says what the caller's loop has to do about a failed statement. Errors of ours pass unchanged. */
export function translate(doing: string, error: unknown): unknown {
  const state = sqlState(error);
  const options = { context: { statement: doing, sqlState: state }, cause: error };
  if (state === undefined)
    return isDriverError(error) ? new UnavailableError("reaching the database", { code: "store.unavailable", ...options }) : error;
  if (COLLISIONS.includes(state))
    return new UnavailableError("writing what others keep writing at the same time", { code: "store.contended", ...options });
  if (PASSING.test(state)) return new UnavailableError("running a statement", { code: "store.unavailable", ...options });
  if (state === "23505") return new StaleError("writing a row that somebody else wrote first", { code: "store.conflict", ...options });
  return new DefectError("running a statement the database refuses", { code: "store.statement", ...options });
}

/** Sockets fail with system codes, the driver itself with messages only. */
export function isDriverError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined || tlsTroubleOf(error) !== undefined || /^(E[A-Z]+|ERR_(SOCKET|TLS|SSL)\w*)$/.test(code ?? "")) return true;
  return DRIVER_MESSAGES.test(error.message);
}

const DRIVER_MESSAGES =
  /^(Connection terminated|Connection closed|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|The server does not support SSL)/;
