import { collectDefaultMetrics, Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram, Registry } from "prom-client";
import type { Counter, Gauge, Histogram, MetricLabels, Metrics } from "./metrics.ts";

/** Metrics that can be read: the API serves `text`. */
export interface ReadableMetrics extends Metrics {
  /** The exposition of all metrics in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

/**
 * How often the event loop is timed, in ms. Each time wakes the process: every 10 ms, prom-client's own choice, takes 0.0037 cores of a process that does
 * nothing else, every 100 ms 0.0005 (measured). The times reported are from one wake-up to the next, so they begin at this.
 */
const EVENT_LOOP_EACH_MS = 100;

type Sample = { readonly value: number; readonly labels?: MetricLabels };

/**
 * Creates metrics behind which prom-client keeps the numbers. Asking for a name again gives the same metric, so that several
 * queues or clients of one process may share it; a gauge's `collect` then adds to those that are there. With
 * `process: true` (default) memory, CPU, event loop and garbage collection of this process are exported too.
 */
export function createPromMetrics(options: { readonly process?: boolean } = {}): ReadableMetrics {
  const registry = new Registry();
  if (options.process ?? true) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_EACH_MS });
  const known = new Map<string, unknown>();
  const once = <T>(kind: string, name: string, create: () => T): T => {
    const key = `${kind} ${name}`;
    if (!known.has(key)) known.set(key, create());
    return known.get(key) as T;
  };
  const base = (name: string, help: string, labels: readonly string[] = []) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });
  return {
    counter: (name, help, labels) => once("counter", name, () => counter(new PromCounter(base(name, help, labels)))),
    gauge: (name, help, labels) => once("gauge", name, () => gauge(base(name, help, labels))),
    histogram: (name, help, buckets, labels) =>
      once("histogram", name, () => histogram(new PromHistogram({ ...base(name, help, labels), buckets: [...buckets] }))),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function counter(inner: PromCounter): Counter {
  return { add: (value, labels = {}) => inner.inc({ ...labels }, value) };
}

function histogram(inner: PromHistogram): Histogram {
  return { observe: (value, labels = {}) => inner.observe({ ...labels }, value) };
}

function gauge(base: ConstructorParameters<typeof PromGauge>[0]): Gauge {
  const sources: (() => readonly Sample[])[] = [];
  const inner = new PromGauge({
    ...base,
    collect() {
      if (sources.length === 0) return;
      // What a source does not name any more (an instance that is gone) must not be shown with its last value for ever.
      this.reset();
      for (const source of sources) for (const { value, labels = {} } of source()) this.set({ ...labels }, value);
    },
  });
  return {
    set: (value, labels = {}) => inner.set({ ...labels }, value),
    collect: (source) => void sources.push(source),
  };
}
