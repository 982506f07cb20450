import type { Change } from "../domain/change.ts";
import { MOST_ENVIRONMENTS } from "../domain/controller-memory.ts";
import type { DeclaredGroups } from "../domain/deployable-kinds.ts";
import { type ClassRule, classOf, type FleetSpec, hasLabels, readClass, type WorkspacesSpec } from "../domain/fleet.ts";
import { type GroupRule, groupsOfLabels, type WorkspaceGroups } from "../domain/groups.ts";
import { contentHash } from "../domain/hash.ts";
import type { Instance } from "../domain/instance.ts";
import type { ObservedNamespace } from "../domain/user-resource.ts";

/** What a workspace's first unit is made with. */
export interface NewUnit {
  readonly class: string;
  readonly trustClass: string;
  /** Absent: its workspace is in no group. */
  readonly groups?: WorkspaceGroups;
}

/** What the declared fleet means for users' resources: which are admitted, and what their users may not read. */
export interface WorkspacePolicy {
  /** Class of a workspace's first unit where no rule says another; absent while no pool is declared. */
  readonly newUnit: NewUnit | undefined;
  /** Which workspaces get another class; the first rule that fits counts. */
  readonly classes: readonly ClassRule[];
  /** Which labels say who must not share an instance, and who should. */
  readonly groups: readonly GroupRule[];
  readonly egress: FleetSpec["egress"];
  readonly selector: WorkspacesSpec["selector"];
  readonly everyNamespace: boolean;
  /** Deployments one workspace may have. */
  readonly deployments: number;
  /** Environments one workspace may have. */
  readonly environments: number;
  /** Objects that an instance may cache of one environment; absent: nothing bounds them. */
  readonly environmentObjects?: number;
  /** Syncs one workspace may begin in a minute. */
  readonly syncsPerMinute: number;
  /** Labels of namespaces that are recorded. */
  readonly recordedLabels: readonly string[];
  readonly instanceNamespaces: ReadonlySet<string>;
  /** Which kinds may be deployed into a workspace. */
  readonly kinds: DeclaredGroups;
  /** Names that no user may ever read, longest first. */
  readonly hidden: readonly string[];
}

/** Before a fleet is declared nothing is admitted, and no name is known that has to be hidden. */
export const closedPolicy: WorkspacePolicy = {
  newUnit: undefined,
  classes: [],
  groups: [],
  egress: { allow: [], http: [] },
  selector: {},
  everyNamespace: false,
  deployments: 0,
  environments: 0,
  syncsPerMinute: 1,
  recordedLabels: [],
  instanceNamespaces: new Set(),
  kinds: {},
  hidden: [],
};

/** Derives the policy. */
export function workspacePolicy(spec: FleetSpec, instances: readonly Instance[]): WorkspacePolicy {
  const first = spec.pools[0];
  const hidden = new Set(instances.flatMap(({ name, namespace }) => [name, namespace]));
  return {
    newUnit: first === undefined ? undefined : unitOfClass(classOf(first)),
    classes: spec.workspaces.classes ?? [],
    groups: spec.workspaces.groups ?? [],
    egress: spec.egress,
    selector: spec.workspaces.selector,
    everyNamespace: spec.workspaces.everyNamespace === true,
    environments: MOST_ENVIRONMENTS,
    ...spec.workspaces.quota,
    recordedLabels: spec.cost?.labels ?? [],
    instanceNamespaces: new Set(instances.map(({ namespace }) => namespace)),
    kinds: spec.deployments,
    hidden: [...hidden].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)),
  };
}

/** Whether what changed may change the policy. */
export function isAboutFleet({ kind }: Pick<Change, "kind">): boolean {
  return kind === "fleet" || kind === "pool" || kind === "instance";
}

/** Whether two policies let in the same resources: what only hides names changes nothing about that. */
export function admitsTheSame(a: WorkspacePolicy, b: WorkspacePolicy): boolean {
  const admission = ({
    newUnit,
    classes,
    groups,
    egress,
    selector,
    everyNamespace,
    deployments,
    environments,
    environmentObjects,
  }: WorkspacePolicy) =>
    contentHash({
      newUnit,
      classes,
      groups,
      egress,
      selector,
      everyNamespace,
      deployments,
      environments,
      environmentObjects: environmentObjects ?? null,
    });
  return admission(a) === admission(b);
}

/**
 * Whether a namespace is a workspace: it carries the selector's labels, or every namespace is one, and it is not the cluster's, ours or an
 * instance's. A selector that names no label makes none.
 */
export function isWorkspace(
  { name, labels }: Pick<ObservedNamespace, "name" | "labels">,
  policy: Pick<WorkspacePolicy, "selector" | "everyNamespace" | "instanceNamespaces">,
): boolean {
  if (name.startsWith("kube-") || name.startsWith("argosy-") || policy.instanceNamespaces.has(name)) return false;
  return Object.keys(policy.selector).length === 0 ? policy.everyNamespace : hasLabels(labels, policy.selector);
}

/**
 * What the first unit of a workspace is made with: the class of the first rule whose labels its namespace has, else that of the first pool;
 * `undefined` while no pool is declared. And the groups that its labels say. Only what the namespace says counts: its users may write all else in it.
 */
export function newUnitOf(
  { labels }: Pick<ObservedNamespace, "labels">,
  { newUnit, classes, groups: rules }: Pick<WorkspacePolicy, "newUnit" | "classes" | "groups">,
): NewUnit | undefined {
  if (newUnit === undefined) return undefined;
  const unit = ruledUnitOf({ labels }, { classes }) ?? newUnit;
  return rules.length === 0 ? unit : { ...unit, groups: groupsOfLabels(labels, rules) };
}

/** The same where a rule says it; `undefined`: none fits. */
export function ruledUnitOf(
  { labels }: Pick<ObservedNamespace, "labels">,
  { classes }: Pick<WorkspacePolicy, "classes">,
): NewUnit | undefined {
  const rule = classes.find((one) => hasLabels(labels, one.labels));
  return rule && unitOfClass(rule.class);
}

/** What a unit of this class is made with. */
export function unitOfClass(key: string): NewUnit {
  return { class: key, trustClass: readClass(key).trust };
}
