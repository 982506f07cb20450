import { canonicalJson } from "./hash.ts";

/** apart: workspaces of different values never share an instance. together: those of one value live on one instance where that is possible. */
export const GROUP_RULES = ["apart", "together"] as const;
export type GroupRuleKind = (typeof GROUP_RULES)[number];

/** What a label of namespaces says about who lives with whom. */
export interface GroupRule {
  readonly label: string;
  readonly rule: GroupRuleKind;
}

/** The groups that a workspace is in, by labels of its namespace. */
export interface WorkspaceGroups {
  /** Its value of each label whose rule is `apart`; of one that is missing here nothing keeps it from anybody. */
  readonly apart: Readonly<Record<string, string>>;
  /** `label=value` of the label whose rule is `together`; absent: it has no value. */
  readonly together?: string;
}

/** Somebody who must be apart from a workspace: another value of one of its labels. */
export interface Stranger {
  readonly label: string;
  readonly value: string;
}

/** The groups of a namespace with these labels. An empty value is a value. */
export function groupsOfLabels(labels: Readonly<Record<string, string>>, rules: readonly GroupRule[]): WorkspaceGroups {
  const given = rules.flatMap(({ label, rule }) => {
    const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
    return value === undefined ? [] : [{ label, rule, value }];
  });
  const together = given.find(({ rule }) => rule === "together");
  return {
    apart: Object.fromEntries(given.flatMap(({ label, rule, value }) => (rule === "apart" ? [[label, value]] : []))),
    ...(together === undefined ? {} : { together: `${together.label}=${together.value}` }),
  };
}

export function areSameGroups(a: WorkspaceGroups | undefined, b: WorkspaceGroups | undefined): boolean {
  return apartKey(a) === apartKey(b) && a?.together === b?.together;
}

/** The same text for the same values of the same labels; `{}` for none. */
export function apartKey(groups: WorkspaceGroups | undefined): string {
  return canonicalJson(groups?.apart ?? {});
}

/** What of the other one keeps two workspaces from sharing an instance; empty: nothing does. */
export function clashesOf(own: WorkspaceGroups | undefined, other: WorkspaceGroups | undefined): readonly Stranger[] {
  return Object.entries(other?.apart ?? {}).flatMap(([label, value]) => {
    const mine = own?.apart[label];
    return mine === undefined || mine === value ? [] : [{ label, value }];
  });
}

/** The groups for people; empty: it is in none. */
export function groupsText(groups: WorkspaceGroups | undefined): string {
  const apart = Object.entries(groups?.apart ?? {}).map(([label, value]) => `${label}=${value} apart from other values`);
  const together = groups?.together === undefined ? [] : [`${groups.together} together where that is possible`];
  return [...apart.sort(), ...together].join(", ");
}
