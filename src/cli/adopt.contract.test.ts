import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { aHandMade } from "../adoption/testing/hand-made.ts";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { type FakeApiServer, startFakeApiServer } from "../runtime/kube/testing/fake-api-server.ts";
import { aFleet, anIntent } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const ARGO = { group: "argoproj.io", version: "v1alpha1", namespaced: true } as const;
const signal = AbortSignal.timeout(60_000);

describe("argosy adopt", () => {
  let served: Served;
  let server: FakeApiServer;
  const directory = mkdtempSync(join(tmpdir(), "argosy-adopt-"));
  const kubeconfig = join(directory, "kubeconfig");
  beforeAll(async () => {
    let clusterUid = "";
    served = await serveApi((store) => ({ ...idleDeps(store), apiClusterUid: async () => clusterUid }));
    await served.store.fleet.applyFleet(aFleet(), "ada", signal);
    server = await startFakeApiServer();
    const settings = { metadata: { name: "argocd-cm", namespace: "argocd" }, data: { "application.resourceTrackingMethod": "annotation" } };
    server.load({ group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true }, [settings as KubeObject]);
    const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
    server.load(namespaces, [{ metadata: { name: "shop" } }, { metadata: { name: "kube-system" } }]);
    const system = await server.client().get<KubeObject>(namespaces, { namespace: "", name: "kube-system" }, signal);
    clusterUid = system?.metadata.uid ?? "";
    server.load({ ...ARGO, plural: "appprojects", kind: "AppProject" }, [{ metadata: { name: "default", namespace: "argocd" } }]);
    const raws = [
      aHandMade("web"),
      aHandMade("chart", (raw) => Object.assign(raw.spec.source, { helm: { values: "a: b" } })),
      aHandMade("system", (raw) => Object.assign(raw.spec.destination, { namespace: "kube-system" })),
    ];
    server.load({ ...ARGO, plural: "applications", kind: "Application" }, raws as unknown as KubeObject[]);
    const cluster = { name: "here", cluster: { server: server.url } };
    const context = { name: "here", context: { cluster: "here", user: "anna" } };
    const config = { apiVersion: "v1", kind: "Config", clusters: [cluster], contexts: [context], users: [{ name: "anna", user: {} }] };
    writeFileSync(kubeconfig, stringify({ ...config, "current-context": "here" }));
  });
  afterAll(async () => {
    await served.close();
    await server.close();
    rmSync(directory, { recursive: true });
  });
  const run = (role: "viewer" | "operator", ...args: readonly string[]) =>
    runCommand([...args, "--kubeconfig", kubeconfig], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token(role) });
  const writes = () => server.requests().filter(({ method }) => method !== "GET");

  it("says in a dry run what would become of each Application, and writes nothing", async () => {
    const { out, err, code } = await run("viewer", "adopt", "argocd", "--dry-run");
    expect(out.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["APPLICATION", "VERDICT", "WHY"],
      ["chart", "refused", "a GitOpsDeployment cannot say spec.source.helm"],
      ["system", "refused", "its namespace kube-system is no workspace"],
      ["web", "adopted", "would become GitOpsDeployment shop/web"],
    ]);
    expect({ err, code }).toEqual({ err: "1 would be adopted, 0 stood already, 2 left to that Argo CD; nothing was done", code: 1 });
    expect(writes()).toEqual([]);
  });

  it("leaves Applications alone for a viewer", async () => {
    const { out } = await run("viewer", "adopt", "argocd", "-o", "json");
    expect(JSON.parse(out)).toContainEqual({ name: "web", verdict: "refused", text: expect.stringContaining("this needs operator") });
    expect(writes().filter(({ url }) => url.includes("/applications/"))).toEqual([]);
  });

  it("goes on with what was begun, and journals whose name was kept and by whom", async () => {
    // What the users' API does once the resource is not paused any more.
    const deployments = {
      group: "managed-gitops.redhat.com",
      version: "v1alpha1",
      plural: "gitopsdeployments",
      kind: "",
      namespaced: true,
    };
    const resource = await server.client().get<KubeObject>(deployments, { namespace: "shop", name: "web" }, signal);
    const uid = resource?.metadata.uid ?? "";
    const keep = await served.call("POST", "/v1/adoptions", { body: { namespace: "shop", name: "web", uid, argoName: "web" } });
    expect(keep.status).toBe(200);
    await served.store.intents.recordDeployments([anIntent({ namespace: "shop", name: "web", uid, argoName: "shop-web-1" })], signal);
    const { out, err } = await run("operator", "adopt", "argocd", "-o", "json");
    expect(err).toContain("3 of 3: web adopted, as GitOpsDeployment shop/web");
    expect(JSON.parse(out)).toContainEqual({ name: "web", verdict: "adopted", text: "as GitOpsDeployment shop/web" });
    const [decision] = await served.store.decisions.list({ subject: uid }, 1, signal);
    expect(decision).toMatchObject({ kind: "directive", verdict: "ADOPTED", details: { argoName: "web", actor: "otto" } });
    expect(JSON.parse((await run("operator", "adopt", "argocd", "-o", "json")).out)).toContainEqual({
      ...{ name: "web", verdict: "stands" },
      text: "it is GitOpsDeployment shop/web",
    });
  });

  it("refuses a name that another application has, and one that comes too late", async () => {
    const other = anIntent({ namespace: "blog", argoName: "blog-1" });
    await served.store.intents.recordDeployments([other], signal);
    const ask = (uid: string, argoName: string) =>
      served.call("POST", "/v1/adoptions", { body: { namespace: "blog", name: "blog", uid, argoName } });
    expect(await ask("somebody", "blog-1")).toMatchObject({ status: 422, body: { code: "adoption.taken" } });
    expect(await ask(other.uid, "blog-2")).toMatchObject({ status: 422, body: { code: "adoption.late" } });
    for (const name of ["Not a name", "argosy-canary-1"]) expect(await ask("somebody", name)).toMatchObject({ status: 400 });
  });

  it("begins with nothing more once it was interrupted", async () => {
    const before = writes().length;
    const seen = await runCommand(
      ["adopt", "argocd", "--kubeconfig", kubeconfig, "-o", "json"],
      { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") },
      AbortSignal.abort(),
    );
    expect(seen.code).not.toBe(0);
    expect(writes()).toHaveLength(before);
  });

  it("says where an Argo CD is not there", async () => {
    expect(await run("operator", "adopt", "nowhere")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no Argo CD in that namespace"),
    });
  });
});
