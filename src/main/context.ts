import type { Config } from "../config.ts";
import type { Clock } from "../domain/clock.ts";
import type { Ids, MemberId } from "../domain/ids.ts";
import type { Rng } from "../domain/rng.ts";
import type { Shutdown } from "../runtime/shutdown.ts";
import type { HealthRegistry } from "../telemetry/health.ts";
import type { Log } from "../telemetry/log.ts";
import type { ReadableMetrics } from "../telemetry/prom-metrics.ts";

/** What every part of one process shares. */
export interface Context {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly memberId: MemberId;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: ReadableMetrics;
  readonly readiness: HealthRegistry;
  readonly shutdown: Shutdown;
}
