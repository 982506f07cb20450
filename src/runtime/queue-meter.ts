import type { Metrics } from "../telemetry/metrics.ts";
import type { FailureClass } from "./retry-policy.ts";

/** What a queue tells about itself. */
export interface QueueMeter {
  worked(durationMs: number): void;
  failed(failureClass: FailureClass): void;
}

/** From a read of cached rows (milliseconds) to a run that waits for a slow cluster until its own deadline. */
const WORK_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60];

/** Adds the metrics that every queue has, labelled with its name. */
export function createQueueMeter(of: {
  readonly metrics: Metrics;
  readonly queue: string;
  depth(): number;
  oldestAgeMs(): number;
}): QueueMeter {
  const { metrics, queue } = of;
  const labels = { queue };
  metrics.gauge("argosy_queue_depth", "Keys that wait for their turn", ["queue"]).collect(() => [{ value: of.depth(), labels }]);
  metrics
    .gauge("argosy_queue_oldest_seconds", "How long the first of the waiting keys has waited", ["queue"])
    .collect(() => [{ value: of.oldestAgeMs() / 1000, labels }]);
  const work = metrics.histogram("argosy_queue_work_seconds", "Duration of one run for one key", WORK_BUCKETS_S, ["queue"]);
  const failures = metrics.counter("argosy_queue_failures_total", "Runs that failed, by class of the error", ["queue", "class"]);
  return {
    worked: (durationMs) => work.observe(durationMs / 1000, labels),
    failed: (failureClass) => failures.add(1, { queue, class: failureClass }),
  };
}
