import type { FleetSpec } from "./fleet.ts";
import { canonicalJson } from "./hash.ts";
import { toDocumentLoad } from "./load.ts";

/** One thing declared in a fleet document that differs: a pool, an engine cluster, or a section such as `egress`. */
export interface FleetDifference {
  /** Where it stands in the document, e.g. `pools.standard`. */
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  /** The fields below it that differ, as JSON text; empty for what was added or removed as a whole. */
  readonly fields: readonly { readonly path: string; readonly before: string; readonly after: string }[];
}

/**
 * What a document would change, in the words and units of the document, sorted by path. Pools, engine clusters and releases
 * are told apart by their name, so that their order means nothing.
 */
export function diffFleet(before: FleetSpec | undefined, after: FleetSpec): readonly FleetDifference[] {
  const [old, now] = [before === undefined ? new Map<string, unknown>() : partsOf(before), partsOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (canonicalJson(was ?? null) === canonicalJson(is ?? null)) return [];
    if (was === undefined || is === undefined)
      return { path, change: was === undefined ? ("added" as const) : ("removed" as const), fields: [] };
    return { path, change: "changed" as const, fields: diffFields(was, is, "") };
  });
}

/** One thing declared that differs, with all of what it was and is: what was added has no `before`, what was removed no `after`. */
export interface FleetChangeRecord {
  readonly path: string;
  readonly change: FleetDifference["change"];
  readonly fields?: readonly { readonly path: string; readonly before?: unknown; readonly after?: unknown }[];
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What a document changed, whole: for who wants to know exactly what was declared. Ordered as `diffFleet` is. */
export function fleetChangeRecords(before: FleetSpec | undefined, after: FleetSpec): readonly FleetChangeRecord[] {
  const [old, now] = [before === undefined ? new Map<string, unknown>() : partsOf(before), partsOf(after)];
  return diffFleet(before, after).map(({ path, change, fields }) => {
    if (change === "added") return { path, change, after: now.get(path) };
    if (change === "removed") return { path, change, before: old.get(path) };
    return {
      ...{ path, change },
      fields: fields.map((field) => ({ path: field.path, ...side("before", field.before), ...side("after", field.after) })),
    };
  });
}

function side(name: "before" | "after", text: string): { readonly [name in "before" | "after"]?: unknown } {
  return text === NOT_SET ? {} : { [name]: JSON.parse(text) as unknown };
}

function partsOf({ pools, engineClusters, versions, ...sections }: FleetSpec): ReadonlyMap<string, unknown> {
  const { catalogue, ...chosen } = versions;
  return new Map<string, unknown>([
    ...pools.map((pool) => [`pools.${pool.name}`, { ...pool, capacity: toDocumentLoad(pool.capacity) }] as const),
    ...engineClusters.map((cluster) => [`engineClusters.${cluster.name}`, cluster] as const),
    ...catalogue.map((release) => [`versions.catalogue.${release.version}`, release] as const),
    ...Object.entries({ versions: chosen, ...sections }),
  ]);
}

function diffFields(before: unknown, after: unknown, path: string): FleetDifference["fields"] {
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  if (!isSection(before) || !isSection(after)) return [{ path, before: textOf(before), after: textOf(after) }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => diffFields(before[name], after[name], path === "" ? name : `${path}.${name}`));
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No JSON text: a text has quotation marks. */
const NOT_SET = "not set";

function textOf(value: unknown): string {
  return value === undefined ? NOT_SET : JSON.stringify(value);
}

/** Changes, and fields of one, that a sentence names, and how much it says of a value. */
const NAMED = 5;
const LONGEST_VALUE = 60;

/** What a document changed, as a sentence; empty: nothing. Where much changed, the first of it and how much more there is. */
export function fleetChangesText(changes: readonly FleetDifference[]): string {
  return listed(
    changes.map(({ path, change, fields }) => {
      if (change !== "changed") return `${path} ${change}`;
      return `${path} changed (${listed(
        fields.map((field) => `${field.path} from ${cut(field.before)} to ${cut(field.after)}`),
        ", ",
      )})`;
    }),
    "; ",
  );
}

function listed(texts: readonly string[], separator: string): string {
  const more = texts.length > NAMED ? [`and ${texts.length - NAMED} more`] : [];
  return [...texts.slice(0, NAMED), ...more].join(separator);
}

function cut(text: string): string {
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 1)}…`;
}
