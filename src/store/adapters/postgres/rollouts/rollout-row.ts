import type { Rollout } from "../../../../domain/rollout.ts";
import type { Statement } from "../database.ts";

export const LIVE_ROLLOUT: Statement = {
  name: "read_live_rollout",
  text: "select document, revision from rollout where state not in ('DONE', 'FAILED', 'ABORTED')",
};

export interface RolloutRow {
  readonly document: Rollout;
  readonly revision: number;
}

/** The row's revision is the one that counts: the document's was written before it was raised. What JSON leaves out is absent, and older ones say no mode. */
export function rolloutOf({ document, revision }: RolloutRow): Rollout {
  return { ...document, pool: document.pool, mode: document.mode ?? "in-place", ending: document.ending, revision };
}
