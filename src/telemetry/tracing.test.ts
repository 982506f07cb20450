import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterEach, describe, expect, it } from "vitest";
import { describeSpan, traced } from "./tracing.ts";

const failure = new Error("asking https://bot:hunter2@git.example for more");
const fail = (): Promise<never> => Promise.reject(failure);

describe("tracing without a provider", () => {
  it("calls the work and hands on its own promise", async () => {
    const answer = Promise.resolve(7);
    expect(traced({ name: "a" }, () => answer)).toBe(answer);
    await expect(traced({ name: "a" }, fail)).rejects.toBe(failure);
    describeSpan({ a: 1 });
  });
});

describe("tracing with a provider", () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  afterEach(() => {
    trace.disable();
    context.disable();
    exporter.reset();
  });
  const registerSdk = (): void => {
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  };

  it("has the spans of what is done within another one as its children", async () => {
    registerSdk();
    await traced({ name: "reconcile", attributes: { "argosy.key": "k" } }, async () => {
      await Promise.resolve();
      describeSpan({ "argosy.revision": 3 });
      await Promise.all(["one", "two"].map((name) => traced({ name, kind: "client" }, () => Promise.resolve())));
    });
    const spans = exporter.getFinishedSpans();
    const [parent] = spans.filter(({ name }) => name === "reconcile");
    expect(parent?.attributes).toEqual({ "argosy.key": "k", "argosy.revision": 3 });
    expect(parent?.kind).toBe(SpanKind.INTERNAL);
    const children = spans.filter(({ name }) => name !== "reconcile");
    expect(children.map(({ name, kind }) => [name, kind])).toEqual([
      ["one", SpanKind.CLIENT],
      ["two", SpanKind.CLIENT],
    ]);
    for (const child of children) expect(child.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
  });

  it("notes what failed, without secrets, and throws it on", async () => {
    registerSdk();
    await expect(traced({ name: "asks" }, fail)).rejects.toBe(failure);
    const [span] = exporter.getFinishedSpans();
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
    expect(JSON.stringify(span?.events)).toContain("[redacted]@git.example");
    expect(JSON.stringify(span?.events)).not.toContain("hunter2");
  });
});
