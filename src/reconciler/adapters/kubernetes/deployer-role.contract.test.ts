import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StaleError } from "../../../domain/errors.ts";
import type { DeploymentsSpec } from "../../../domain/fleet.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createKubeClient } from "../../../runtime/kube/http.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import { OWNER_MARK } from "../../../shard/deployer-rules.ts";
import type { StoredFleet } from "../../../store/fleet/port.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { keepDeployerRole } from "../../instances/keep-deployer-role.ts";
import { createDeployerRole } from "./deployer-role.ts";
import { CLUSTER_ROLES } from "./types.ts";

const never = new AbortController().signal;
const ROLE = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name: "argosy-deployer" } };
const AT = { namespace: "", name: "argosy-deployer" };
const RULES = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];

describe("the role in the cluster", () => {
  test("is read, and replaced only in the version that was read", async () => {
    const server = await startFakeApiServer();
    const client = server.client();
    const deployer = createDeployerRole(client);
    expect(await deployer.read(never)).toBeUndefined();
    await client.create(CLUSTER_ROLES, ROLE, never);
    const read = await deployer.read(never);
    if (read === undefined) throw new Error("not there");
    await deployer.replaceRules(read, RULES, never);
    expect((await deployer.read(never))?.rules).toMatchObject(RULES);
    await expect(deployer.replaceRules(read, [], never)).rejects.toBeInstanceOf(StaleError);
    await server.close();
  });

  test("follows what the cluster serves, and is not written when nothing changed", async () => {
    const server = await startFakeApiServer();
    const client = server.client();
    await client.create(CLUSTER_ROLES, ROLE, never);
    const discover = async () => ({
      resources: ["apps", "kyverno.io", "example.org"].map((group) => ({
        group,
        name: group === "apps" ? "deployments" : "things",
        namespaced: true,
        verbs: ["create"],
      })),
      silentGroups: [],
    });
    let deployments: Partial<DeploymentsSpec> = {};
    const fleet = {
      readFleet: async () => ({ spec: { deployments } }) as unknown as StoredFleet,
    };
    const readerKinds = { keep: async () => [] };
    const deps = { readerKinds, deployer: { ...createDeployerRole(client), discover }, fleet, log: silentLog };
    const groups = async () =>
      (await createDeployerRole(client).read(never))?.rules
        .flatMap(({ apiGroups }) => apiGroups)
        .filter((group) => group !== OWNER_MARK.apiGroups[0]);
    expect(await keepDeployerRole(deps, never)).toHaveProperty("requeueAfterMs");
    const first = await client.get<KubeObject & { readonly rules?: unknown }>(CLUSTER_ROLES, AT, never);
    expect(await groups(), "a kind that somebody installed is nobody's until it is declared").toEqual(["apps"]);
    await keepDeployerRole(deps, never);
    expect((await client.get(CLUSTER_ROLES, AT, never))?.metadata.resourceVersion).toBe(first?.metadata.resourceVersion);
    deployments = { allowedGroups: ["example.org"] };
    await keepDeployerRole(deps, never);
    expect(await groups()).toEqual(["apps", "example.org"]);
    deployments = { allowedGroups: ["*"], refusedGroups: ["example.org"] };
    await keepDeployerRole(deps, never);
    expect(await groups()).toEqual(["apps", "kyverno.io"]);
    await client.delete(CLUSTER_ROLES, AT, {}, never);
    expect(await keepDeployerRole(deps, never)).toHaveProperty("requeueAfterMs");
    await server.close();
  });
});

describe("discovery of a server that answers in the old form", () => {
  const answers: Readonly<Record<string, unknown>> = {
    "/api": { kind: "APIVersions", versions: ["v1"] },
    "/apis": { kind: "APIGroupList", groups: [{ versions: [{ groupVersion: "apps/v1" }, { groupVersion: "away.example/v1" }] }] },
    "/api/v1": { kind: "APIResourceList", resources: [{ name: "configmaps", namespaced: true, verbs: ["create"] }] },
    "/apis/apps/v1": { kind: "APIResourceList", resources: [{ name: "deployments", namespaced: true, verbs: ["create"] }] },
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ""];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer ?? {}));
  });
  let client: KubeClient;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const credentials = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: async () => undefined };
    client = createKubeClient({ cluster: "old", credentials, clock: systemClock, rng: createSeededRng("old"), metrics: noMetrics });
  });
  afterAll(async () => {
    await client.close();
    server.close();
  });

  test("asks each group version, and calls one that does not answer silent", async () => {
    const discovery = await createDeployerRole(client).discover(never);
    expect(discovery.resources.map(({ group, name }) => `${group}/${name}`)).toEqual(["/configmaps", "apps/deployments"]);
    expect(discovery.silentGroups).toEqual(["away.example"]);
  });
});
