import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import type { KubeObject } from "../runtime/kube/resource.ts";
import { type FakeApiServer, startFakeApiServer } from "../runtime/kube/testing/fake-api-server.ts";
import { createAdoptedCluster } from "./adapters/kubernetes/adopted-cluster.ts";
import { type AdoptionOutcome, type AdoptionRules, adoptOne, draftAdoption } from "./carry-out-adoption.ts";
import type { AdoptedCluster, AdoptingFleet } from "./port.ts";
import { aHandMade } from "./testing/hand-made.ts";

const ARGO = { group: "argoproj.io", version: "v1alpha1", namespaced: true } as const;
const APPLICATIONS = { ...ARGO, plural: "applications", kind: "Application" };
const PROJECTS = { ...ARGO, plural: "appprojects", kind: "AppProject" };
const DEPLOYMENTS = {
  ...{ group: "managed-gitops.redhat.com", version: "v1alpha1", namespaced: true },
  ...{ plural: "gitopsdeployments", kind: "GitOpsDeployment" },
};
const NAMESPACES = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const SETTINGS = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const RULES: Omit<AdoptionRules, "clusterUid"> = {
  ...{ instanceNamespaces: ["argosy-standard-1"], servers: ["https://kubernetes.default.svc"] },
  ...{ known: [], kinds: {}, isWorkspace: () => true },
};
const SKIP = "argocd.argoproj.io/skip-reconcile";
const PAUSED = "argosy.dev/paused";

