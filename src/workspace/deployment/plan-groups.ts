import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import { areSameGroups, groupsOfLabels, groupsText, type WorkspaceGroups } from "../../domain/groups.ts";
import { isWorkspace } from "../workspace-policy.ts";
import type { ClassFacts } from "./plan-classes.ts";
import type { KnownWorkspaceRow } from "./plan-sweep.ts";

/** A workspace as it is recorded. */
export interface GroupedWorkspace extends KnownWorkspaceRow {
  /** The groups that it is in; absent: in none. */
  readonly groups?: WorkspaceGroups;
}

/** A workspace whose labels say other groups than it is in. */
export interface PlannedGroups {
  readonly workspace: GroupedWorkspace;
  readonly groups: WorkspaceGroups;
}

/**
 * Which workspaces are put into other groups. As labels say: what is taken away from a namespace, or from the rules, is taken away from its workspace. Nothing is
 * known of that while no fleet is declared, or its namespace was not seen.
 */
export function planGroups(known: readonly GroupedWorkspace[], { policy, namespaceOf, isMine }: ClassFacts): readonly PlannedGroups[] {
  if (policy.newUnit === undefined) return [];
  return known.flatMap((workspace) => {
    if (policy.groups.length === 0 && workspace.groups === undefined) return [];
    const namespace = namespaceOf(workspace.namespace);
    const isThere = workspace.state === "active" && namespace?.uid === workspace.namespaceUid;
    if (!isThere || namespace.isDeleting || !isMine(workspace.namespace) || !isWorkspace(namespace, policy)) return [];
    const groups = groupsOfLabels(namespace.labels, policy.groups);
    return areSameGroups(groups, workspace.groups) ? [] : [{ workspace, groups }];
  });
}

/** The journal's entry of a change of groups. */
export function groupsDecision({ workspace, groups }: PlannedGroups, at: Millis): Decision {
  const { workspaceId, namespace } = workspace;
  const [before, now] = [groupsText(workspace.groups), groupsText(groups)];
  const reason = `by labels of the namespace and workspaces.groups of fleet.yaml it is in ${now || "no group"}; it was in ${before || "none"}`;
  return { at, subject: workspaceId, kind: "placement", verdict: "GROUPS_CHANGED", rule: "LABELS", details: { namespace, reason, now } };
}
