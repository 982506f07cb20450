import { rfc3339 } from "../../domain/clock.ts";
import { documentAmount } from "../../domain/load.ts";
import type { MetricsVerdict } from "../load/judge-metrics.ts";
import { percent } from "../percent.ts";
import { refusalText } from "../refusal-text.ts";
import type { BlockedBy } from "./budget.ts";
import type { Cause } from "./record.ts";

/** For people: why a unit has to leave, or should. */
export function causeText(cause: Cause, instanceName: (id: string) => string): string {
  switch (cause.rule) {
    case "UNPLACED":
      return "it has no instance yet";
    case "OWNER_GONE":
      return `${instanceName(cause.instance)} is gone`;
    case "SPREAD":
      return `its group lives together and is on ${cause.instances.map(instanceName).join(", ")}`;
    case "MAY_NOT_STAY":
      return `it may not stay: ${refusalText(cause.ineligible, instanceName)}`;
    case "ABOVE":
      return `${instanceName(cause.instance)} was at ${percent(cause.share)}, above ${percent(cause.limit)} for ${minutes(cause.forMs)}`;
    case "OVERLOADED":
      return `${instanceName(cause.instance)} is overloaded at ${percent(cause.share)} and should come down to ${percent(cause.limit)}`;
    case "BELOW":
      return `${instanceName(cause.instance)} is new, at ${percent(cause.share)}, and should be filled to ${percent(cause.limit)}`;
  }
}

function minutes(ms: number): string {
  return `${Math.floor(ms / 60_000)} min`;
}

/** For people: why moves that can wait are not made now. */
export function blockedByText(blockedBy: BlockedBy, instanceName: (id: string) => string): string {
  switch (blockedBy.rule) {
    case "METRICS":
      return `METRICS: ${describeMetrics(blockedBy.verdict)}`;
    case "FREEZE":
      return `FREEZE: ${blockedBy.reason}, until ${rfc3339(blockedBy.until)}`;
    case "BREAKER":
      return `BREAKER: ${blockedBy.failed} of the last ${blockedBy.of} moves failed, ${blockedBy.limit} are too many`;
    case "PERSISTENCE":
      return `PERSISTENCE: ${instanceName(blockedBy.instance)} has been too full for ${minutes(blockedBy.forMs)}, ${minutes(blockedBy.persistMs)} are needed`;
    default: {
      const about = blockedBy.subject === "" ? "" : ` of ${instanceName(blockedBy.subject)}`;
      return `${blockedBy.rule}${about}: ${blockedBy.used} used, ${blockedBy.asked} more asked for, ${blockedBy.limit} allowed`;
    }
  }
}

/** For people: whether measured load is trusted, and if not, why. */
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
      const change = `the total went from ${documentAmount(was, dimension)} to ${documentAmount(is, dimension)} ${dimension}, a change of more than ${percent(limit)}`;
      return `${nobody}: ${change}${until === undefined ? "" : `; it is believed from ${rfc3339(until)} on if it stays near that`}`;
    }
  }
}
