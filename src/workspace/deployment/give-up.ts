import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { WorkspaceId } from "../../domain/ids.ts";

/**
 * How long what was deployed to other clusters may take to go once its namespace is gone, in ms. Objects that somebody's finalizer holds,
 * and clusters that are restarted, are done by then; a cluster that is gone for good never is.
 */
export const GIVE_UP_AFTER_MS = 30 * 60_000;

export interface Overdue {
  readonly name: string;
  readonly workspaceId: WorkspaceId;
  readonly namespace: string;
  readonly environment: string | undefined;
}

/** Names that one entry of the journal holds. */
const NAMED = 20;

/** What is reported to SREs of cascades that are given up: one entry for each environment of each namespace. */
export function givenUp(overdue: readonly Overdue[], at: Millis): readonly Decision[] {
  const groups = Map.groupBy(overdue, ({ workspaceId, environment }) => `${workspaceId}|${environment ?? ""}`);
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => decisionOf(group, at));
}

function decisionOf(group: readonly Overdue[], at: Millis): Decision {
  const { workspaceId = "" as WorkspaceId, namespace = "", environment } = group[0] ?? {};
  const deployments = group.map(({ name }) => name).toSorted();
  const count = deployments.length;
  const where = environment === undefined ? "in its own namespace" : `on the cluster of its environment ${environment}`;
  const reason = `namespace ${namespace} is gone, and what ${count} of its deployments put ${where} could not be deleted in ${GIVE_UP_AFTER_MS / 60_000} minutes: it stays there`;
  const details = { namespace, environment: environment ?? null, count, deployments: deployments.slice(0, NAMED), reason };
  return { at, subject: workspaceId, kind: "deletion", verdict: "ORPHANED", rule: "TIMEOUT", details };
}
