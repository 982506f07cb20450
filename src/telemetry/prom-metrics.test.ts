import { describe, expect, it } from "vitest";
import { createPromMetrics } from "./prom-metrics.ts";

describe("metrics", () => {
  it("counts, sets and observes with labels", async () => {
    const metrics = createPromMetrics({ process: false });
    metrics.counter("argosy_a_total", "As", ["kind"]).add(2, { kind: "x" });
    metrics.gauge("argosy_b", "Bs").set(7);
    metrics.histogram("argosy_c_seconds", "Cs", [1, 10]).observe(5);
    const text = await metrics.text();
    expect(text).toContain("# HELP argosy_a_total As");
    expect(text).toContain('argosy_a_total{kind="x"} 2');
    expect(text).toContain("argosy_b 7");
    expect(text).toContain('argosy_c_seconds_bucket{le="10"} 1');
    expect(metrics.contentType).toContain("text/plain");
  });

  it("gives the same metric to everybody who asks for its name", async () => {
    const metrics = createPromMetrics({ process: false });
    for (const by of [1, 2]) metrics.counter("argosy_a_total", "As").add(by);
    expect(await metrics.text()).toContain("argosy_a_total 3");
  });

  it("asks every source of a gauge at each reading and forgets what is named no more", async () => {
    const metrics = createPromMetrics({ process: false });
    let depth = 1;
    metrics.gauge("argosy_d", "Ds", ["queue"]).collect(() => [{ value: depth, labels: { queue: `q${depth}` } }]);
    metrics.gauge("argosy_d", "Ds", ["queue"]).collect(() => [{ value: 9, labels: { queue: "other" } }]);
    expect(await metrics.text()).toContain('argosy_d{queue="q1"} 1');
    depth = 2;
    const text = await metrics.text();
    expect(text).toContain('argosy_d{queue="q2"} 2');
    expect(text).toContain('argosy_d{queue="other"} 9');
    expect(text).not.toContain("q1");
  });

  it("tells about the process unless asked not to", async () => {
    expect(await createPromMetrics().text()).toContain("process_resident_memory_bytes");
    expect(await createPromMetrics({ process: false }).text()).not.toContain("process_");
  });
});
