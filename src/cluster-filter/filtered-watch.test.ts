import { describe, expect, it } from "vitest";
import { createFilteredWatch } from "./filtered-watch.ts";
import { createMembership, type Membership } from "./membership.ts";

const KIND = { apiVersion: "v1", kind: "ConfigMap" };
const event = (type: string, namespace: string, version: number) =>
  Buffer.from(`${JSON.stringify({ type, object: { ...KIND, metadata: { name: "x", namespace, resourceVersion: String(version) } } })}\n`);
const bookmark = (version: number) =>
  Buffer.from(`${JSON.stringify({ type: "BOOKMARK", object: { ...KIND, metadata: { resourceVersion: String(version) } } })}\n`);
const open = (membership: Membership, version = "10") => {
  const generation = membership.generation();
  const from = { version, listed: generation, held: generation };
  return createFilteredWatch({ membership, kind: KIND, from, run: "ab", takesBookmarks: true });
};
/** What a client learns of what it is handed: types with the version that it would resume by. */
const heard = (parts: readonly (Buffer | string)[]): readonly string[] =>
  parts.map((part) => {
    const { type, object } = JSON.parse(part.toString()) as {
      readonly type: string;
      readonly object: { readonly metadata: { readonly resourceVersion: string } };
    };
    return `${type} ${object.metadata.resourceVersion}`;
  });

describe("one watch through the filter", () => {
  it("hands on what is let in, each with a version to resume by, and nothing else", () => {
    const membership = createMembership();
    membership.change(new Set(["a"]));
    const watch = open(membership);
    expect(heard(watch.event(event("ADDED", "a", 11)))).toEqual(["ADDED 11", "BOOKMARK 11.1.1.ab"]);
    expect(watch.event(event("MODIFIED", "b", 12))).toEqual([]);
    expect(heard(watch.event(event("DELETED", "a", 13)))).toEqual(["DELETED 13", "BOOKMARK 13.1.1.ab"]);
    expect(heard(watch.event(bookmark(14)))).toEqual(["BOOKMARK 14.1.1.ab"]);
  });

  it("leaves out what the list of a namespace had already, and gives no version to resume by until it has come up to that list", () => {
    const membership = createMembership();
    membership.change(new Set(["a"]));
    const watch = open(membership);
    membership.change(new Set(["a", "b"]));
    expect(watch.event(event("ADDED", "b", 11))).toEqual([]);
    expect(watch.joined(new Map([["b", "14"]]), 2)).toEqual([]);
    expect(watch.event(event("DELETED", "b", 12))).toEqual([]);
    expect(heard(watch.event(event("ADDED", "a", 13)))).toEqual(["ADDED 13"]);
    expect(watch.event(event("ADDED", "c", 14))).toHaveLength(1);
    expect(heard(watch.event(event("ADDED", "b", 15)))).toEqual(["ADDED 15", "BOOKMARK 15.1.2.ab"]);
  });

  it("has a client list again where versions are no numbers", () => {
    const membership = createMembership();
    membership.change(new Set(["a"]));
    const watch = open(membership);
    membership.change(new Set(["a", "b"]));
    expect(watch.joined(new Map([["b", "xyz"]]), 2)).toBeUndefined();
  });
});
