import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { applyJsonPatch } from "../runtime/kube/testing/json-patch.ts";
import { diffObject, planRemoval } from "./diff-object.ts";
import type { DesiredObject, ObservedObject } from "./managed-object.ts";
import { parseObject } from "./parse-object.ts";
import { renderIdentity } from "./render-instance.ts";
import { renderUnit } from "./render-unit.ts";
import type { Stored } from "./testing/builders.ts";
import { anApplicationPlacement, DESTINATION, NAMESPACES, setField, setMeta, stored } from "./testing/builders.ts";

const unitObjects = (over = {}, repoUrls: readonly string[] = ["https://git.example/a"]) =>
  renderUnit(anApplicationPlacement(over), {
    destination: DESTINATION,
    namespaces: NAMESPACES,
    repoUrls,
    environmentRepoUrls: [],
    environments: [],
  });
const identity = renderIdentity("instance-1" as InstanceId, NAMESPACES);
const EVERY_KIND: readonly DesiredObject[] = [...Object.values(unitObjects()), ...Object.values(identity)];

function observe(desired: DesiredObject, raw: Stored): ObservedObject {
  const observed = parseObject(desired.kind, raw);
  if (observed === undefined) throw new Error("unreadable");
  return observed;
}

/** What the API server makes of a patch: 422 where a test fails, else the object under a new version. */
function patched(raw: Stored, patch: Parameters<typeof applyJsonPatch>[1]): Stored | undefined {
  const result = applyJsonPatch(raw as never, patch) as Stored | undefined;
  return result === undefined ? undefined : { ...result, metadata: { ...result.metadata, resourceVersion: "101" } };
}

/** Damage people can do with kubectl to one object. */
const damage = fc.constantFrom<(raw: Stored) => void>(
  (raw) => void delete raw.metadata["labels"],
  (raw) => void delete raw.metadata["annotations"],
  setMeta("labels", { "app.kubernetes.io/managed-by": "somebody", other: "x" }),
  setMeta("annotations", { "argosy.dev/hash": "0", "example.org/a~b": "kept" }),
  setMeta("annotations", { "argosy.dev/epoch": "not a number" }),
  setField("spec", { sourceRepos: ["*"] }),
  setField("subjects", []),
  (raw) => void delete raw["subjects"],
  setField("automountServiceAccountToken", true),
  setField("status", { anything: 1 }),
);

describe("comparing an object with what it should be", () => {
  test("creates what is not there, and is settled by what was created", () => {
    for (const desired of EVERY_KIND) {
      expect(diffObject(desired, undefined).kind).toBe("create");
      expect(diffObject(desired, observe(desired, stored(desired))).kind).toBe("settled");
    }
  });

  test("settles any damage with one patch, and then has nothing left to do", () => {
    fc.assert(
      fc.property(fc.constantFrom(...EVERY_KIND), fc.array(damage, { maxLength: 4 }), (desired, damages) => {
        const raw = stored(desired);
        for (const harm of damages) harm(raw);
        const action = diffObject(desired, observe(desired, raw));
        if (action.kind === "settled") return;
        expect(action.kind).toBe("change");
        const repaired = action.kind === "change" ? patched(raw, action.patch) : undefined;
        expect(repaired).toBeDefined();
        expect(diffObject(desired, observe(desired, repaired as Stored)).kind).toBe("settled");
      }),
    );
  });

  test("keeps what others wrote beside it", () => {
    const desired = unitObjects().project;
    const raw = stored(desired);
    raw.metadata["annotations"] = { ...(raw.metadata["annotations"] as object), "example.org/note": "theirs", "argosy.dev/hash": "0" };
    const action = diffObject(desired, observe(desired, raw));
    const repaired = action.kind === "change" ? patched(raw, action.patch) : undefined;
    expect(repaired?.metadata["annotations"]).toMatchObject({ "example.org/note": "theirs" });
  });

  test("writes a patch that another object, or another state of it, refuses", () => {
    const desired = unitObjects().project;
    const raw = stored(desired);
    raw["spec"] = {};
    const action = diffObject(desired, observe(desired, raw));
    if (action.kind !== "change") throw new Error(action.kind);
    for (const other of [
      { uid: "object-2" },
      { resourceVersion: "101" },
      { annotations: { ...(raw.metadata["annotations"] as object), "argosy.dev/epoch": "8" } },
    ]) {
      expect(patched({ ...raw, metadata: { ...raw.metadata, ...other } }, action.patch)).toBeUndefined();
    }
    expect(patched(raw, action.patch)).toBeDefined();
  });

  test("deletes that very object when what it may not change is wrong", () => {
    const desired = unitObjects().ownerBinding;
    const raw = stored(desired);
    raw["roleRef"] = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
    expect(diffObject(desired, observe(desired, raw))).toMatchObject({
      kind: "delete",
      preconditions: { uid: "object-1", resourceVersion: "100" },
    });
  });

  test("waits for the end of what is being deleted", () => {
    const desired = unitObjects().project;
    const raw = stored(desired);
    raw.metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
    expect(diffObject(desired, observe(desired, raw)).kind).toBe("await-end");
    expect(planRemoval(observe(desired, raw)).kind).toBe("await-end");
  });

  test("an object nobody needs is deleted with preconditions, and gone is gone (I2)", () => {
    const desired = unitObjects().project;
    expect(planRemoval(observe(desired, stored(desired)))).toMatchObject({
      kind: "delete",
      preconditions: { uid: "object-1", resourceVersion: "100" },
    });
    expect(planRemoval(undefined).kind).toBe("gone");
    expect(planRemoval(observe(desired, stored(desired)), { epoch: 7, revision: 2 }).kind).toBe("fenced");
    expect(planRemoval(observe(desired, stored(desired)), desired.fence).kind).toBe("delete");
  });
});

describe("of two writers", () => {
  const under = (epoch: number, desiredRevision: number, repo: string): DesiredObject =>
    unitObjects({ epoch, desiredRevision }, [repo]).project;

  test("the one with the older epoch, or in the same epoch the older revision, finds itself late; exactly one does (I7)", () => {
    const fence = fc.record({ epoch: fc.integer({ min: 1, max: 3 }), revision: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(fence, fence, (first, second) => {
        const theirs = under(first.epoch, first.revision, "https://a");
        const ours = under(second.epoch, second.revision, "https://b");
        const isLate = first.epoch > second.epoch || (first.epoch === second.epoch && first.revision > second.revision);
        expect(diffObject(ours, observe(ours, stored(theirs))).kind).toBe(isLate ? "fenced" : "change");
      }),
    );
  });

  test("a newer revision that changes nothing writes nothing", () => {
    const before = under(7, 3, "https://a");
    const after = under(7, 4, "https://a");
    expect(diffObject(after, observe(after, stored(before))).kind).toBe("settled");
  });

  test("a newer epoch is written even if nothing else changes", () => {
    const after = under(8, 3, "https://a");
    const action = diffObject(after, observe(after, stored(under(7, 3, "https://a"))));
    expect(action).toMatchObject({ kind: "change", why: ["annotations"] });
  });
});

describe("reading what is there", () => {
  test("takes anything for what it is, and nothing without identity", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => parseObject("project", value) === undefined));
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (meta, rest) => {
        const metadata = { ...Object.fromEntries(Object.entries(meta ?? {})), name: "n", uid: "u", resourceVersion: "1" };
        return parseObject("project", { metadata, spec: rest })?.uid === "u";
      }),
    );
  });
});
