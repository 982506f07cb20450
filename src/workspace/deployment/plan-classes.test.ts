import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { ObservedNamespace } from "../../domain/user-resource.ts";
import { closedPolicy, type WorkspacePolicy } from "../workspace-policy.ts";
import { type ClassedWorkspace, classDecision, planClasses } from "./plan-classes.ts";

const US = { "class.argosy.dev/region": "us" };
const policy: WorkspacePolicy = {
  ...closedPolicy,
  everyNamespace: true,
  newUnit: { class: "eu/shared/public", trustClass: "public" },
  classes: [{ labels: US, class: "us/shared/internal" }],
};
const workspace: ClassedWorkspace = {
  ...{ workspaceId: "w" as WorkspaceId, namespace: "jane", namespaceUid: "1", state: "active", classes: ["eu/shared/public"] },
};
const namespace: ObservedNamespace = { name: "jane", uid: "1", labels: US, isDeleting: false };
const planned = (over: {
  readonly workspace?: Partial<ClassedWorkspace>;
  readonly namespace?: Partial<ObservedNamespace> | undefined;
  readonly policy?: Partial<WorkspacePolicy>;
  readonly isMine?: boolean;
}) =>
  planClasses([{ ...workspace, ...over.workspace }], {
    policy: { ...policy, ...over.policy },
    namespaceOf: () => ("namespace" in over && over.namespace === undefined ? undefined : { ...namespace, ...over.namespace }),
    isMine: () => over.isMine !== false,
  });

describe("the class of a workspace that is there", () => {
  it("becomes the one that labels of its namespace ask for by a rule", () => {
    expect(planned({})).toEqual([{ workspace, class: "us/shared/internal", trustClass: "internal" }]);
    const split = { classes: ["eu/shared/public", "us/shared/internal"] };
    expect(planned({ workspace: split })).toHaveLength(1);
  });

  it("becomes the one that somebody has assigned, whatever labels ask for, and with or without rules", () => {
    const assigned = { assigned: "eu/gold/public" };
    expect(planned({ workspace: assigned })).toMatchObject([{ class: "eu/gold/public", trustClass: "public" }]);
    expect(planned({ workspace: assigned, policy: { classes: [] } })).toHaveLength(1);
    expect(planned({ workspace: { ...assigned, classes: ["eu/gold/public"] } })).toEqual([]);
  });

  it.each([
    ["it has it, or is to have it", { workspace: { classes: ["us/shared/internal"] } }],
    ["it has no unit yet", { workspace: { classes: [] } }],
    ["no rule fits: a label that is taken away moves nobody", { namespace: { labels: {} } }],
    ["there is no rule: another first pool moves nobody", { policy: { classes: [] } }],
    ["its namespace is not seen", { namespace: undefined }],
    ["its namespace is another one under the name", { namespace: { uid: "2" } }],
    ["its namespace is going", { namespace: { isDeleting: true } }],
    ["its namespace is no workspace any more", { policy: { everyNamespace: false, selector: { gitops: "yes" } } }],
    ["it has ended", { workspace: { state: "deleting" } }],
    ["it is another process's", { isMine: false }],
  ] as const)("stays where %s", (_why, over) => {
    expect(planned(over as Parameters<typeof planned>[0])).toEqual([]);
  });

  it("is journaled as assigned where somebody did", () => {
    const decision = classDecision(
      { ...workspace, assigned: "eu/gold/public" },
      { class: "eu/gold/public", trustClass: "public" },
      millis(1),
    );
    expect(decision).toMatchObject({
      rule: "ASSIGNED",
      details: { reason: "class eu/gold/public was assigned to the workspace; it had eu/shared/public" },
    });
  });

  it("is journaled with what it was and why", () => {
    const decision = classDecision(workspace, { class: "us/shared/internal", trustClass: "internal" }, millis(1));
    expect(decision).toMatchObject({ at: 1, subject: "w", kind: "placement", verdict: "CLASS_CHANGED", rule: "LABELS" });
    expect(decision.details).toEqual({
      namespace: "jane",
      reason: "labels of the namespace ask for class us/shared/internal by workspaces.classes of fleet.yaml; it had eu/shared/public",
      class: { before: ["eu/shared/public"], now: "us/shared/internal" },
    });
  });
});
