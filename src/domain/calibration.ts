import type { Millis } from "./clock.ts";
import type { HealthSample } from "./health.ts";
import type { LoadVector } from "./load.ts";

/** What an instance's capacity is learnt from. */
export interface CalibrationFacts {
  /** Observations of it while it was loaded, oldest first. */
  readonly samples: readonly HealthSample[];
  /** What it held at the end of that. */
  readonly load: LoadVector;
  /** What it is taken to bear now. */
  readonly capacity: LoadVector;
  /** Whether it was given more resources than its pool declares. */
  readonly isRaised: boolean;
}

/** What ends what an instance bears: workers for comparisons that are all busy, or a controller that has no memory left. */
export const CALIBRATION_BOUNDS = ["workers", "memory"] as const;
export type CalibrationBound = (typeof CALIBRATION_BOUNDS)[number];

/** How one bound was read: `share = base + perApplication × applications`, up to `limit`. */
export interface BoundReading {
  readonly bound: CalibrationBound;
  /** Observations that count as evidence. */
  readonly observations: number;
  /** Applications there were at the fewest and at the most. */
  readonly applications: readonly [fewest: number, most: number];
  /** Largest share that was seen. */
  readonly highest: number;
  readonly limit: number;
  readonly base: number;
  readonly perApplication: number;
  /** Part of what varies that the line explains, 0 to 1; absent: the load was the same throughout, and its mean was divided. */
  readonly fit: number | undefined;
  /** Applications like these until the limit. */
  readonly bears: number;
}

/** What came of it. */
export interface Calibration {
  readonly from: Millis | undefined;
  readonly until: Millis | undefined;
  readonly readings: readonly BoundReading[];
  /** The bound that is reached first. */
  readonly binding: CalibrationBound | undefined;
  readonly applications: number;
  readonly declared: LoadVector;
  /** In whole units of fleet.yaml; `undefined`: nothing can be said. */
  readonly fitted: LoadVector | undefined;
  /** Why nobody should rely on it, or nothing can be said; for people. */
  readonly doubts: readonly string[];
}
