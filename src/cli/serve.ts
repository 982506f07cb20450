import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import process from "node:process";
import { parse } from "yaml";
import type { ConfigComplaint } from "../config/complaint.ts";
import { checkDatabase } from "../config/rules.ts";
import { argosyVersion, type Config, parseConfig } from "../config.ts";
import { InputError } from "../domain/errors.ts";
import type { MemberId } from "../domain/ids.ts";
import { serve } from "../main.ts";
import { systemClock } from "../runtime/clock.ts";
import { createUuidIds } from "../runtime/ids.ts";
import { systemRng } from "../runtime/rng.ts";
import { installShutdown } from "../runtime/shutdown.ts";
import { createHealthRegistry } from "../telemetry/health.ts";
import { createLog } from "../telemetry/pino-log.ts";
import { createPromMetrics } from "../telemetry/prom-metrics.ts";
import type { Terminal } from "./terminal.ts";

export interface ServeOptions {
  /** Text and name of the configuration file. */
  readonly text: string;
  readonly config: string;
  /** Overrides the file's roles. */
  readonly roles?: string;
}

/**
 * `argosy serve`: runs until SIGTERM or SIGINT. Everything wrong with the configuration is said before anything starts. What somebody else
 * can mend, such as a database that is away, is waited for.
 */
export async function runServe(options: ServeOptions, terminal: Terminal): Promise<void> {
  const config = readConfig(options, terminal.env);
  const memberId = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}` as MemberId;
  const log = createLog({ level: config.log.level, format: config.log.format, fields: { member: memberId } });
  const metrics = createPromMetrics();
  const clock = systemClock;
  const shutdown = installShutdown({ events: process, clock, log, metrics, deadlineMs: config.shutdown.graceMs });
  try {
    await serve({
      config,
      env: terminal.env,
      version: argosyVersion,
      memberId,
      clock,
      rng: systemRng,
      ids: createUuidIds(clock),
      log,
      metrics,
      readiness: createHealthRegistry(),
      shutdown,
    });
  } catch (error) {
    if (shutdown.signal.aborted) return;
    log.error({ err: error }, "Stopping because not everything could be started");
    await shutdown.stop("start failed", 1);
  }
}

/** The configuration of a file, with the roles that were typed. Throws `InputError` with everything that is wrong with it. */
export function readConfig({ text, config: file, roles }: ServeOptions, env: Terminal["env"]): Config {
  const document = parseYaml(text, file);
  const merged = roles === undefined ? document : { ...(document as object), roles: roles === "all" ? "all" : roles.split(",") };
  const parsed = parseConfig(merged, env);
  if (parsed.ok) return parsed.config;
  throw invalid(parsed.complaints, file);
}

/** A database that a command was given instead of the configuration's own. Throws `InputError` where the configuration does not allow it. */
export function allowedDatabase({ database }: Config, url: string, file: string): string {
  const complaints = checkDatabase({ ...database, url }, { DATABASE_URL: url });
  if (complaints.length === 0) return url;
  throw invalid(complaints, file);
}

/** Everything that is wrong with a configuration, as one error. */
export function invalid(complaints: readonly ConfigComplaint[], file: string): InputError {
  const lines = complaints.map(({ path, message, remedy }) => `${path}: ${message}. ${remedy}`);
  const [only] = lines;
  const all = lines.length === 1 && only !== undefined ? only : `${lines.length} things are wrong:\n  ${lines.join("\n  ")}`;
  return new InputError(all, {
    code: "config.invalid",
    path: file,
    remedy: "docs/configuration.md lists every field",
  });
}

export function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new InputError("is no YAML", { code: "config.yaml", path: file, remedy: (cause as Error).message.split("\n")[0] ?? "", cause });
  }
}
