import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { ObservedNamespace } from "../../domain/user-resource.ts";
import { isWorkspace, type NewUnit, ruledUnitOf, unitOfClass, type WorkspacePolicy } from "../workspace-policy.ts";
import type { KnownWorkspaceRow } from "./plan-sweep.ts";

/** A workspace as it is recorded. */
export interface ClassedWorkspace extends KnownWorkspaceRow {
  /** The classes that its units have or are to have. */
  readonly classes: readonly string[];
  /** The class that somebody has assigned to it. */
  readonly assigned?: string;
}

export interface ClassFacts {
  readonly policy: WorkspacePolicy;
  /** The namespace of that name as it was seen last. */
  readonly namespaceOf: (name: string) => ObservedNamespace | undefined;
  readonly isMine: (namespace: string) => boolean;
}

/** A workspace that is to have another class than its units have or are to have. */
export interface PlannedClass extends NewUnit {
  readonly workspace: ClassedWorkspace;
}

/**
 * Which workspaces are given another class: by who has assigned one, else by a rule. One that nobody has assigned any and no rule fits keeps what it
 * has: neither another first pool nor a label that is taken away moves anybody.
 */
export function planClasses(known: readonly ClassedWorkspace[], { policy, namespaceOf, isMine }: ClassFacts): readonly PlannedClass[] {
  return known.flatMap((workspace) => {
    const { assigned } = workspace;
    if (policy.classes.length === 0 && assigned === undefined) return [];
    const namespace = namespaceOf(workspace.namespace);
    const isThere = workspace.state === "active" && namespace?.uid === workspace.namespaceUid;
    if (!isThere || namespace.isDeleting || !isMine(workspace.namespace) || !isWorkspace(namespace, policy)) return [];
    const given = assigned === undefined ? ruledUnitOf(namespace, policy) : unitOfClass(assigned);
    return given === undefined || workspace.classes.every((one) => one === given.class) ? [] : [{ workspace, ...given }];
  });
}

/** The journal's entry of a change of class. */
export function classDecision({ workspaceId, namespace, classes, assigned }: ClassedWorkspace, given: NewUnit, at: Millis): Decision {
  const { class: to } = given;
  const [rule, why] =
    assigned === undefined
      ? ["LABELS", `labels of the namespace ask for class ${to} by workspaces.classes of fleet.yaml`]
      : ["ASSIGNED", `class ${to} was assigned to the workspace`];
  const reason = `${why}; it had ${classes.join(", ")}`;
  const details = { namespace, reason, class: { before: classes, now: to } };
  return { at, subject: workspaceId, kind: "placement", verdict: "CLASS_CHANGED", rule, details };
}
