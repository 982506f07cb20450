import { describe, expect } from "vitest";
import { configMapFile } from "../world.ts";
import { jobFile, KINDS, manifest, story } from "./story.ts";

interface WorkloadOptions {
  /** Of its pods. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly progressDeadlineSeconds?: number;
}

const workload = (name: string, label: string, { annotations = {}, progressDeadlineSeconds = 2 }: WorkloadOptions = {}): string =>
  manifest(
    "Deployment",
    name,
    {
      spec: {
        replicas: 1,
        progressDeadlineSeconds,
        selector: { matchLabels: { app: label } },
        template: { metadata: { labels: { app: label }, annotations }, spec: { containers: [{ name: "main", image: "example.com/web" }] } },
      },
    },
    "apps/v1",
  );

describe("a first month with manifests", () => {
  story("a directory without manifests is deployed as nothing", "empty", async (user) => {
    await user.push({ "app/README.md": "to come" });
    await user.deploy();
    await user.ready();
  });

  story("manifests in folders below the path are not deployed, as docs say", "below", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/deeper/b.yaml": configMapFile("b", {}) });
    await user.deploy();
    await user.ready();
    expect(await user.workspace.configMap("b")).toBeUndefined();
  });

  story("YAML that cannot be read is named with its file", "broken-yaml", async (user) => {
    await user.push({
      "app/good.yaml": configMapFile("good", {}),
      "app/bad.yaml": "apiVersion: v1\nkind: ConfigMap\n  metadata: {name: bad}\n",
    });
    await user.deploy();
    await user.reads(/^ComparisonError: .*bad\.yaml/);
    await user.push({ "app/bad.yaml": configMapFile("bad", {}) });
    await user.refresh();
    await user.ready();
  });

  story("a custom resource before its CRD says which kind is missing", "cr-before-crd", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/w.yaml": manifest("Widget", "w", {}, "example.com/v1") });
    await user.deploy();
    await user.reads(/Widget|example\.com/);
    await user.push({ "app/w.yaml": undefined });
    await user.refresh();
    await user.ready();
  });

  story("a CRD, which no namespace can hold, is refused in words", "crd", async (user) => {
    const definition = {
      spec: {
        group: "month.example.com",
        names: { plural: "things", kind: "Thing" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    };
    await user.push({
      "app/crd.yaml": manifest("CustomResourceDefinition", "things.month.example.com", definition, "apiextensions.k8s.io/v1"),
    });
    await user.deploy();
    await user.reads(/CustomResourceDefinition/);
    await user.push({ "app/crd.yaml": undefined, "app/a.yaml": configMapFile("a", {}) });
    await user.refresh();
    await user.ready();
  });

  story("an object for another namespace is refused in words", "other-namespace", async (user) => {
    await user.push({ "app/a.yaml": manifest("ConfigMap", "a", { metadata: { namespace: "kube-public" } }) });
    await user.deploy();
    await user.reads(/kube-public/);
    await user.push({ "app/a.yaml": configMapFile("a", {}) });
    await user.refresh();
    await user.ready();
  });

  story("a role binding is refused in words", "role-binding", async (user) => {
    const binding = {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
    };
    await user.push({ "app/rb.yaml": manifest("RoleBinding", "mine", binding, "rbac.authorization.k8s.io/v1") });
    await user.deploy();
    await user.reads(/RoleBinding|rolebindings/);
    await user.push({ "app/rb.yaml": undefined, "app/a.yaml": configMapFile("a", {}) });
    await user.refresh();
    await user.ready();
  });

  story("one object in two files is reported as a duplicate", "double", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", { from: "a" }), "app/b.yaml": configMapFile("a", { from: "b" }) });
    await user.deploy();
    await user.ready();
    await user.workspace.read("app");
    const conditions = (await user.workspace.read("app"))?.status?.conditions ?? [];
    expect(conditions.filter(({ type, status }) => type === "RepeatedResourceWarning" && status === "True")).toHaveLength(1);
  });

  story("a field that cannot be changed is named; an object with a new name is deployed", "immutable", async (user) => {
    await user.push({ "app/web.yaml": workload("web", "one") });
    await user.deploy();
    await user.ready();
    await user.push({ "app/web.yaml": workload("web", "two") });
    await user.refresh();
    await user.reads(/immutable/);
    await user.push({ "app/web.yaml": undefined, "app/web-2.yaml": workload("web-2", "two") });
    await user.refresh();
    await user.ready();
    await user.isGone(KINDS.workload, "web");
  });

  story("a field of a wrong type is named", "wrong-type", async (user) => {
    await user.push({ "app/a.yaml": manifest("ConfigMap", "a", { data: { replicas: 3 } }) });
    await user.deploy();
    await user.reads(/OutOfSync: .*|ComparisonError: .*|SyncFailed: .*cannot unmarshal number/);
    await user.push({ "app/a.yaml": configMapFile("a", { replicas: "3" }) });
    await user.refresh();
    await user.ready();
  });

  story(
    "a ConfigMap that is too long for kubectl's annotation says so, and is applied server-side on request",
    "long-map",
    async (user) => {
      const data = { text: "x".repeat(300_000) };
      await user.push({ "app/a.yaml": manifest("ConfigMap", "a", { data }) });
      await user.deploy();
      await user.reads(/annotations: Too long/);
      const metadata = { annotations: { "argocd.argoproj.io/sync-options": "ServerSideApply=true" } };
      await user.push({ "app/a.yaml": manifest("ConfigMap", "a", { metadata, data }) });
      await user.refresh();
      await user.ready();
    },
  );

  story("a full quota is named, and what waits is deployed once there is room", "quota", async (user) => {
    await user.apply(KINDS.quota, { metadata: { name: "few" }, spec: { hard: { "count/configmaps": "2" } } });
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/b.yaml": configMapFile("b", {}), "app/c.yaml": configMapFile("c", {}) });
    await user.deploy();
    await user.reads(/quota/);
    await user.world.kube.delete(KINDS.quota, { namespace: user.namespace, name: "few" }, {}, user.world.signal);
    await user.refresh();
    await user.ready();
  });

  story("a pod that never gets ready shows as what it is", "never-ready", async (user) => {
    const annotations = { "dev.argosy/ready": "false" };
    // With a short deadline it may be degraded before anybody has read that it progresses.
    await user.push({ "app/web.yaml": workload("web", "web", { annotations, progressDeadlineSeconds: 600 }) });
    await user.deploy();
    await user.reads(/^Progressing: /);
    await user.push({ "app/web.yaml": workload("web", "web", { annotations }) });
    await user.refresh();
    await user.reads(/^Degraded: /);
    await user.push({ "app/web.yaml": workload("web", "web") });
    await user.refresh();
    await user.ready();
  });

  story("a Service without an address shows as progressing until it has one", "no-address", async (user) => {
    await user.push({ "app/s.yaml": manifest("Service", "s", { spec: { type: "LoadBalancer", ports: [{ port: 80 }] } }) });
    await user.deploy();
    await user.reads(/^Progressing: /);
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } };
    await user.world.kube.mergePatch(
      KINDS.service,
      { namespace: user.namespace, name: "s", subresource: "status" },
      { status },
      user.world.signal,
    );
    await user.ready();
  });

  story("a failing hook stops the sync, and a push corrects it", "failing-hook", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/job.yaml": jobFile("before", { exitCode: 3, hook: "PreSync" }) });
    await user.deploy();
    await user.reads(/^SyncFailed: .*failed/);
    expect(await user.workspace.configMap("a")).toBeUndefined();
    await user.push({ "app/job.yaml": jobFile("before", { hook: "PreSync" }) });
    await user.refresh();
    await user.ready();
  });

  story("a Job that never ends shows as progressing, and goes when Git no longer has it", "endless-job", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/job.yaml": jobFile("endless", { runMs: 100_000_000 }) });
    await user.deploy();
    await user.reads(/^Progressing: /);
    await user.push({ "app/job.yaml": undefined });
    await user.refresh();
    await user.isGone(KINDS.job, "endless");
    await user.ready();
  });

  story("a hook that never ends is reported as waited for, and a correcting push is deployed", "endless-hook", async (user) => {
    await user.push({ "app/a.yaml": configMapFile("a", {}), "app/job.yaml": jobFile("endless", { runMs: 100_000_000, hook: "PreSync" }) });
    await user.deploy();
    await user.reads(/OutOfSync: .*/);
    await user.stands(KINDS.job, "endless");
    await user.push({ "app/job.yaml": undefined, "other/a.yaml": configMapFile("a", { mended: "yes" }) });
    await user.deploy({ path: "other" });
    await user.ready();
  });
});
