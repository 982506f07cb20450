import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { loadKubeconfig } from "../../../runtime/kube/auth.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createKubeClient } from "../../../runtime/kube/http.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { realApiServer } from "../../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { parseBinding } from "../../../shard/parse-rights.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { ROLE_BINDINGS } from "./types.ts";

const kubeconfig = await realApiServer();
const never = new AbortController().signal;
const NAMESPACES = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

describe.skipIf(kubeconfig === undefined)("who wrote to an owner binding, on a real API server", () => {
  const namespace = `binding-${randomUUID().slice(0, 8)}`;
  const at = { namespace, name: "argosy-deployer" };
  const subjects = [{ kind: "ServiceAccount", namespace: "argosy-accounts", name: "u-one" }];
  let client: KubeClient;

  beforeAll(async () => {
    const credentials = loadKubeconfig({ file: kubeconfig ?? "" });
    client = createKubeClient({ cluster: "real", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, never);
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
    const ownerBinding = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: at, roleRef, subjects };
    await client.create(ROLE_BINDINGS, ownerBinding as object as never, never);
  });
  afterAll(() => client?.close());

  const lastWrite = async () => parseBinding(await client.get(ROLE_BINDINGS, at, never))?.lastWrite;

  it("is nobody while we alone did, whoever else did after that, and nobody again once we put it back", async () => {
    expect(await lastWrite()).toBeUndefined();
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/${at.name}`;
    const merge = { method: "PATCH", contentType: "application/merge-patch+json", query: { fieldManager: "kubectl-edit" } } as const;
    await client.request<KubeObject>({ ...merge, path, body: { subjects: [{ ...subjects[0], name: "u-two" }] } }, never);
    expect(await lastWrite()).toMatchObject({ manager: "kubectl-edit", operation: "Update", at: expect.stringMatching(/^20.*Z$/) });
    await client.jsonPatch(ROLE_BINDINGS, at, [{ op: "add", path: "/subjects", value: subjects }], never);
    expect(await lastWrite()).toBeUndefined();
  });
});
