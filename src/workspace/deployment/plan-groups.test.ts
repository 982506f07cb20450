import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import { aNamespace, aPolicy } from "../testing/builders.ts";
import { closedPolicy } from "../workspace-policy.ts";
import { type GroupedWorkspace, groupsDecision, planGroups } from "./plan-groups.ts";

const CUSTOMER = "class.argosy.dev/customer";
const policy = { ...aPolicy(), groups: [{ label: CUSTOMER, rule: "apart" } as const] };
const namespace = aNamespace({ labels: { ...aNamespace().labels, [CUSTOMER]: "acme" } });
const known = (over: Partial<GroupedWorkspace> = {}): GroupedWorkspace => ({
  ...{ workspaceId: "w" as WorkspaceId, namespace: namespace.name, namespaceUid: namespace.uid, state: "active" },
  ...over,
});
const plan = (workspace: GroupedWorkspace, over: object = {}) =>
  planGroups([workspace], { policy, namespaceOf: () => namespace, isMine: () => true, ...over }).map(({ groups }) => groups);

describe("a workspace's groups", () => {
  it("are what its namespace's labels say, and change once", () => {
    expect(plan(known())).toEqual([{ apart: { [CUSTOMER]: "acme" } }]);
    expect(plan(known({ groups: { apart: { [CUSTOMER]: "acme" } } }))).toEqual([]);
    expect(plan(known({ groups: { apart: { [CUSTOMER]: "other" } } }))).toEqual([{ apart: { [CUSTOMER]: "acme" } }]);
  });

  it("are none once its label, or the rule, is taken away", () => {
    const groups = { apart: { [CUSTOMER]: "acme" } };
    expect(plan(known({ groups }), { namespaceOf: () => aNamespace() })).toEqual([{ apart: {} }]);
    expect(plan(known({ groups }), { policy: aPolicy() })).toEqual([{ apart: {} }]);
    expect(plan(known(), { policy: aPolicy() })).toEqual([]);
  });

  it.each([
    ["no fleet is declared", known(), { policy: closedPolicy }],
    ["its namespace was not seen", known(), { namespaceOf: () => undefined }],
    ["its namespace is another one of that name", known({ namespaceUid: "former" }), {}],
    ["its namespace goes", known(), { namespaceOf: () => ({ ...namespace, isDeleting: true }) }],
    ["it is being deleted", known({ state: "deleting" }), {}],
    ["it is another process's", known(), { isMine: () => false }],
    ["its namespace is no workspace", known(), { policy: { ...policy, selector: { team: "web" }, everyNamespace: false } }],
  ])("stay while %s", (_what, workspace, over) => {
    expect(plan({ ...workspace, groups: { apart: { [CUSTOMER]: "other" } } }, over)).toEqual([]);
  });

  it("are journaled with what they were", () => {
    const workspace = known({ groups: { apart: { [CUSTOMER]: "other" } } });
    expect(groupsDecision({ workspace, groups: { apart: {} } }, millis(1))).toMatchObject({
      ...{ subject: "w", kind: "placement", verdict: "GROUPS_CHANGED", rule: "LABELS" },
      details: { reason: expect.stringContaining(`it is in no group; it was in ${CUSTOMER}=other`) },
    });
  });
});
