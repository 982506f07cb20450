import { rfc3339 } from "../../domain/clock.ts";
import type { Brake } from "./budget.ts";
import { minutes } from "./cause-text.ts";
import { describeMetrics } from "./describe-metrics.ts";

/** Why moves are not made now that could wait, for people. */
export function blockedByText(brake: Brake, instanceName: (id: string) => string): string {
  switch (brake.brake) {
    case "METRICS":
      return `METRICS: ${describeMetrics(brake.verdict)}`;
    case "FREEZE":
      return `FREEZE: ${brake.reason}, until ${rfc3339(brake.until)}`;
    case "BREAKER":
      return `BREAKER: ${brake.failed} of the last ${brake.of} moves failed, ${brake.limit} are too many`;
    case "PERSISTENCE":
      return `PERSISTENCE: ${instanceName(brake.instance)} has been too full for ${minutes(brake.forMs)}, ${minutes(brake.persistMs)} are needed`;
    default: {
      const about = brake.subject === "" ? "" : ` of ${instanceName(brake.subject)}`;
      return `${brake.brake}${about}: ${brake.used} used, ${brake.asked} more asked for, ${brake.limit} allowed`;
    }
  }
}
