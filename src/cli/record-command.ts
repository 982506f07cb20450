import { hostname, userInfo } from "node:os";
import process from "node:process";
import type { AuditEntry } from "../domain/audit.ts";
import { GoneError, InputError, RefusedError, StaleError } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Migrated } from "../store/adapters/postgres/migrate.ts";
import type { AuditStore } from "../store/audit/port.ts";

interface Command<Result> {
  readonly audit: AuditStore;
  readonly action: string;
  readonly target: string;
  /** What was typed, without secrets. */
  readonly details: Json;
  /** What is recorded of how it ended; nothing but that it did, by default. */
  readonly said?: (result: Result) => Json;
}

const deadline = () => AbortSignal.timeout(30_000);

/**
 * Does what a command asks of the database, between an audit record of that and one of the outcome. Nothing is done where the first cannot be
 * written. Where the second cannot, the outcome stands all the same: the trail shows what was asked for without answer.
 */
export async function recordCommand<Result>(command: Command<Result>, work: () => Promise<Result>): Promise<Result> {
  const { audit, action, target, details, said = () => ({}) } = command;
  const entry = commandEntry(action, target);
  const answers = await audit.append({ ...entry, outcome: "asked", details }, deadline());
  const answer = (how: Pick<AuditEntry, "outcome" | "code" | "details">) =>
    audit.append({ ...entry, ...how, answers }, deadline()).catch(() => undefined);
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    await answer({ outcome: isRefusal(error) ? "refused" : "failed", code: typeof code === "string" ? code : "", details: {} });
    throw error;
  }
  await answer({ outcome: "ok", code: "", details: said(result) });
  return result;
}

/** Files that brought the schema up to date: before the first of them there may have been no trail to write to. */
export async function recordMigrated(audit: AuditStore, applied: Migrated["applied"]): Promise<void> {
  if (applied.length === 0) return;
  await audit.append({ ...commandEntry("migrate", "schema"), details: { applied: applied.map(({ name }) => name) } }, deadline());
}

function commandEntry(action: string, target: string): AuditEntry {
  const unknown = { role: undefined, remote: undefined, answers: undefined };
  return {
    ...unknown,
    actor: `${userName()}@${hostname()}`,
    via: "database",
    action,
    target,
    outcome: "ok",
    code: "",
    count: 1,
    details: {},
  };
}

/** A container's user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

function isRefusal(error: unknown): boolean {
  return [InputError, GoneError, RefusedError, StaleError].some((kind) => error instanceof kind);
}
