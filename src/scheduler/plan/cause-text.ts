import { percent } from "../percent.ts";
import { refusalText } from "../refusal-text.ts";
import type { Cause } from "./record.ts";

/** Why a unit had to leave, or was asked to, for people. */
export function causeText(cause: Cause, instanceName: (id: string) => string): string {
  switch (cause.rule) {
    case "UNPLACED":
      return "it has no instance yet";
    case "OWNER_GONE":
      return `${instanceName(cause.instance)} is gone`;
    case "SPREAD":
      return `its group is on ${cause.instances.map(instanceName).join(", ")} and lives together`;
    case "MAY_NOT_STAY":
      return `it may not stay: ${refusalText(cause.ineligible, instanceName)}`;
    case "ABOVE":
      return `${instanceName(cause.instance)} was at ${percent(cause.share)}, above ${percent(cause.limit)} for ${minutes(cause.forMs)}`;
    case "OVERLOADED":
      return `${instanceName(cause.instance)} is overloaded at ${percent(cause.share)} and comes down to ${percent(cause.limit)}`;
    case "BELOW":
      return `${instanceName(cause.instance)} is new, at ${percent(cause.share)} of the ${percent(cause.limit)} it should take`;
  }
}

export function minutes(ms: number): string {
  return `${Math.floor(ms / 60_000)} min`;
}
