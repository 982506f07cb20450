import { describe, expect } from "vitest";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { conditionOf, configMapFile, type DeploymentResource, until } from "../world.ts";
import { jobFile, KINDS, manifest, story, WITH_FINALIZER } from "./story.ts";

const refused = async (attempt: Promise<unknown>): Promise<string> => {
  try {
    await attempt;
    return "";
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly message?: string } };
    return `${String(error)} ${cause?.message ?? ""}`;
  }
};

describe("a first month with the resources", () => {
  story("a misspelt type is refused, and the right ones are named", "typo-type", async (user) => {
    expect(await refused(user.deploy({ type: "automatic" }))).toMatch(/automated|manual/);
  });

  story("a repository by a protocol that is not taken is refused in words", "typo-protocol", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ repoURL: "file:///srv/git/shop" });
    await user.reads(/^InvalidSpec: .*spec\.source\.repoURL/);
    await user.deploy();
    await user.ready();
  });

  story("a password within the URL is refused, and not repeated", "password-in-url", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ repoURL: "https://jane:hunter2hunter2@git.example/shop" });
    const said = await user.reads(/^InvalidSpec: .*spec\.source\.repoURL/);
    expect(said).not.toContain("hunter2");
    await user.deploy();
    await user.ready();
  });

  story("a path that leads out of the repository is refused in words", "path-out", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ path: "../other" });
    await user.reads(/spec\.source\.path|path/);
    await user.deploy();
    await user.ready();
  });

  story("a path with a slash at its begin", "path-slash", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ path: "/app" });
    await user.reads(/path/);
    await user.deploy({ path: "app/" });
    await user.ready();
  });

  story("an environment that is not there yet", "late-environment", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ destination: { environment: "prod", namespace: "shop" } });
    await user.reads(/^EnvironmentUnavailable: /);
    await user.deploy();
    await user.reads(/^(?!EnvironmentUnavailable)/);
    await user.ready();
  });

  story("an environment whose Secret is made after it, and without its key", "half-environment", async (user) => {
    await user.apply(KINDS.environment, {
      metadata: { name: "prod" },
      spec: { apiURL: "https://api.invalid:6443", credentialsSecret: "creds", allowInsecureSkipTLSVerify: false },
    });
    const reason = async () =>
      conditionOf((await user.get<DeploymentResource>(KINDS.environment, "prod")) ?? undefined, "Ready")?.reason ?? "";
    const reads = (expected: string) => until(`the environment says ${expected}`, reason, (said) => said === expected);
    await reads("SecretNotFound");
    const type = "managed-gitops.redhat.com/managed-environment";
    await user.apply(KINDS.secret, { metadata: { name: "creds" }, type, stringData: { kubeConfig: "{}" } });
    await reads("MissingKubeConfigField");
    await user.apply(KINDS.secret, { metadata: { name: "creds" }, type, stringData: { kubeconfig: "nonsense" } });
    await reads("UnableToParseKubeconfigData");
  });

  story("a SyncRun that is made before its deployment", "early-run", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.apply(KINDS.syncRun, { metadata: { name: "first" }, spec: { gitopsDeploymentName: "app" } });
    const run = () => user.get<DeploymentResource & { readonly status?: { readonly phase?: string } }>(KINDS.syncRun, "first");
    await until("DeploymentNotFound", run, (found) => conditionOf(found, "Ready")?.reason === "DeploymentNotFound");
    await user.deploy({ type: "manual" });
    await until("the run Succeeded", run, (found) => found?.status?.phase === "Succeeded");
    await user.ready();
  });

  story("a manual deployment is changed by hand, shown as OutOfSync, and restored by a run", "manual-edit", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", { v: "1" }) });
    await user.deploy({ type: "manual" });
    await user.apply(KINDS.syncRun, { metadata: { name: "first" }, spec: { gitopsDeploymentName: "app" } });
    await user.ready();
    await user.world.kube.mergePatch(
      KINDS.configMap,
      { namespace: user.namespace, name: "a" },
      { data: { v: "by hand" } },
      user.world.signal,
    );
    await user.reads(/^OutOfSync: .*SyncRun/);
    await user.apply(KINDS.syncRun, { metadata: { name: "second" }, spec: { gitopsDeploymentName: "app" } });
    await user.ready();
    expect((await user.workspace.configMap("a"))?.data).toEqual({ v: "1" });
  });

  story("an object deleted by hand comes back", "deleted-by-hand", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/b.yaml": configMapFile("b", {}) });
    await user.deploy();
    await user.ready();
    const { uid } = (await user.stands(KINDS.configMap, "a")).metadata;
    await user.world.kube.delete(KINDS.configMap, { namespace: user.namespace, name: "a" }, {}, user.world.signal);
    await until(
      "another a",
      () => user.get(KINDS.configMap, "a"),
      (found) => found !== undefined && found.metadata.uid !== uid,
    );
    await user.ready();
  });

  story("automated becomes manual: a push waits; and automated again: it is deployed", "type-change", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", { v: "1" }) });
    await user.deploy();
    await user.ready();
    await user.deploy({ type: "manual" });
    await user.ready();
    await user.push({ "app/a.yaml": configMapFile("a", { v: "2" }) });
    await user.refresh();
    await user.reads(/^OutOfSync: .*SyncRun/);
    expect((await user.workspace.configMap("a"))?.data).toEqual({ v: "1" });
    await user.deploy();
    await user.ready();
    expect((await user.workspace.configMap("a"))?.data).toEqual({ v: "2" });
  });

  story("a paused deployment takes no change until the annotation is removed", "paused", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "two/b.yaml": configMapFile("b", {}) });
    await user.deploy();
    await user.ready();
    await user.workspace.annotate("app", { "argosy.dev/paused": "true" });
    await user.deploy({ path: "two" });
    await user.reads(/^Paused: /);
    expect(await user.workspace.configMap("b")).toBeUndefined();
    await user.world.kube.mergePatch(
      KINDS.deployment,
      { namespace: user.namespace, name: "app" },
      { metadata: { annotations: { "argosy.dev/paused": null } } },
      user.world.signal,
    );
    await user.ready();
    await user.stands(KINDS.configMap, "b");
  });

  story(
    "a second deployment of the same directory is reported as shared; when it goes, the first restores what went with it",
    "renamed",
    async (user) => {
      await user.push({ "app/a.yaml": configMapFile("a", {}) });
      await user.deploy();
      await user.ready();
      await user.deploy({ name: "app-2", finalizers: WITH_FINALIZER });
      await until(
        "a SharedResourceWarning",
        async () => [await user.workspace.read("app"), await user.workspace.read("app-2")],
        (both) => both.some((each) => conditionOf(each, "SharedResourceWarning")?.status === "True"),
      );
      await user.workspace.remove("app-2");
      await user.isGone(KINDS.deployment, "app-2");
      await user.ready();
      await user.stands(KINDS.configMap, "a");
    },
  );

  story("deleted in the middle of a sync, all of it goes", "delete-midway", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/job.yaml": jobFile("slow", { runMs: 100_000_000, hook: "PreSync" }) });
    await user.deploy({ finalizers: WITH_FINALIZER });
    await user.stands(KINDS.job, "slow");
    await user.workspace.remove("app");
    await user.isGone(KINDS.deployment, "app");
    await user.isGone(KINDS.configMap, "a");
  });

  story("an object with a finalizer that is removed from Git is waited for", "held-object", async (user) => {
    const held = manifest("ConfigMap", "held", { metadata: { finalizers: ["example.com/hold"] } });
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/held.yaml": held });
    await user.deploy();
    await user.ready();
    await user.push({ "app/held.yaml": undefined });
    await user.refresh();
    await until(
      "held is being deleted",
      () => user.get(KINDS.configMap, "held"),
      (found) => found?.metadata.deletionTimestamp !== undefined,
    );
    await user.world.kube.mergePatch(
      KINDS.configMap,
      { namespace: user.namespace, name: "held" },
      { metadata: { finalizers: [] } },
      user.world.signal,
    );
    await user.ready();
    await user.isGone(KINDS.configMap, "held");
  });

  story("a namespace that is deleted and created again starts from nothing", "namespace-anew", async (user) => {
    const { kube, signal } = user.world;
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ finalizers: WITH_FINALIZER });
    await user.ready();
    const at = { namespace: "", name: user.namespace };
    await kube.delete(KINDS.namespace, at, {}, signal);
    await until(
      "no namespace",
      () => kube.get<KubeObject>(KINDS.namespace, at, signal),
      (found) => found === undefined,
    );
    await kube.apply(
      KINDS.namespace,
      { apiVersion: "v1", kind: "Namespace", metadata: { name: user.namespace } },
      { fieldManager: "user" },
      signal,
    );
    await user.deploy();
    await user.ready();
    await user.stands(KINDS.configMap, "a");
  });

  story("a namespace option on the own namespace changes nothing", "own-namespace", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.deploy({ syncPolicy: { syncOptions: ["CreateNamespace=true"] } });
    await user.ready();
  });

  story("the manifest of the own namespace, which many repositories hold", "own-namespace-file", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/ns.yaml": manifest("Namespace", user.namespace) });
    await user.deploy();
    await user.reads(/namespaces are not permitted in this namespace/);
    await user.push({ "app/ns.yaml": undefined });
    await user.refresh();
    await user.ready();
  });
});
