import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { describeSpan, traced } from "../telemetry/tracing.ts";
import { createKeyedQueue } from "./keyed-queue.ts";
import { createSeededRng } from "./rng.ts";
import { createVirtualClock } from "./testing/virtual-clock.ts";

describe("a keyed queue that is traced", () => {
  const exporter = new InMemorySpanExporter();
  beforeAll(() => {
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(() => {
    trace.disable();
    context.disable();
  });

  it("makes each run a trace, with what is done in it and why it failed", async () => {
    const clock = createVirtualClock();
    let failures = 0;
    const queue = createKeyedQueue({
      ...{ name: "test", concurrency: 2, clock, rng: createSeededRng(1), log: silentLog, metrics: noMetrics },
      async work(key) {
        await traced({ name: "read_row", kind: "client" }, () => Promise.resolve());
        describeSpan({ "argosy.revision": 7 });
        if (key === "first") queue.add("second");
        else if (failures++ === 0) throw new UnavailableError("asking", { code: "test" });
      },
    });
    queue.add("first");
    queue.start();
    await clock.advance(10_000);
    await queue.stop();
    const spans = exporter.getFinishedSpans();
    const runs = spans.filter(({ name }) => name === "reconcile test");
    expect(runs.map(({ attributes, status }) => [attributes["argosy.key"], attributes["argosy.failures"], status.code])).toEqual([
      ["first", 0, SpanStatusCode.UNSET],
      ["second", 0, SpanStatusCode.ERROR],
      ["second", 1, SpanStatusCode.UNSET],
    ]);
    for (const run of runs) {
      expect(run.attributes).toMatchObject({ "argosy.queue": "test", "argosy.revision": 7 });
      expect(run.parentSpanContext).toBeUndefined();
      const { traceId, spanId } = run.spanContext();
      const within = spans.filter((each) => each.spanContext().traceId === traceId && each !== run);
      expect(within.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId])).toEqual([["read_row", spanId]]);
    }
  });
});
