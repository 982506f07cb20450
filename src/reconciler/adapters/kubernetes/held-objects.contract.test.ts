import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RefusedError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { loadKubeconfig } from "../../../runtime/kube/auth.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createKubeClient } from "../../../runtime/kube/http.ts";
import { realApiServer } from "../../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../../runtime/rng.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createDeployerRole } from "./deployer-role.ts";
import { createHeldObjects } from "./held-objects.ts";
import { ROLE_BINDINGS, ROLE_OBJECTS } from "./types.ts";

const kubeconfig = await realApiServer();
const never = new AbortController().signal;
const NAMESPACES = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const CONFIG_MAPS = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const RBAC = "rbac.authorization.k8s.io";

describe.skipIf(kubeconfig === undefined)("what holds a deletion, on a real API server", () => {
  const namespace = `held-${randomUUID().slice(0, 8)}`;
  let client: KubeClient;

  beforeAll(async () => {
    const credentials = loadKubeconfig({ file: kubeconfig ?? "" });
    client = createKubeClient({ cluster: "real", credentials, clock: systemClock, rng: systemRng, metrics: noMetrics });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, never);
    const metadata = { namespace, name: "deployer" };
    const rules = [{ apiGroups: ["", "apps"], resources: ["configmaps", "deployments"], verbs: ["list"] }];
    await client.create(ROLE_OBJECTS, { apiVersion: `${RBAC}/v1`, kind: "Role", metadata, rules } as object as never, never);
    const roleRef = { apiGroup: RBAC, kind: "Role", name: "deployer" };
    const subjects = [{ kind: "ServiceAccount", namespace: "argosy-accounts", name: "u-one" }];
    await client.create(
      ROLE_BINDINGS,
      { apiVersion: `${RBAC}/v1`, kind: "RoleBinding", metadata, roleRef, subjects } as object as never,
      never,
    );
    for (const [name, finalizers] of [
      ["held", ["example.com/one", "example.com/two"]],
      ["wanted", ["example.com/one"]],
      ["not-ours", ["example.com/one"]],
    ] as const) {
      await client.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name, finalizers } }, never);
      if (name !== "wanted") await client.delete(CONFIG_MAPS, { namespace, name }, {}, never);
    }
  });
  afterAll(() => client?.close());

  const find = (account: string) =>
    createHeldObjects({ client, accountsNamespace: "argosy-accounts", discover: createDeployerRole(client).discover }).find(
      { namespace, account, resources: [aConfigMap("held"), aConfigMap("wanted"), aConfigMap("gone"), aDeployment, elsewhere, unheardOf] },
      never,
    );
  const at = { namespace, status: "Synced" };
  const aConfigMap = (name: string) => ({ ...at, group: "", version: "v1", kind: "ConfigMap", name });
  const aDeployment = { ...at, group: "apps", version: "v1", kind: "Deployment", name: "web" };
  const elsewhere = { ...aConfigMap("kube-root-ca.crt"), namespace: "default" };
  const unheardOf = { ...at, group: "example.com", version: "v1", kind: "Widget", name: "w" };

  it("is found with the rights of the account that deployed, and named with its finalizers", async () => {
    expect(await find("u-one")).toEqual([
      { group: "", kind: "ConfigMap", namespace, name: "held", finalizers: ["example.com/one", "example.com/two"] },
    ]);
  });

  it("is not looked for with anybody else's", async () => {
    await expect(find("u-two")).rejects.toThrow(RefusedError);
  });
});
