import type { Clock } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { FleetSpec } from "../domain/fleet.ts";
import type { UnitWithWorkspace } from "../store/placement/port.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

export interface Complaint {
  readonly path: string;
  readonly message: string;
  readonly remedy: string;
}

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly remedy: string;
}

/** What the API asks of the other rooms; the composition root hands it in. */
export interface ApiDeps {
  readonly store: Store;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly version: string;
  /** Parses a fleet document of unknown shape; all complaints at once. */
  readonly parseFleet: (
    document: unknown,
  ) => { readonly ok: true; readonly spec: FleetSpec } | { readonly ok: false; readonly complaints: readonly Complaint[] };
  /** The scheduler's account of a unit, as sentences. */
  readonly explain: (unit: UnitWithWorkspace, decisions: readonly Decision[], instanceName: (id: string) => string) => readonly string[];
  readonly doctor: (signal: AbortSignal) => Promise<readonly Check[]>;
  /** Prometheus text of all metrics. */
  readonly metricsText: () => Promise<{ readonly contentType: string; readonly text: string }>;
  readonly readiness: () => Promise<{
    readonly ok: boolean;
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  }>;
}
