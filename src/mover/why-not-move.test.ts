import { expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { InstanceId } from "../domain/ids.ts";
import { anApplicationPlacement } from "../shard/testing/builders.ts";
import { anInstance } from "../store/testing/builders.ts";
import { endsWithSource, whyNotMove } from "./why-not-move.ts";

const source = anInstance({ name: "one", version: "3.5.7" });
const target = anInstance({ name: "two", version: "3.5.7" });
const unit = { ...anApplicationPlacement().unit, owner: source.id };
const own = { name: "prod", createsAccount: true, unreachableSince: undefined };
const requestedMove = { unit, environments: [], source, target };

it("has nothing against a move to an active instance of the class, of the same version or a newer one", () => {
  expect(whyNotMove(requestedMove)).toBeUndefined();
  expect(whyNotMove({ ...requestedMove, target: { ...target, version: "3.6.0" } })).toBeUndefined();
  expect(whyNotMove({ ...requestedMove, target: { ...target, version: "4.0.0" } })).toBeUndefined();
});

it("takes units along whose environments can be revoked, and names the one that cannot", () => {
  expect(whyNotMove({ ...requestedMove, environments: [own, { ...own, name: "stage" }] })).toBeUndefined();
  expect(whyNotMove({ ...requestedMove, environments: [own, { ...own, name: "theirs", createsAccount: false }] })?.text).toContain(
    "environment theirs",
  );
  expect(whyNotMove({ ...requestedMove, environments: [{ ...own, name: "away", unreachableSince: millis(0) }] })?.text).toBe(
    "environment away has given no answer since 1970-01-01T00:00:00Z: nobody can take the right to write there from one",
  );
});

it.each([
  ["UNPLACED", { unit: { ...unit, owner: undefined } }],
  ["UNPLACED", { source: undefined }],
  ["THERE_ALREADY", { unit: { ...unit, owner: target.id as InstanceId } }],
  ["TARGET_TAKES_NOTHING", { target: { ...target, state: "CORDONED" } }],
  ["APART", { strangers: [{ label: "class.argosy.dev/customer", value: "acme" }] }],
  ["OTHER_CLASS", { target: { ...target, class: "us/shared/public" } }],
  ["OTHER_CLASS", { unit: { ...unit, wantedClass: "eu/shared/internal" }, target: { ...target, class: "us/shared/public" } }],
  ["OLDER_VERSION", { target: { ...target, version: "3.5.6" } }],
  ["OLDER_VERSION", { target: { ...target, version: "v3.4.9" } }],
  ["OLDER_VERSION", { target: { ...target, version: "2.9.12" } }],
  ["SOFT_PROFILE", { environments: [own, { ...own, name: "theirs", createsAccount: false }] }],
  ["ENVIRONMENT_UNREACHABLE", { environments: [own, { ...own, name: "away", unreachableSince: millis(0) }] }],
] as const)("refuses with %s", (code, over) => {
  const refusal = whyNotMove({ ...requestedMove, ...over });
  expect(refusal?.code).toBe(code);
  expect(refusal?.text).not.toContain("undefined");
});

it("takes nothing from a source that was stopped, so nothing of that kind speaks against a move", () => {
  const environments = [
    { ...own, createsAccount: false },
    { ...own, unreachableSince: millis(0) },
  ];
  expect(whyNotMove({ ...requestedMove, environments, source: { ...source, halt: "wanted" } })).toBeDefined();
  expect(whyNotMove({ ...requestedMove, environments, source: { ...source, halt: "seen" } })).toBeUndefined();
  expect(["SOFT_PROFILE", "ENVIRONMENT_UNREACHABLE", "OLDER_VERSION"].map((code) => endsWithSource({ code: code as never }))).toEqual([
    true,
    true,
    false,
  ]);
});

it("lets a fail-over begin where accounts can be refused, and says why no time makes it safe where they cannot", () => {
  expect(whyNotMove({ ...requestedMove, environments: [own], isFailOver: true })).toBeUndefined();
  const soft = [own, { ...own, name: "theirs", createsAccount: false }];
  expect(whyNotMove({ ...requestedMove, environments: soft, isFailOver: true })).toEqual({
    code: "SOFT_PROFILE",
    text: "applications deploy to environment theirs: its credential is the user's own and cannot be taken from one; as long as its controller may be alive, no time makes that safe",
  });
  expect(whyNotMove({ ...requestedMove, environments: soft, isFailOver: true, source: { ...source, halt: "seen" } })).toBeUndefined();
});
