import type { Change } from "../domain/change.ts";
import type { DeclaredGroups } from "../domain/deployable-kinds.ts";
import { type ClassRule, classOf, type FleetSpec, hasLabels, readClass, type WorkspacesSpec } from "../domain/fleet.ts";
import { type GroupRule, groupsOfLabels, type WorkspaceGroups } from "../domain/groups.ts";
import { contentHash } from "../domain/hash.ts";
import type { Instance } from "../domain/instance.ts";
import { type ClassQuota, judgedClasses, quotaOfClasses, type RecordedClasses, type WorkspaceQuota } from "../domain/quota.ts";
import type { ObservedNamespace } from "../domain/user-resource.ts";

/** What a workspace's first unit is made with. */
export interface NewUnit {
  readonly class: string;
  readonly trustClass: string;
  /** Absent: its workspace is in no group. */
  readonly groups?: WorkspaceGroups;
}

/** A workspace's classes as they are recorded. */
export interface ClassedNamespace extends RecordedClasses {
  readonly namespace: string;
  readonly namespaceUid: string;
}

/** The classes that a workspace is judged by. */
export interface JudgedClasses {
  readonly namespace: string;
  /** One or more, sorted. */
  readonly classes: readonly string[];
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
  /** What one workspace may have where nothing is declared for its class. */
  readonly quota: WorkspaceQuota;
  /** What is declared for workspaces of a class. */
  readonly classQuotas: readonly ClassQuota[];
  /** Classes of the workspaces that are recorded, by the uid of their namespace; none where no class has a quota of its own. */
  readonly recordedClasses: ReadonlyMap<string, JudgedClasses>;
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
  quota: { deployments: 0, environments: 0, syncsPerMinute: 1 },
  classQuotas: [],
  recordedClasses: new Map(),
  recordedLabels: [],
  instanceNamespaces: new Set(),
  kinds: {},
  hidden: [],
};

/** Derives the policy. `recorded`: the classes of the workspaces that have rows; absent: none are known. */
export function workspacePolicy(
  spec: FleetSpec,
  instances: readonly Instance[],
  recorded: readonly ClassedNamespace[] = [],
): WorkspacePolicy {
  const first = spec.pools[0];
  const hidden = new Set(instances.flatMap(({ name, namespace }) => [name, namespace]));
  return {
    newUnit: first === undefined ? undefined : unitOfClass(classOf(first)),
    classes: spec.workspaces.classes ?? [],
    groups: spec.workspaces.groups ?? [],
    egress: spec.egress,
    selector: spec.workspaces.selector,
    everyNamespace: spec.workspaces.everyNamespace === true,
    quota: quotaOfClasses(spec.workspaces, []),
    classQuotas: spec.workspaces.classQuotas ?? [],
    recordedClasses: recordedClasses(recorded),
    recordedLabels: spec.cost?.labels ?? [],
    instanceNamespaces: new Set(instances.map(({ namespace }) => namespace)),
    kinds: spec.deployments,
    hidden: [...hidden].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)),
  };
}

/** Whether what changed may change the policy, or who has which class. */
export function isAboutPolicy({ kind }: Pick<Change, "kind">): boolean {
  return kind === "class" || isAboutFleet({ kind });
}

/** Whether what changed may change the policy. */
export function isAboutFleet({ kind }: Pick<Change, "kind">): boolean {
  return kind === "fleet" || kind === "pool" || kind === "instance";
}

/** Those that are judged by a class that is recorded. */
function recordedClasses(recorded: readonly ClassedNamespace[]): WorkspacePolicy["recordedClasses"] {
  const known = recorded.map((one) => [one.namespaceUid, { namespace: one.namespace, classes: judgedClasses(one) }] as const);
  return new Map(known.filter(([, { classes }]) => classes.length > 0));
}

/**
 * Whether two policies let in the same resources, as long as nobody has another class: what only hides names changes nothing about that. See
 * {@link requotedNamespaces} for those who have another one.
 */
export function admitsTheSame(a: WorkspacePolicy, b: WorkspacePolicy): boolean {
  const admission = ({ newUnit, classes, groups, egress, selector, everyNamespace, quota, classQuotas }: WorkspacePolicy) =>
    contentHash({ newUnit, classes, groups, egress, selector, everyNamespace, quota, classQuotas });
  return admission(a) === admission(b);
}

/**
 * What the workspace of a namespace may have: by the classes that its units have and are to have, whoever gave it these; before it is recorded, by the
 * class that its first unit would get. Nothing that a user writes counts. `undefined`: the namespace is not seen yet.
 */
export function quotaOf(namespace: Pick<ObservedNamespace, "uid" | "labels"> | undefined, policy: WorkspacePolicy): WorkspaceQuota {
  if (namespace === undefined || policy.classQuotas.length === 0) return policy.quota;
  const recorded = policy.recordedClasses.get(namespace.uid)?.classes;
  const given = recorded === undefined ? newUnitOf(namespace, policy)?.class : undefined;
  return quotaOfClasses(policy, recorded ?? (given === undefined ? [] : [given]));
}

/** Namespaces whose workspace may have more or less by one policy than by another, because it has other classes; sorted. */
export function requotedNamespaces(
  before: WorkspacePolicy,
  now: WorkspacePolicy,
  namespaceOf: (name: string) => ObservedNamespace | undefined,
): readonly string[] {
  const classesIn = ({ recordedClasses }: WorkspacePolicy, uid: string): string => recordedClasses.get(uid)?.classes.join() ?? "";
  const requoted = [...new Map([...before.recordedClasses, ...now.recordedClasses])].flatMap(([uid, { namespace: name }]) => {
    const namespace = namespaceOf(name);
    if (namespace?.uid !== uid || classesIn(before, uid) === classesIn(now, uid)) return [];
    return contentHash(quotaOf(namespace, before)) === contentHash(quotaOf(namespace, now)) ? [] : [name];
  });
  return requoted.sort();
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
