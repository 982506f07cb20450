import type { Millis } from "./clock.ts";

/** An Argo CD Application as far as it says who works for what. */
export interface SeenApplication {
  readonly name: string;
  readonly uid: string;
  /** Argo CD does not refresh it. */
  readonly isPaused: boolean;
  /** A move has put it there and not activated it yet. */
  readonly isArriving: boolean;
  readonly isDeleting: boolean;
  /** Argo CD was asked to refresh and has not. */
  readonly awaitsRefresh: boolean;
  /** When Argo CD refreshed last; absent: never. */
  readonly reconciledAt: Millis | undefined;
  /** It says that it is in step with Git and well. */
  readonly isGreen: boolean;
}
