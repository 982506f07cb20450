import type { InstanceId } from "./ids.ts";

/** What a unit demands of its instance beside capacity. An absent field demands nothing. */
export interface UnitNeeds {
  /** A person's word: one of these instances. An empty list can be met by none; it is reported, not repaired. */
  readonly pinnedTo?: readonly InstanceId[];
  /** A person's word: none of these instances. */
  readonly notOn?: readonly InstanceId[];
  readonly region?: string;
  readonly trust?: string;
  /** The version channel its instance must follow. */
  readonly channel?: string;
  /** Whose instances it lives on: instances dedicated to this name take it, and nobody else. */
  readonly dedication?: string;
  /** Units that name one group live on one instance. */
  readonly together?: string;
  /** Units that name one group live on different instances. */
  readonly apart?: string;
  /** Values of labels: units of different values of one label live on different instances. */
  readonly apartBy?: Readonly<Record<string, string>>;
}

/** What units can demand of an instance beside capacity. */
export interface InstanceTraits {
  readonly class: string;
  readonly region: string;
  readonly engineCluster: string;
  readonly trust: string;
  /** Absent: there is one channel for all. */
  readonly channel?: string;
  /** Set: it takes only units of this dedication. */
  readonly dedication?: string;
  /** Its version is older than the oldest one that is safe: it takes nothing new. */
  readonly isBelowFloor: boolean;
}
