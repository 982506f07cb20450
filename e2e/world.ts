import process from "node:process";
import { openKube } from "../hack/fleet/connect.ts";
import type { RestClient } from "../src/cli/rest-client.ts";
import { UnavailableError } from "../src/domain/errors.ts";
import type { KubeClient } from "../src/runtime/kube/client.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { callHarness, type HarnessAddress } from "./harness-client.ts";
import { ownHarness } from "./own-harness.ts";
import { openRest, withinTimeout } from "./within-timeout.ts";

/** What a story needs: the cluster as its administrator, Git, the fleet's REST API, and the harness that runs everything. */
export interface World {
  readonly kube: KubeClient;
  readonly rest: RestClient;
  readonly git: Git;
  readonly harness: HarnessAddress;
  readonly signal: AbortSignal;
}

/** Repositories served over HTTP, each under its own name. */
export interface Git {
  url(repository: string): string;
  /** Commits files to `main` (an `undefined` file is removed), and creates the repository if needed. Returns the commit's SHA. */
  commit(repository: string, files: Readonly<Record<string, string | undefined>>): Promise<string>;
}

export const TYPES = {
  namespace: { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false },
  configMap: { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true },
  secret: { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true },
  roleBinding: { group: "rbac.authorization.k8s.io", version: "v1", plural: "rolebindings", kind: "RoleBinding", namespaced: true },
  deployment: {
    group: "managed-gitops.redhat.com",
    version: "v1alpha1",
    plural: "gitopsdeployments",
    kind: "GitOpsDeployment",
    namespaced: true,
  },
  credential: {
    group: "managed-gitops.redhat.com",
    version: "v1alpha1",
    plural: "gitopsdeploymentrepositorycredentials",
    kind: "GitOpsDeploymentRepositoryCredential",
    namespaced: true,
  },
  syncRun: {
    group: "managed-gitops.redhat.com",
    version: "v1alpha1",
    plural: "gitopsdeploymentsyncruns",
    kind: "GitOpsDeploymentSyncRun",
    namespaced: true,
  },
  service: { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true },
  application: { group: "argoproj.io", version: "v1alpha1", plural: "applications", kind: "Application", namespaced: true },
  project: { group: "argoproj.io", version: "v1alpha1", plural: "appprojects", kind: "AppProject", namespaced: true },
} as const satisfies Readonly<Record<string, ResourceType>>;

/** Default timeout of `until`, in ms. Generous, because machines are shared. */
const TIMEOUT_MS = 120_000;
const POLL_MS = 50;
/** Whether the heavy variants were requested: more of everything, and stories that take minutes of real time. */
export const IS_LONG = process.env["ARGOSY_LONG"] !== undefined;

/** Default timeout of a story, in ms. */
const LIFETIME_MS = 20 * 60_000;

export function openWorld(lifetimeMs: number = LIFETIME_MS): World {
  const facts = ownHarness();
  return {
    kube: openKube(facts.adminKubeconfig),
    rest: openRest(facts, facts.token),
    harness: facts,
    signal: AbortSignal.timeout(lifetimeMs),
    git: {
      url: (repository) => `${facts.gitUrl}/${repository}.git`,
      commit: async (repository, files) => (await callHarness(facts, "commit", { repository, files })) as string,
    },
  };
}

/** Prints a line in the output of the tests. */
export function report(text: string): void {
  process.stdout.write(`e2e: ${text}\n`);
}

/**
 * Reads until the value is as wanted, and returns it. Fails with the last value read. A server that does not answer
 * counts as no value: it may be restarting, or the machine may be busy.
 */
