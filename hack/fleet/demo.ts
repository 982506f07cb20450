import type { KubeClient } from "../../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../../src/runtime/kube/resource.ts";

const NAMESPACE: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const GITOPS_DEPLOYMENT: ResourceType = {
  group: "managed-gitops.redhat.com",
  version: "v1alpha1",
  plural: "gitopsdeployments",
  kind: "GitOpsDeployment",
  namespaced: true,
};

export interface DemoDeployment {
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

/** Three workspaces, two deployments each: of plain manifests, of a Kustomize overlay with its base, and of a Helm chart. */
export const DEMO: readonly DemoDeployment[] = [
  { namespace: "demo-anna", name: "guestbook", path: "guestbook" },
  { namespace: "demo-anna", name: "settings", path: "settings" },
  { namespace: "demo-ben", name: "guestbook", path: "guestbook" },
  { namespace: "demo-ben", name: "shop", path: "shop/overlays/dev" },
  { namespace: "demo-cleo", name: "settings", path: "settings" },
  { namespace: "demo-cleo", name: "web", path: "web" },
];

/** Files of the sample repository: two directories of plain manifests, one for Kustomize, one chart. */
export const DEMO_FILES: Readonly<Record<string, string>> = {
  "README.md": "Sample manifests that the demo workspaces deploy.\n",
  "guestbook/config.yaml": manifest({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "guestbook" }, data: { greeting: "hello" } }),
  "guestbook/service.yaml": manifest({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "guestbook" },
    spec: { selector: { app: "guestbook" }, ports: [{ port: 80, targetPort: 8080 }] },
  }),
  "guestbook/deployment.yaml": manifest({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "guestbook" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "guestbook" } },
      template: {
        metadata: { labels: { app: "guestbook" } },
        spec: { containers: [{ name: "guestbook", image: "registry.k8s.io/pause:3.10" }] },
      },
    },
  }),
  "settings/config.yaml": manifest({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { colour: "green" } }),
  "shop/base/kustomization.yaml": manifest({ resources: ["config.yaml", "service.yaml"] }),
  "shop/base/config.yaml": manifest({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "shop" }, data: { currency: "EUR" } }),
  "shop/base/service.yaml": manifest({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "shop" },
    spec: { selector: { app: "shop" }, ports: [{ port: 80, targetPort: 8080 }] },
  }),
  "shop/overlays/dev/kustomization.yaml": manifest({
    resources: ["../../base"],
    nameSuffix: "-dev",
    patches: [{ target: { kind: "ConfigMap" }, patch: '[{"op": "add", "path": "/data/stage", "value": "dev"}]' }],
  }),
  "web/Chart.yaml": manifest({ apiVersion: "v2", name: "web", version: "1.0.0", description: "A sample chart" }),
  "web/values.yaml": manifest({ replicas: 2, greeting: "hello from the chart's values" }),
  "web/templates/config.yaml": [
    "apiVersion: v1",
    "kind: ConfigMap",
    "metadata:",
    "  name: {{ .Chart.Name }}",
    "data:",
    "  replicas: {{ .Values.replicas | quote }}",
    "  greeting: {{ .Values.greeting | quote }}",
    "",
  ].join("\n"),
};

/** JSON is YAML, and needs no library. */
function manifest(object: unknown): string {
  return `${JSON.stringify(object, null, 2)}\n`;
}

/** Creates the demo namespaces and deployments. Existing ones stay as they are, except for the repository's address. */
export async function applyDemo(client: KubeClient, repoUrl: string, signal: AbortSignal): Promise<void> {
  for (const namespace of new Set(DEMO.map((entry) => entry.namespace))) {
    await client.apply(NAMESPACE, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }, { fieldManager: "demo" }, signal);
  }
  for (const entry of DEMO) await client.apply(GITOPS_DEPLOYMENT, demoResource(entry, repoUrl), { fieldManager: "demo" }, signal);
}

function demoResource({ namespace, name, path }: DemoDeployment, repoUrl: string): KubeObject {
  const resource = {
    apiVersion: "managed-gitops.redhat.com/v1alpha1",
    kind: "GitOpsDeployment",
    metadata: { namespace, name },
    spec: { source: { repoURL: repoUrl, path, targetRevision: "main" }, type: "automated" },
  };
  return resource;
}

export interface DemoState extends DemoDeployment {
  readonly sync: string;
  readonly health: string;
  /** Seconds from the resource's creation to Synced and Healthy, as far as this process has seen it. */
  readonly seconds: number | undefined;
}

interface Observed extends KubeObject {
  readonly status?: { readonly sync?: { readonly status?: string }; readonly health?: { readonly status?: string } };
}

/** How the demo's resources stand, as their users see them. */
export async function readDemo(client: KubeClient, signal: AbortSignal): Promise<readonly Omit<DemoState, "seconds">[]> {
  return Promise.all(
    DEMO.map(async (entry) => {
      const resource = await client.get<Observed>(GITOPS_DEPLOYMENT, entry, signal);
      return { ...entry, sync: resource?.status?.sync?.status ?? "-", health: resource?.status?.health?.status ?? "-" };
    }),
  );
}

export function isDone(state: { readonly sync: string; readonly health: string }): boolean {
  return state.sync === "Synced" && state.health === "Healthy";
}
