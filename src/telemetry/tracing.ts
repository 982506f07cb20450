import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { redactText } from "./redact.ts";

export interface SpanOptions {
  readonly name: string;
  /** `client`: a request to another system. Absent: work of our own. */
  readonly kind?: "client";
  /** Begins a trace of its own, whatever is active. */
  readonly isRoot?: boolean;
  readonly attributes?: Attributes;
}

/**
 * Does work within a span, a child of the one that is active. What the work throws is noted on it and thrown on. Where nobody has
 * registered a provider there are no spans, and the work is merely called.
 */
export function traced<T>({ name, kind, isRoot = false, attributes = {} }: SpanOptions, work: () => Promise<T>): Promise<T> {
  const options = { kind: kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL, root: isRoot, attributes };
  const span = trace.getTracer("argosy").startSpan(name, options);
  // The work itself and no promise around it: in which order things go on does not depend on whether anybody traces.
  if (!span.isRecording()) return work();
  return context.with(trace.setSpan(context.active(), span), () => endedAfter(span, work));
}

/** Says more about the span that is active, where one is. */
export function describeSpan(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

async function endedAfter<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "Error", message: String(error) };
    // Like a line of the log: without the stack and the causes, and without what looks like a secret.
    span.recordException({ name, message: redactText(message) });
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