export async function until<T>(
  what: string,
  read: () => Promise<T>,
  isReached: (value: T) => boolean,
  timeoutMs: number = TIMEOUT_MS,
): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    const seen = await read().then((value) => ({ value }), unanswered);
    if ("value" in seen && isReached(seen.value)) return seen.value;
    if (performance.now() > giveUpAt) throw new Error(`never saw ${what}; last: ${"value" in seen ? show(seen.value) : seen.why}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function unanswered(error: unknown): { readonly why: string } {
  if (error instanceof UnavailableError) return { why: error.message };
  throw error;
}

function show(value: unknown): string {
  const text = JSON.stringify(value, (key, part: unknown) => (key === "managedFields" ? undefined : part), 1) ?? "nothing";
  return text.slice(0, 4_000);
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly sync?: { readonly status?: string; readonly revision?: string };
  readonly health?: { readonly status?: string };
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[];
  readonly resources?: readonly { readonly kind: string; readonly name: string }[];
}

export interface DeploymentResource extends KubeObject {
  readonly status?: DeploymentStatus;
}

export interface DeploymentSpec {
  readonly repository: string;
  readonly path: string;
  readonly targetRevision?: string;
  readonly type?: "automated" | "manual";
}

/** One namespace and what its user does there. */
export interface Workspace {
  readonly namespace: string;
  apply(name: string, spec: DeploymentSpec, finalizers?: readonly string[]): Promise<void>;
  annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void>;
  remove(name: string): Promise<void>;
  read(name: string): Promise<DeploymentResource | undefined>;
  /** Waits until the user reads Synced and Healthy, at `revision` if given. */
  settled(name: string, revision?: string, timeoutMs?: number): Promise<DeploymentResource | undefined>;
  configMap(name: string): Promise<(KubeObject & { readonly data?: Readonly<Record<string, string>> }) | undefined>;
}

export async function openWorkspace(world: World, namespace: string): Promise<Workspace> {
  const { kube, signal } = world;
  await kube.apply(
    TYPES.namespace,
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { fieldManager: "user" },
    signal,
  );
  const read = (name: string) => withinTimeout(() => kube.get<DeploymentResource>(TYPES.deployment, { namespace, name }, signal));
  return {
    namespace,
    read,
    async apply(name, { repository, path, targetRevision = "main", type = "automated" }, finalizers) {
      const spec = { source: { repoURL: world.git.url(repository), path, targetRevision }, type };
      const metadata = { name, namespace, ...(finalizers === undefined ? {} : { finalizers }) };
      const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeployment", metadata, spec };
      await kube.apply(TYPES.deployment, resource, { fieldManager: "user" }, signal);
    },
    async annotate(name, annotations) {
      await kube.mergePatch(TYPES.deployment, { namespace, name }, { metadata: { annotations } }, signal);
    },
    remove: (name) => kube.delete(TYPES.deployment, { namespace, name }, {}, signal),
    settled: (name, revision, timeoutMs) =>
      until(
        `${namespace}/${name} Synced and Healthy`,
        () => read(name),
        (resource) => isSettled(resource, revision),
        timeoutMs,
      ).catch(async (error: unknown) => {
        throw new Error(`its Application: ${show(await findApplication(world, namespace, name))}; ${String(error)}`, { cause: error });
      }),
    configMap: (name) => withinTimeout(() => kube.get(TYPES.configMap, { namespace, name }, signal)),
  };
}

function isSettled(resource: DeploymentResource | undefined, revision: string | undefined): boolean {
  const { sync, health, observedGeneration } = resource?.status ?? {};
  if (sync?.status !== "Synced" || health?.status !== "Healthy") return false;
  return observedGeneration === resource?.metadata.generation && (revision === undefined || sync.revision === revision);
}

export function conditionOf(resource: DeploymentResource | undefined, type: string) {
  return resource?.status?.conditions?.find((condition) => condition.type === type);
}

/** A ConfigMap as a manifest file. */
export function configMapFile(name: string, data: Readonly<Record<string, string>>): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
}

/** The Argo CD Application of a deployment, wherever in the fleet it is. */
export async function findApplication(world: World, namespace: string, name: string): Promise<KubeObject | undefined> {
  const { items } = await world.rest.get<{ readonly items: readonly { readonly argoName: string }[] }>("/v1/applications", {
    namespace,
    name,
  });
  const argoName = items[0]?.argoName;
  if (argoName === undefined) return undefined;
  const page = await world.kube.listPage<KubeObject>(TYPES.application, { fieldSelector: `metadata.name=${argoName}` }, world.signal);
  return page.items[0];
}
