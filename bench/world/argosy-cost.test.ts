import { describe, expect, it } from "vitest";
import { countedBetween, samplesOf, total } from "./argosy-cost.ts";

const PAGE = `# HELP argosy_store_statements_total Statements.
# TYPE argosy_store_statements_total counter
argosy_store_statements_total{statement="heartbeat"} 12
argosy_store_statements_total{statement="begin"} 3
argosy_store_statements_total_other{statement="begin"} 99
argosy_kube_requests_total{cluster="main",method="GET",code="200"} 5
argosy_kube_requests_total{cluster="local",method="GET",code="404"} 2
nodejs_heap_size_used_bytes 1048576
`;

describe("a page of metrics", () => {
  it("is read by metric, summed by a label or in all", () => {
    expect([...samplesOf(PAGE, "argosy_store_statements_total", "statement")]).toEqual([
      ["heartbeat", 12],
      ["begin", 3],
    ]);
    expect([...samplesOf(PAGE, "nodejs_heap_size_used_bytes", undefined)]).toEqual([["", 1_048_576]]);
    expect([...samplesOf(PAGE, "nothing", "at_all")]).toEqual([]);
  });

  it("is summed over the other labels", () => {
    expect([...samplesOf(PAGE, "argosy_kube_requests_total", "method")]).toEqual([["GET", 7]]);
    expect(total(samplesOf(PAGE, "argosy_kube_requests_total", "method"))).toBe(7);
  });

  it("is compared with an earlier one, and sorted by frequency", () => {
    const before = new Map([
      ["a", 1],
      ["b", 5],
    ]);
    const after = new Map([
      ["a", 2],
      ["b", 5],
      ["c", 7],
    ]);
    expect(countedBetween(before, after)).toEqual([
      ["c", 7],
      ["a", 1],
    ]);
  });
});
