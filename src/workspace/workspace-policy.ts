import type { Change } from "../domain/change.ts";
import { classOf, type FleetSpec, type WorkspacesSpec } from "../domain/fleet.ts";
import { contentHash } from "../domain/hash.ts";
import type { Instance } from "../domain/instance.ts";
import type { ObservedNamespace } from "../domain/user-resource.ts";

/** What the declared fleet means for users' resources: which are admitted, and what their users may not read. */
export interface WorkspacePolicy {
  /** Class of a workspace's first unit; absent while no pool is declared. */
  readonly newUnit: { readonly class: string; readonly trustClass: string } | undefined;
  readonly egress: FleetSpec["egress"];
  readonly selector: WorkspacesSpec["selector"];
  /** Deployments one workspace may have. */
  readonly deployments: number;
  /** Syncs one workspace may begin in a minute. */
  readonly syncsPerMinute: number;
  readonly instanceNamespaces: ReadonlySet<string>;
  /** Names that no user may ever read, longest first. */
  readonly hidden: readonly string[];
}

/** Before a fleet is declared nothing is admitted, and no name is known that has to be hidden. */
export const closedPolicy: WorkspacePolicy = {
  newUnit: undefined,
  egress: { allow: [], http: [] },
  selector: {},
  deployments: 0,
  syncsPerMinute: 1,
  instanceNamespaces: new Set(),
  hidden: [],
};

/** Derives the policy. New workspaces go to the class of the first pool. */
export function workspacePolicy(spec: FleetSpec, instances: readonly Instance[]): WorkspacePolicy {
  const first = spec.pools[0];
  const hidden = new Set(instances.flatMap(({ name, namespace }) => [name, namespace]));
  return {
    newUnit: first === undefined ? undefined : { class: classOf(first), trustClass: first.class.trust },
    egress: spec.egress,
    selector: spec.workspaces.selector,
    ...spec.workspaces.quota,
    instanceNamespaces: new Set(instances.map(({ namespace }) => namespace)),
    hidden: [...hidden].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)),
  };
}

/** Whether what changed may change the policy. */
export function isAboutFleet({ kind }: Pick<Change, "kind">): boolean {
  return kind === "fleet" || kind === "pool" || kind === "instance";
}

/** Whether two policies let in the same resources: what only hides names changes nothing about that. */
export function admitsTheSame(a: WorkspacePolicy, b: WorkspacePolicy): boolean {
  const admission = ({ newUnit, egress, selector, deployments }: WorkspacePolicy) =>
    contentHash({ newUnit, egress, selector, deployments });
  return admission(a) === admission(b);
}

/** Whether a namespace is a workspace: it carries the selector's labels and is not the cluster's, ours or an instance's. */
export function isWorkspace(
  { name, labels }: Pick<ObservedNamespace, "name" | "labels">,
  policy: Pick<WorkspacePolicy, "selector" | "instanceNamespaces">,
): boolean {
  if (name.startsWith("kube-") || name.startsWith("argosy-") || policy.instanceNamespaces.has(name)) return false;
  return Object.entries(policy.selector).every(([label, value]) => labels[label] === value);
}
