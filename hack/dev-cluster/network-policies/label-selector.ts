import { readFields, readLabels, readList, readOneOf, readText, wrong } from "./read-fields.ts";

export type Labels = ReadonlyMap<string, string>;

/** A label selector: every requirement has to hold, so one without requirements selects everything. */
export type LabelSelector = readonly LabelRequirement[];

export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Values of `In` and `NotIn`; empty for the others. */
  readonly values: readonly string[];
}

/** Parses a `LabelSelector` of meta/v1. Throws `InputError` naming the field. */
export function parseSelector(value: unknown, path: string): LabelSelector {
  const { matchLabels, matchExpressions } = readFields(value, path, ["matchLabels", "matchExpressions"]);
  const labels = [...readLabels(matchLabels, `${path}.matchLabels`)];
  const expressions = readList(matchExpressions, `${path}.matchExpressions`);
  return [
    ...labels.map(([key, label]): LabelRequirement => ({ key, operator: "In", values: [label] })),
    ...expressions.map((each, at) => parseRequirement(each, `${path}.matchExpressions[${at}]`)),
  ];
}

function parseRequirement(value: unknown, path: string): LabelRequirement {
  const fields = readFields(value, path, ["key", "operator", "values"]);
  const key = readText(fields["key"], `${path}.key`);
  const operator = readOneOf(fields["operator"], `${path}.operator`, ["In", "NotIn", "Exists", "DoesNotExist"]);
  const values = readList(fields["values"], `${path}.values`);
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues !== values.length > 0)
    throw wrong(`${path}.values`, takesValues ? "is empty" : "is not empty", `${operator} takes ${takesValues ? "values" : "none"}`);
  const bad = values.findIndex((each) => typeof each !== "string");
  if (bad >= 0) throw wrong(`${path}.values[${bad}]`, "is no text", "write values as texts");
  return { key, operator, values: values as readonly string[] };
}

/** Whether labels meet every requirement. `NotIn` also holds where there is no such label. */
export function isSelected(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) => isMet(requirement, labels.get(requirement.key)));
}

function isMet({ operator, values }: LabelRequirement, label: string | undefined): boolean {
  switch (operator) {
    case "In":
      return label !== undefined && values.includes(label);
    case "NotIn":
      return label === undefined || !values.includes(label);
    case "Exists":
      return label !== undefined;
    case "DoesNotExist":
      return label === undefined;
  }
}