describe("adopting Applications of an Argo CD", () => {
  let server: FakeApiServer;
  let client: KubeClient;
  let cluster: AdoptedCluster;
  let kept: Map<string, string>;
  /** What the fleet answers, one after the other. After these: always yes. */
  let answers: boolean[];
  let rules: AdoptionRules;
  const signal = AbortSignal.timeout(60_000);
  const fleet: AdoptingFleet = {
    keepName: async ({ uid, argoName }) => void kept.set(uid, argoName),
    takes: async () => answers.shift() ?? true,
  };
  const settings = (data: object) =>
    ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "argocd-cm", namespace: "argocd" }, data }) as unknown as KubeObject;
  const load = (name: string) =>
    server.load(APPLICATIONS, [{ ...aHandMade(name), metadata: { name, namespace: "argocd" } } as unknown as KubeObject]);
  beforeEach(async () => {
    server = await startFakeApiServer();
    client = server.client();
    cluster = createAdoptedCluster(client);
    kept = new Map();
    answers = [];
    server.load(SETTINGS, [settings({ "application.resourceTrackingMethod": "annotation" })]);
    server.load(PROJECTS, [{ metadata: { name: "default", namespace: "argocd" } }]);
    server.load(NAMESPACES, [{ metadata: { name: "shop" } }, { metadata: { name: "argocd" } }, { metadata: { name: "kube-system" } }]);
    const system = await client.get<KubeObject>(NAMESPACES, { namespace: "", name: "kube-system" }, signal);
    rules = { ...RULES, clusterUid: system?.metadata.uid ?? "" };
    for (const name of ["api", "web"]) load(name);
  });
  afterEach(() => server.close());

  const adoptAll = async (over: AdoptedCluster = cluster): Promise<readonly AdoptionOutcome[]> => {
    const deps = { cluster: over, fleet };
    const outcomes: AdoptionOutcome[] = [];
    for (const step of await draftAdoption(deps, { namespace: "argocd", rules: rules }, signal))
      outcomes.push(await adoptOne(step, "argocd", deps, signal));
    return outcomes;
  };
  const application = (name: string) => client.get<KubeObject>(APPLICATIONS, { namespace: "argocd", name }, signal);
  const deployment = (name: string) => client.get<KubeObject>(DEPLOYMENTS, { namespace: "shop", name }, signal);

  it("pauses each Application and resumes a resource of the same name, which keeps that name in Argo CD", async () => {
    const before = await application("web");
    expect((await adoptAll()).map(({ name, verdict }) => [name, verdict])).toEqual([
      ["api", "adopted"],
      ["web", "adopted"],
    ]);
    const [after, made] = [await application("web"), await deployment("web")];
    expect(after?.metadata.annotations).toEqual({ [SKIP]: "true" });
    expect({ ...after, metadata: undefined }).toEqual({ ...before, metadata: undefined });
    expect(made?.metadata.annotations).toEqual({ "argosy.dev/adopts": "web" });
    expect(kept.get(made?.metadata.uid ?? "")).toBe("web");
  });

  it("has nothing to do when it runs again, and writes nothing", async () => {
    await adoptAll();
    rules = { ...rules, known: ["api", "web"].map((name) => ({ argoName: name, namespace: "shop", name })) };
    const writes = () => server.requests().filter(({ method }) => method !== "GET").length;
    const before = writes();
    expect((await adoptAll()).map(({ verdict }) => verdict)).toEqual(["stands", "stands"]);
    expect(writes()).toBe(before);
  });

  it("never lets both act, wherever it breaks off, and ends the same when it is run again", async () => {
    for (let broken = 0; ; broken += 1) {
      let count = 0;
      let isBroken = false;
      const fail = async (): Promise<void> => {
        const [old, made] = [await application("web"), await deployment("web")];
        const areBoth =
          old?.metadata.annotations?.[SKIP] !== "true" && made !== undefined && made.metadata.annotations?.[PAUSED] !== "true";
        expect(areBoth).toBe(false);
        count += 1;
        if (count - 1 !== broken) return;
        isBroken = true;
        throw new UnavailableError("broken off", { code: "kube.unavailable" });
      };
      const breaking: AdoptedCluster = {
        read: cluster.read,
        create: async (...args) => {
          const uid = await cluster.create(...args);
          await fail();
          return uid;
        },
        annotate: async (...args) => {
          const seen = await cluster.annotate(...args);
          await fail();
          return seen;
        },
        complaint: cluster.complaint,
      };
      const isDone = await adoptAll(breaking).then(
        () => true,
        () => false,
      );
      expect(isDone).toBe(!isBroken);
      for (const { verdict } of await adoptAll()) expect(verdict).toBe("adopted");
      for (const name of ["api", "web"]) {
        expect((await application(name))?.metadata.annotations?.[SKIP]).toBe("true");
        expect((await deployment(name))?.metadata.annotations?.[PAUSED]).toBeUndefined();
        await client.delete(DEPLOYMENTS, { namespace: "shop", name }, {}, signal);
        await client.mergePatch(APPLICATIONS, { namespace: "argocd", name }, { metadata: { annotations: { [SKIP]: null } } }, signal);
      }
      if (!isBroken) return expect(broken).toBe(6);
    }
  });

  it("resumes an Application that the fleet does not take, and says why", async () => {
    answers = [false, false, false, false];
    const refusing: AdoptedCluster = {
      ...cluster,
      complaint: async (at, within) => (at.name === "web" ? "repository is not allowed" : cluster.complaint(at, within)),
    };
    expect((await adoptAll(refusing)).map(({ verdict, text }) => [verdict, text])).toEqual([
      ["refused", "the fleet does not take GitOpsDeployment shop/api: its status says why"],
      ["refused", "the fleet does not take GitOpsDeployment shop/web: repository is not allowed"],
    ]);
    expect((await application("web"))?.metadata.annotations?.[SKIP]).toBeUndefined();
    expect((await deployment("web"))?.metadata.annotations?.[PAUSED]).toBe("true");
  });

  it("resumes no Application that the fleet has under another name", async () => {
    const late: AdoptingFleet = {
      ...fleet,
      takes: async () => Promise.reject(new RefusedError("has another name", { code: "adoption.late" })),
    };
    const deps = { cluster, fleet: late };
    const [step] = await draftAdoption(deps, { namespace: "argocd", rules }, signal);
    if (step === undefined) throw new Error("nothing was listed");
    expect(await adoptOne(step, "argocd", deps, signal)).toEqual({ name: "api", verdict: "refused", text: "has another name" });
    expect((await application("api"))?.metadata.annotations?.[SKIP]).toBe("true");
  });

  it("keeps an Application that the fleet takes at the last moment", async () => {
    answers = [false, true];
    expect((await adoptAll()).map(({ verdict }) => verdict)).toEqual(["adopted", "adopted"]);
    expect((await application("api"))?.metadata.annotations?.[SKIP]).toBe("true");
    expect((await deployment("api"))?.metadata.annotations?.[PAUSED]).toBeUndefined();
  });

  it.each<[string, object]>([
    ["it was changed meanwhile", { spec: { source: { path: "apps/other" } } }],
    ["a sync is under way", { operation: { sync: {} } }],
    ["it is OutOfSync", { status: { sync: { status: "OutOfSync" } } }],
    ["it has the finalizer", { metadata: { finalizers: ["resources-finalizer.argocd.argoproj.io"] } }],
  ])("resumes an Application where %s", async (why, patch) => {
    const deps = { cluster, fleet };
    const [step] = await draftAdoption(deps, { namespace: "argocd", rules }, signal);
    if (step === undefined) throw new Error("nothing was listed");
    await client.mergePatch(APPLICATIONS, { namespace: "argocd", name: "api" }, patch, signal);
    expect(await adoptOne(step, "argocd", deps, signal)).toMatchObject({ verdict: "refused", text: expect.stringContaining(why) });
    expect((await application("api"))?.metadata.annotations?.[SKIP]).toBeUndefined();
    expect((await deployment("api"))?.metadata.annotations?.[PAUSED]).toBe("true");
  });

  it("leaves an Application alone that was deleted and created again meanwhile", async () => {
    const deps = { cluster, fleet };
    const steps = await draftAdoption(deps, { namespace: "argocd", rules }, signal);
    await client.delete(APPLICATIONS, { namespace: "argocd", name: "web" }, {}, signal);
    load("web");
    const step = steps.find(({ name }) => name === "web");
    if (step === undefined) throw new Error("it was listed");
    expect(await adoptOne(step, "argocd", deps, signal)).toMatchObject({
      verdict: "refused",
      text: expect.stringContaining("run the command again"),
    });
    expect((await application("web"))?.metadata.annotations).toBeUndefined();
    expect((await deployment("web"))?.metadata.annotations?.[PAUSED]).toBe("true");
  });

  it("refuses an Argo CD of another cluster, and an instance of the fleet", async () => {
    const draft = (namespace: string, over: Partial<AdoptionRules>) =>
      draftAdoption({ cluster }, { namespace, rules: { ...rules, ...over } }, signal);
    await expect(draft("argocd", { clusterUid: "another" })).rejects.toMatchObject({ message: expect.stringContaining("another cluster") });
    await expect(draft("argosy-standard-1", {})).rejects.toMatchObject({ message: "is an instance of this fleet" });
  });

  it.each([
    ["there is no Argo CD in that namespace", undefined],
    ["does not say application.resourceTrackingMethod: annotation", {}],
    ["does not say application.resourceTrackingMethod: annotation", { "application.resourceTrackingMethod": "label" }],
    ["has an installationID", { "application.resourceTrackingMethod": "annotation", installationID: "mine" }],
  ])("refuses an Argo CD where: %s", async (message, data) => {
    await client.delete(SETTINGS, { namespace: "argocd", name: "argocd-cm" }, {}, signal);
    if (data !== undefined) server.load(SETTINGS, [settings(data)]);
    await expect(adoptAll()).rejects.toMatchObject({ code: "adoption.source", message: expect.stringContaining(message) });
  });
});
