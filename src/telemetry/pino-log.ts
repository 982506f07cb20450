import pino from "pino";
import type { Log, LogFields } from "./log.ts";
import { prettyLine } from "./pretty-line.ts";
import { redact, redactText } from "./redact.ts";

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly format: "json" | "pretty";
  /** Written to every line: the name of the process, its member id. */
  readonly fields?: LogFields;
  /** Where lines go; standard output when absent. */
  readonly write?: (line: string) => void;
}

/**
 * Creates the log. Every field and message is redacted before it is written (see `redact.ts`): pino's own list of paths cannot
 * reach secrets at unknown depth or inside texts. Lines are written synchronously, so that the last words before an exit are
 * not lost.
 */
export function createLog({ level, format, fields = {}, write }: LogOptions): Log {
  const toOutput = write ?? ((line: string) => void process.stdout.write(line));
  const destination = { write: format === "pretty" ? (line: string) => toOutput(prettyLine(line)) : toOutput };
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => error },
    },
    write === undefined && format === "json" ? pino.destination({ fd: 1, sync: true }) : destination,
  );
  return wrap(logger.child(safe(fields)));
}

function wrap(logger: pino.Logger): Log {
  return {
    debug: (fields, message) => void (logger.isLevelEnabled("debug") && logger.debug(safe(fields), redactText(message))),
    info: (fields, message) => void (logger.isLevelEnabled("info") && logger.info(safe(fields), redactText(message))),
    warn: (fields, message) => void (logger.isLevelEnabled("warn") && logger.warn(safe(fields), redactText(message))),
    error: (fields, message) => logger.error(safe(fields), redactText(message)),
    child: (fields) => wrap(logger.child(safe(fields))),
  };
}

// pino's own names would be written twice into one JSON object, and readers disagree on which of both counts.
const RESERVED = ["level", "time", "message"];

function safe(fields: LogFields): Record<string, unknown> {
  const entries = Object.entries(redact(fields) as LogFields);
  return Object.fromEntries(entries.map(([name, value]) => [RESERVED.includes(name) ? `${name}_` : name, value]));
}
