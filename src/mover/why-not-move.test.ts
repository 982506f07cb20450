import { expect, it } from "vitest";
import type { InstanceId } from "../domain/ids.ts";
import { aSeat } from "../shard/testing/builders.ts";
import { anInstance } from "../store/testing/builders.ts";
import { whyNotMove } from "./why-not-move.ts";

const source = anInstance({ name: "one", version: "3.5.7" });
const target = anInstance({ name: "two", version: "3.5.7" });
const unit = { ...aSeat().unit, owner: source.id };
const wish = { unit, environments: [], source, target };

it("has nothing against a move to an active instance of the class, of the same version or a newer one", () => {
  expect(whyNotMove(wish)).toBeUndefined();
  expect(whyNotMove({ ...wish, target: { ...target, version: "3.6.0" } })).toBeUndefined();
  expect(whyNotMove({ ...wish, target: { ...target, version: "4.0.0" } })).toBeUndefined();
});

it.each([
  ["UNPLACED", { unit: { ...unit, owner: undefined } }],
  ["UNPLACED", { source: undefined }],
  ["THERE_ALREADY", { unit: { ...unit, owner: target.id as InstanceId } }],
  ["TARGET_TAKES_NOTHING", { target: { ...target, state: "CORDONED" } }],
  ["OTHER_CLASS", { target: { ...target, class: "us/shared/public" } }],
  ["OLDER_VERSION", { target: { ...target, version: "3.5.6" } }],
  ["OLDER_VERSION", { target: { ...target, version: "v3.4.9" } }],
  ["OLDER_VERSION", { target: { ...target, version: "2.9.12" } }],
  ["SOFT_PROFILE", { environments: [{ name: "prod" }] }],
] as const)("refuses with %s", (code, over) => {
  const refusal = whyNotMove({ ...wish, ...over });
  expect(refusal?.code).toBe(code);
  expect(refusal?.text).not.toContain("undefined");
});
