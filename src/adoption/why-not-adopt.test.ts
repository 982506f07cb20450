import { describe, expect, it } from "vitest";
import { whyNotFrom } from "./why-not-adopt.ts";

const FROM = {
  namespace: "argocd",
  settings: { "application.resourceTrackingMethod": "annotation" },
  namespaces: [{ name: "kube-system", uid: "cluster-1" }],
  clusterUid: "cluster-1",
  instanceNamespaces: ["argosy-1"],
};

describe("an Argo CD whose Applications are to be adopted", () => {
  it("is accepted on the API cluster, with objects tracked by annotation", () => {
    expect(whyNotFrom(FROM)).toBe(undefined);
  });

  it.each([
    ["is on another cluster", { clusterUid: "cluster-2" }, "is on another cluster"],
    ["is one of ours", { namespace: "argosy-1" }, "is an instance of this fleet"],
    ["does not exist", { settings: undefined }, "there is no Argo CD in that namespace"],
    ["tracks by label", { settings: {} }, "does not say application.resourceTrackingMethod: annotation"],
    ["has an id of its own", { settings: { ...FROM.settings, installationID: "x" } }, "has an installationID"],
  ])("is refused where it %s, with a remedy", (_what, over, message) => {
    const why = whyNotFrom({ ...FROM, ...over });
    expect(why?.message).toContain(message);
    expect(why?.remedy).not.toBe("");
  });
});
