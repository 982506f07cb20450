import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { applyAll } from "../../hack/dev-cluster/apply.ts";
import { startDevCluster } from "../../hack/dev-cluster/dev-cluster.ts";
import { podType } from "../../hack/dev-cluster/process-node/pod.ts";
import { missingForRealNode } from "../../hack/dev-cluster/real-node/requirements.ts";
import { until } from "../../hack/dev-cluster/testing/until.ts";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { imageOf, imageOfCheckout } from "./argosy-image.ts";

const NO_COMMIT = "0123456789abcdef0123456789abcdef01234567";

interface Pod extends KubeObject {
  readonly status?: { readonly phase?: string };
}

/** Asks for its version and ends, as a pod of a namespace that enforces the standard `restricted`. */
const asking = (image: string): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "version", namespace: "shop" },
  spec: {
    restartPolicy: "Never",
    containers: [
      {
        name: "argosy",
        ...{ image, imagePullPolicy: "Never", args: ["--version"] },
        securityContext: {
          ...{ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] }, readOnlyRootFilesystem: true, runAsNonRoot: true },
          seccompProfile: { type: "RuntimeDefault" },
        },
      },
    ],
  },
});

const NAMESPACE = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "shop", labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
};

describe("Argosy's image for a real node", () => {
  const { signal } = new AbortController();

  it("is that of this checkout, and runs", async ({ skip }) => {
    const missing = missingForRealNode();
    if (missing !== undefined) return skip(`${missing.why}. ${missing.remedy}`);
    const found = await imageOfCheckout(signal);
    if ("skip" in found) return skip(found.skip);
    const stateDir = mkdtempSync(join(tmpdir(), "image-"));
    const cluster = await startDevCluster({ stateDir, clusters: [{ name: "main", realNodes: 1 }] }, signal);
    try {
      const { client, realNodes } = cluster.main;
      await realNodes?.addImage(found.image, signal);
      await applyAll(client, [NAMESPACE, asking(found.image.name)], signal);
      const readPhase = async () => (await client.get<Pod>(podType, { namespace: "shop", name: "version" }, signal))?.status?.phase;
      const ended = await until("the pod's end", readPhase, (phase) => phase === "Succeeded" || phase === "Failed");
      expect(ended).toBe("Succeeded");
    } finally {
      await cluster.stop();
      rmSync(stateDir, { recursive: true, force: true });
    }
  });

  it("is not there for a commit that this clone does not have, which a sentence says", async () => {
    expect(await imageOf(NO_COMMIT, signal)).toEqual({
      skip: `this clone does not have the commit ${NO_COMMIT}: git fetch --unshallow --tags may bring it`,
    });
  });
});
