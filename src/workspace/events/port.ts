import type { Millis } from "../../domain/clock.ts";

/** One Event about one of the users' resources. */
export interface UserEvent {
  readonly about: { readonly kind: string; readonly namespace: string; readonly name: string; readonly uid: string };
  readonly type: "Warning" | "Normal";
  readonly reason: string;
  readonly message: string;
  /** Equal for equal events: what happens again is the same Event once more. */
  readonly digest: string;
  /** How often it has happened, and since when, as far as this process knows. */
  readonly count: number;
  readonly firstAt: Millis;
  readonly lastAt: Millis;
}

export interface EventRecorder {
  /** Makes the Event, or says that it happened again. */
  record(event: UserEvent, signal: AbortSignal): Promise<void>;
}
