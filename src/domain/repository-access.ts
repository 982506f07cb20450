import type { Millis } from "./clock.ts";

/**
 * What a probe has shown of a repository, with what a workspace has. Beside what Git hosts say: `not-probed`: its URL cannot be probed;
 * `too-many`: the workspace spells one repository in more ways than it may.
 */
export const ACCESS_OUTCOMES = [
  ...["readable", "denied", "not-found", "moved", "not-allowed", "unknown-identity", "unreachable", "failed"],
  ...["not-probed", "too-many"],
] as const satisfies readonly string[];
export type AccessOutcome =
  | "readable"
  | "denied"
  | "not-found"
  | "moved"
  | "not-allowed"
  | "unknown-identity"
  | "unreachable"
  | "failed"
  | "not-probed"
  | "too-many";

export const ACCESS_STATES = ["unproven", "proven", "lost"] as const;

/** Whether a workspace can read a repository that its applications name. */
export interface RepositoryAccess {
  readonly state: (typeof ACCESS_STATES)[number];
  /** Of the last probe; absent before the first. */
  readonly outcome: AccessOutcome | undefined;
  /** The credential it was probed with, and its version; empty for none. */
  readonly credential: string;
  readonly probedAt: Millis | undefined;
  readonly provenAt: Millis | undefined;
  /** Since when it was refused without a break. */
  readonly refusedSince: Millis | undefined;
  readonly refusals: number;
  /** Which of the places that Argo CD would keep in one checkout it is, see `spellingOf`. */
  readonly ordinal: number;
}

export const UNPROVEN: RepositoryAccess = {
  ...{ state: "unproven", outcome: undefined, credential: "", probedAt: undefined, provenAt: undefined },
  ...{ refusedSince: undefined, refusals: 0, ordinal: 0 },
};
/** Who used it before anybody probed counts as somebody who can read it. */
export const ASSUMED: RepositoryAccess = { ...UNPROVEN, state: "proven" };

/** A workspace's ways to write one repository (as Argo CD compares) that are told apart. A user who writes one in more ways is playing. */
export const SPELLINGS_AT_MOST = 8;

/** What has to be done about the applications of a repository when its access changes. */
export interface AccessChange {
  /** Their Applications name it in another way. */
  readonly raisesApplications: boolean;
  /** What their units hold is another: what the project permits, and what the repository's Secret is for. */
  readonly raisesUnits: boolean;
  /** They waited for it. */
  readonly asksForApplications: boolean;
  /** Their users read something else. */
  readonly tellsUsers: boolean;
}

export function whatFollows(before: RepositoryAccess, after: RepositoryAccess): AccessChange {
  const isRespelled = before.ordinal !== after.ordinal;
  const isPermittedAnew = (before.state === "proven") !== (after.state === "proven");
  return {
    raisesApplications: isRespelled,
    raisesUnits: isRespelled || isPermittedAnew,
    asksForApplications: isRespelled || before.state !== after.state,
    tellsUsers: before.state !== after.state || (after.state !== "proven" && before.outcome !== after.outcome),
  };
}
