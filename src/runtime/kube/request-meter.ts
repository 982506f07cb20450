import type { Clock } from "../../domain/clock.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { pluralOf } from "./resource.ts";

export interface RequestMeter {
  /** Starts measuring one attempt; the first call of what it returns counts it with this code, later calls do nothing. */
  start(method: string, path: string): (code: string) => void;
}

/** From what a local API server needs (2 ms) to its own time limit for requests. */
const buckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Counts attempts by cluster, method, resource and answer: a status, or `timeout`, `aborted` or `broken` where there was none. The time runs to the
 * head of the answer. Watches count as method WATCH.
 */
export function createRequestMeter(metrics: Metrics, options: { readonly cluster: string; readonly clock: Clock }): RequestMeter {
  const { cluster, clock } = options;
  const total = metrics.counter("argosy_kube_requests_total", "Requests sent to a Kubernetes API server, by answer", [
    "cluster",
    "method",
    "resource",
    "code",
  ]);
  const seconds = metrics.histogram("argosy_kube_request_seconds", "Time until a Kubernetes API server began to answer", buckets, [
    "cluster",
    "method",
  ]);
  return {
    start(method, path) {
      const startedAt = clock.monotonicMs();
      let counted = false;
      return (code) => {
        if (counted) return;
        counted = true;
        total.add(1, { cluster, method, resource: pluralOf(path), code });
        seconds.observe((clock.monotonicMs() - startedAt) / 1_000, { cluster, method });
      };
    },
  };
}
