import { rfc3339 } from "../../domain/clock.ts";
import { amountOf } from "../amount-text.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";
import { percent } from "../percent.ts";

/** Whether measured load may move anybody, and why not. */
export function describeMetrics(verdict: MetricsVerdict): string {
  if (verdict.kind === "trusted") return "metrics are trusted";
  const nobody = "metrics are not trusted, so nothing moves that need not";
  switch (verdict.rule) {
    case "NONE":
      return `${nobody}: no instance has reported yet`;
    case "IMPLAUSIBLE":
      return `${nobody}: ${verdict.subject} reports a load in ${verdict.dimension} that cannot be`;
    case "STALE":
      return `${nobody}: the newest is ${Math.floor(verdict.ageMs / 60_000)} min old, ${verdict.limitMs / 60_000} min are allowed`;
    case "PARTIAL":
      return `${nobody}: ${verdict.reporting} of ${verdict.of} instances report, ${percent(verdict.limit)} must`;
    case "JUMP": {
      const { dimension, was, is, limit, until } = verdict;
      const change = `the total went from ${amountOf(was, dimension)} to ${amountOf(is, dimension)} ${dimension}, a change of more than ${percent(limit)}`;
      return `${nobody}: ${change}${until === undefined ? "" : `; it is believed from ${rfc3339(until)} on if it stays near that`}`;
    }
  }
}
