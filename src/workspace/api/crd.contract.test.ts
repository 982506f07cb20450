import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { RefusedError } from "../../domain/errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { loadKubeconfig } from "../../runtime/kube/auth.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createKubeClient } from "../../runtime/kube/http.ts";
import type { KubeObject, ResourceType } from "../../runtime/kube/resource.ts";
import { realApiServer } from "../../runtime/kube/testing/real-api-server.ts";
import { systemRng } from "../../runtime/rng.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { aSpec } from "../testing/builders.ts";
import { renderCrds } from "./crd.ts";
import * as say from "./messages.ts";
import { checkDeploymentSpec } from "./schema.ts";

const realKubeconfig = await realApiServer();

const definitions: ResourceType = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const namespaces: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const kindOf = (plural: string, kind: string): ResourceType => ({
  group: "managed-gitops.redhat.com",
  version: "v1alpha1",
  plural,
  kind,
  namespaced: true,
});
const DEPLOYMENT = kindOf("gitopsdeployments", "GitOpsDeployment");
const SYNC_RUN = kindOf("gitopsdeploymentsyncruns", "GitOpsDeploymentSyncRun");
const ENVIRONMENT = kindOf("gitopsdeploymentmanagedenvironments", "GitOpsDeploymentManagedEnvironment");
const CREDENTIAL = kindOf("gitopsdeploymentrepositorycredentials", "GitOpsDeploymentRepositoryCredential");
const NAMESPACE = `crd-contract-${process.pid}`;
const never = new AbortController().signal;

