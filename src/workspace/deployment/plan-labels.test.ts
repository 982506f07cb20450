import { describe, expect, it } from "vitest";
import type { WorkspaceId } from "../../domain/ids.ts";
import type { ObservedNamespace } from "../../domain/user-resource.ts";
import { type LabelFacts, type LabelledWorkspace, planLabels } from "./plan-labels.ts";

const workspace: LabelledWorkspace = { workspaceId: "w" as WorkspaceId, namespace: "jane", namespaceUid: "1", state: "active" };
const namespace: ObservedNamespace = { name: "jane", uid: "1", labels: { team: "a", other: "b" }, isDeleting: false };
const planned = (
  over: { readonly workspace?: Partial<LabelledWorkspace>; readonly namespace?: Partial<ObservedNamespace> } & Partial<LabelFacts> = {},
) =>
  planLabels([{ ...workspace, ...over.workspace }], {
    policy: { recordedLabels: ["team", "cost-center"] },
    namespaceOf: () => ({ ...namespace, ...over.namespace }),
    isMine: () => true,
    ...over,
  });

describe("labels of a workspace", () => {
  it("are recorded as far as the fleet wants them, and again when they are others", () => {
    expect(planned()).toEqual([{ workspaceId: "w", labels: { team: "a" } }]);
    expect(planned({ namespace: { labels: {} } })).toEqual([{ workspaceId: "w", labels: {} }]);
    expect(planned({ workspace: { labels: { team: "b" } } })).toHaveLength(1);
    expect(planned({ workspace: { labels: { team: "a", "cost-center": "7" } } })).toHaveLength(1);
    expect(planned({ workspace: { labels: { team: "a" } }, namespace: { labels: { team: "a", "cost-center": "7" } } })).toHaveLength(1);
    const odd = { recordedLabels: ["constructor"] };
    expect(planned({ policy: odd })).toEqual([{ workspaceId: "w", labels: {} }]);
  });

  it.each([
    ["they are the same", { workspace: { labels: { team: "a" } } }],
    ["the fleet wants none", { policy: { recordedLabels: [] } }],
    ["its namespace is not seen", { namespaceOf: () => undefined }],
    ["its namespace is another one of that name", { namespace: { uid: "2" } }],
    ["its namespace is on its way out", { namespace: { isDeleting: true } }],
    ["another process has it", { isMine: () => false }],
  ] as const)("stay as they are where %s", (_why, over) => expect(planned(over)).toEqual([]));
});
