/** Metrics without naming a library: the adapter behind this is the only place that knows prom-client. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(name: string, help: string, labels?: readonly string[]): Gauge;
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
}

export type MetricLabels = Readonly<Record<string, string>>;
export interface Counter {
  add(value: number, labels?: MetricLabels): void;
}
export interface Gauge {
  set(value: number, labels?: MetricLabels): void;
  /** Calls `collect` at each scrape instead of being set. */
  collect(collect: () => readonly { readonly value: number; readonly labels?: MetricLabels }[]): void;
}
export interface Histogram {
  observe(value: number, labels?: MetricLabels): void;
}

const nothing = { add() {}, set() {}, collect() {}, observe() {} };
export const noMetrics: Metrics = { counter: () => nothing, gauge: () => nothing, histogram: () => nothing };
