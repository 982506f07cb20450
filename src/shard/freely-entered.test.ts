import { expect, it } from "vitest";
import type { EnvironmentId, InstanceId } from "../domain/ids.ts";
import { nameFreelyEntered } from "./freely-entered.ts";

const ONE = "instance-1" as InstanceId;
const prod = { id: "env-prod" as EnvironmentId, name: "prod", createsAccount: true };
const entry = {
  instanceId: ONE,
  kind: "cluster-entry",
  subject: prod.id,
  appliedRevision: 3,
  epoch: 7,
  uid: "u",
  hash: "account's",
} as const;
const OURS = new Map([[prod.id as string, "account's"]]);

it.each([
  ["nobody enters anything", [], [], undefined],
  ["the recorded entry is the account's", [prod], [entry], undefined],
  ["no entry was ever recorded", [prod], [], undefined],
  ["another instance's entry is something else", [prod], [{ ...entry, instanceId: "instance-2" as InstanceId, hash: "other" }], undefined],
  ["what was recorded is no entry", [prod], [{ ...entry, kind: "project", subject: "unit-1", hash: "other" } as const], undefined],
  ["the environment has its user's credential", [{ ...prod, createsAccount: false }], [], "prod"],
  ["the recorded entry is another one", [prod], [{ ...entry, hash: "the user's own" }], "prod"],
] as const)("where %s", (_, environments, acknowledged, named) => {
  expect(nameFreelyEntered({ environments, acknowledged }, ONE, OURS)).toBe(named);
});

it("names by its id what is left of an environment that is used no more", () => {
  expect(nameFreelyEntered({ environments: [], acknowledged: [entry] }, ONE, new Map())).toBe("env-prod");
});