describe.runIf(realKubeconfig !== undefined)("a real API server", () => {
  let client: KubeClient;
  let count = 0;
  beforeAll(async () => {
    client = createKubeClient({
      cluster: "real",
      credentials: loadKubeconfig({ file: realKubeconfig ?? "" }),
      clock: systemClock,
      rng: systemRng,
      metrics: noMetrics,
    });
    for (const crd of renderCrds()) await client.apply(definitions, crd, { fieldManager: "contract" }, never);
    await client.apply(
      namespaces,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
      { fieldManager: "contract" },
      never,
    );
    for (const type of [DEPLOYMENT, SYNC_RUN, ENVIRONMENT, CREDENTIAL])
      await vi.waitFor(() => client.listPage(type, {}, never), { timeout: 30_000 });
  });
  afterAll(async () => {
    await client.delete(namespaces, { namespace: "", name: NAMESPACE }, {}, never);
    await client.close();
  });

  /** What it says to an object; empty if it takes it. */
  async function answerTo(type: ResourceType, spec: unknown, name = `object-${++count}`): Promise<string> {
    const object = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: type.kind, metadata: { namespace: NAMESPACE, name }, spec };
    try {
      await client.apply(type, object, { fieldManager: "jane" }, never);
      return "";
    } catch (error) {
      if (error instanceof RefusedError && error.cause instanceof Error) return error.cause.message;
      throw error;
    }
  }

  const credential = { repository: "https://git.example/x", secret: "s" };
  const environment = { apiURL: "https://api.example:6443", credentialsSecret: "s", allowInsecureSkipTLSVerify: false };

  it("accepts the definitions and serves the kinds", async () => {
    const found = await client.listPage<
      KubeObject & { readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] } }
    >(definitions, {}, never);
    for (const crd of renderCrds()) {
      const live = found.items.find(({ metadata }) => metadata.name === crd.metadata.name);
      const said = live?.status?.conditions?.map(({ type, status }) => `${type}=${status}`);
      expect(said).toContain("Established=True");
      expect(said).not.toContain("NonStructuralSchema=True");
    }
  });

  it.each([
    [DEPLOYMENT, aSpec()],
    [
      DEPLOYMENT,
      aSpec({
        destination: { environment: "eu", namespace: "prod" },
        syncPolicy: { syncOptions: ["CreateNamespace=true"] },
        type: "manual",
      }),
    ],
    [DEPLOYMENT, aSpec({ destination: {}, syncPolicy: {} })],
    [DEPLOYMENT, aSpec({ source: { repoURL: "x", path: "" } })],
    [ENVIRONMENT, { ...environment, createNewServiceAccount: true, namespaces: ["a", "b"], clusterResources: false }],
    [CREDENTIAL, { repository: "https://git.example/x", secret: "s" }],
    [CREDENTIAL, { repository: "git@git.example:x", secret: "s" }],
    [SYNC_RUN, { gitopsDeploymentName: "guestbook", revisionID: "3f2c1d0" }],
  ])("takes what it should: %#", async (type, spec) => {
    expect(await answerTo(type, spec)).toBe("");
  });

  it.each([
    [DEPLOYMENT, aSpec({ type: "Automated" }), say.WRONG_TYPE],
    [DEPLOYMENT, aSpec({ syncPolicy: { syncOptions: ["CreateNamespace=yes"] } }), say.WRONG_SYNC_OPTION],
    [DEPLOYMENT, aSpec({ destination: { namespace: "prod" } }), say.NAMESPACE_WITHOUT_ENVIRONMENT],
    [DEPLOYMENT, aSpec({ destination: { environment: "", namespace: "prod" } }), say.NAMESPACE_WITHOUT_ENVIRONMENT],
    [DEPLOYMENT, aSpec({ destination: { environment: "eu", namespace: "Prod_" } }), "must be the name of a namespace"],
    [DEPLOYMENT, { type: "manual" }, "spec.source: Required value"],
    [DEPLOYMENT, aSpec({ source: { repoURL: "x".repeat(3000), path: "a" } }), "spec.source.repoURL: Too long"],
    [ENVIRONMENT, { ...environment, apiURL: "http://api.example" }, say.WRONG_API_URL],
    [ENVIRONMENT, { ...environment, apiURL: "https://api example" }, "cluster api url must be a valid URL"],
    [CREDENTIAL, { repository: "file:///x", secret: "s" }, say.WRONG_REPOSITORY],
  ])("refuses what it should, in the right words: %#", async (type, spec, message) => {
    expect(await answerTo(type, spec)).toContain(message);
  });

  const WEBHOOKS: readonly (readonly [ResourceType, unknown, unknown, string])[] = [
    [DEPLOYMENT, aSpec(), aSpec({ type: "continuous" }), say.WRONG_TYPE],
    [DEPLOYMENT, aSpec(), aSpec({ syncPolicy: { syncOptions: ["CreateNamespace=true", "Prune=true"] } }), say.WRONG_SYNC_OPTION],
    [DEPLOYMENT, aSpec(), aSpec({ destination: { namespace: "prod" } }), say.NAMESPACE_WITHOUT_ENVIRONMENT],
    [ENVIRONMENT, environment, { ...environment, apiURL: "http://api.example" }, say.WRONG_API_URL],
    [ENVIRONMENT, environment, { ...environment, apiURL: "https://api.example:port" }, "cluster api url must be a valid URL"],
    [CREDENTIAL, credential, { ...credential, repository: "git.example/x" }, say.WRONG_REPOSITORY],
    [CREDENTIAL, credential, { ...credential, repository: "git://git.example/x" }, say.WRONG_REPOSITORY],
  ];
  it.each(WEBHOOKS)("refuses what the webhooks refused, when it is made and when it is changed: %#", async (type, good, bad, words) => {
    expect(await answerTo(type, bad)).toContain(words);
    const name = `changed-${++count}`;
    expect(await answerTo(type, good, name)).toBe("");
    expect(await answerTo(type, bad, name)).toContain(words);
  });

  it("serves the short names, the category and the columns that people type and read", async () => {
    const { resources } = await client.request<{
      readonly resources: readonly {
        readonly name: string;
        readonly shortNames?: readonly string[];
        readonly categories?: readonly string[];
      }[];
    }>({ method: "GET", path: "/apis/managed-gitops.redhat.com/v1alpha1" }, never);
    const columns = async ({ plural }: ResourceType): Promise<readonly string[]> => {
      const path = `/apis/managed-gitops.redhat.com/v1alpha1/namespaces/${NAMESPACE}/${plural}`;
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
      const table = await client.request<{ readonly columnDefinitions: readonly { readonly name: string }[] }>(
        { method: "GET", path, accept },
        never,
      );
      return table.columnDefinitions.map(({ name }) => name);
    };
    const served = await Promise.all(
      [DEPLOYMENT, SYNC_RUN, ENVIRONMENT, CREDENTIAL].map(async (type) => {
        const found = resources.find(({ name }) => name === type.plural);
        return [found?.shortNames?.join(), found?.categories?.join(), (await columns(type)).join()];
      }),
    );
    expect(served).toEqual([
      ["gd", "gitops", "Name,Sync Status,Health Status,Ready,Age"],
      ["gdsr", "gitops", "Name,Deployment,Phase,Age"],
      ["gdme", "gitops", "Name,API URL,Connected,Age"],
      ["gdrc", "gitops", "Name,Repository,Valid,Age"],
    ]);
  });

  it("keeps what a run is for", async () => {
    expect(await answerTo(SYNC_RUN, { gitopsDeploymentName: "a" }, "run")).toBe("");
    expect(await answerTo(SYNC_RUN, { gitopsDeploymentName: "b" }, "run")).toContain(say.DEPLOYMENT_NAME_CHANGED);
    expect(await answerTo(SYNC_RUN, { gitopsDeploymentName: "a", revisionID: "1" }, "run")).toContain(say.REVISION_CHANGED);
    expect(await answerTo(SYNC_RUN, { gitopsDeploymentName: "a", revisionID: "" }, "run")).toBe("");
  });

  it("judges as the check for older objects does", async () => {
    const destinations = [
      undefined,
      {},
      { namespace: "" },
      { namespace: "a" },
      { environment: "e" },
      { environment: "e", namespace: "a" },
      { environment: "e", namespace: "-a" },
      { environment: "e", namespace: "a".repeat(64) },
    ];
    const options = [
      undefined,
      {},
      { syncOptions: [] },
      { syncOptions: ["CreateNamespace=false"] },
      { syncOptions: ["createNamespace=true"] },
      { syncOptions: [""] },
    ];
    const types = ["automated", "manual", "", "MANUAL"];
    const specs = [
      ...destinations.map((destination) => aSpec({ destination })),
      ...options.map((syncPolicy) => aSpec({ syncPolicy })),
      ...types.map((type) => aSpec({ type })),
    ];
    for (const spec of specs) {
      const plain: unknown = JSON.parse(JSON.stringify(spec));
      expect([JSON.stringify(spec), (await answerTo(DEPLOYMENT, plain)) === ""]).toEqual([
        JSON.stringify(spec),
        checkDeploymentSpec(plain).ok,
      ]);
    }
  });
});
