import type { Clock } from "../../domain/clock.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

export type ReflectorFailure = "list" | "watch" | "projection" | "handler";

export interface ReflectorMeter {
  event(kind: string): void;
  relist(): void;
  failure(kind: ReflectorFailure): void;
  /** The server has just answered, so what we have is not older than this; `objects` is how many we have. */
  contact(objects: number): void;
}

/**
 * Metrics of one reflector. Staleness is exported as the time of the last contact: subtracting it from now is the reader's part, and goes
 * on being right when this process hangs.
 */
export function createReflectorMeter(
  metrics: Metrics,
  options: { readonly cluster: string; readonly resource: string; readonly clock: Clock },
): ReflectorMeter {
  const { cluster, resource, clock } = options;
  const names = ["cluster", "resource"];
  const labels = { cluster, resource };
  const events = metrics.counter("argosy_kube_reflector_events_total", "Events received in watches", [...names, "kind"]);
  const relists = metrics.counter("argosy_kube_reflector_relists_total", "Complete lists read, the first one included", names);
  const failures = metrics.counter(
    "argosy_kube_reflector_failures_total",
    "Lists and watches that broke, and objects whose projection or handler threw",
    [...names, "kind"],
  );
  const objects = metrics.gauge("argosy_kube_reflector_objects", "Objects kept", names);
  const contact = metrics.gauge(
    "argosy_kube_reflector_last_contact_timestamp_seconds",
    "When the server last said something about these objects",
    names,
  );
  return {
    event: (kind) => events.add(1, { ...labels, kind }),
    relist: () => relists.add(1, labels),
    failure: (kind) => failures.add(1, { ...labels, kind }),
    contact(count) {
      objects.set(count, labels);
      contact.set(clock.now() / 1_000, labels);
    },
  };
}
