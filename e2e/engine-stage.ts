import type { InstanceView } from "../src/api/schema.ts";
import { loadKubeconfig } from "../src/runtime/kube/auth.ts";
import type { KubeObject, ResourceType } from "../src/runtime/kube/resource.ts";
import { ANNOTATION_NUDGED, ANNOTATION_REFRESH } from "../src/shard/names.ts";
import { FIRST_NUDGE_MS } from "../src/shard/nudge.ts";
import { type EngineApplication, TRACKING, trackingId } from "../src/simulation/models/engine/application.ts";
import type { Making, Stage } from "../src/simulation/models/engine/scripts/stage.ts";
import { tokenOf } from "./attacks/person.ts";
import { callHarness } from "./harness-client.ts";
import { keepSecret } from "./secrets-in-use.ts";
import { TARGET_TYPES } from "./target-cluster.ts";
import { IS_LONG, openWorkspace, TYPES, until, type World } from "./world.ts";

/** Namespace of what the stages share, and name of most of it. */
const SHARED = "engine-scripts";
const CANARY = "engine-canary";
/** Canary rounds, and time, after which a controller has begun whatever it is going to do. */
const ROUNDS = 3;
const IDLE_MS = IS_LONG ? 12_000 : 5_000;
const RBAC = "rbac.authorization.k8s.io";

/** Stages on a controller of the fleet, with Applications that are not Argosy's. */
export interface EngineStages {
  /** `hasOwnEntry`: a cluster entry that no other stage uses. */
  open(name: string, hasOwnEntry: boolean): Promise<Stage>;
  close(): Promise<void>;
}

/** What all stages need: a project that allows everything, and cluster entries with an account that may do everything. */
interface Setting {
  readonly namespace: string;
  serverOf(entry: string): string;
  putEntry(entry: string): Promise<unknown>;
  /** Names of what was created, for the clean-up. */
  readonly entries: string[];
  readonly applications: string[];
}

export async function openEngineStages(world: World): Promise<EngineStages> {
  const setting = await makeSetting(world);
  const { namespace, entries, applications } = setting;
  const { kube, signal } = world;
  const canary = createStage(world, setting, CANARY, SHARED);
  await canary.push({ canary: "1" });
  await canary.make({});
  await canary.idle();
  // The first comparison after a controller's start may not reach its repo-server, and the next one comes only minutes later.
  await canary.until("compared with Git", async () => {
    const isCompared = (await canary.read())?.status?.sync?.status === "OutOfSync";
    if (!isCompared) await canaryObserved(world, namespace);
    return isCompared;
  });
  return {
    async open(name, hasOwnEntry) {
      const entry = hasOwnEntry ? `${SHARED}-${name}` : SHARED;
      if (hasOwnEntry) await setting.putEntry(entry);
      await openWorkspace(world, name);
      return createStage(world, setting, name, entry);
    },
    async close() {
      for (const name of applications) await kube.delete(TYPES.application, { namespace, name }, {}, signal);
      for (const name of entries) await kube.delete(TYPES.secret, { namespace, name }, {}, signal);
      await kube.delete(TYPES.project, { namespace, name: SHARED }, {}, signal);
      await kube.delete(TARGET_TYPES.clusterRoleBinding, { namespace: "", name: SHARED }, {}, signal);
      for (const name of [SHARED, ...applications]) await kube.delete(TYPES.namespace, { namespace: "", name }, {}, signal);
    },
  };
}

async function makeSetting(world: World): Promise<Setting> {
  const { kube, signal } = world;
  const [instance] = await world.rest.all<InstanceView>("/v1/instances");
  const namespace = `argosy-${instance?.name}`;
  const apply = (type: ResourceType, object: object) => kube.apply(type, object as KubeObject, { fieldManager: SHARED }, signal);
  await openWorkspace(world, SHARED);
  await openWorkspace(world, CANARY);
  const subjects = ["reader", "deployer"].map((name) => ({ kind: "ServiceAccount", namespace: SHARED, name }));
  for (const { kind, ...metadata } of subjects) await apply(TARGET_TYPES.serviceAccount, { apiVersion: "v1", kind, metadata });
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" };
  const binding = { apiVersion: `${RBAC}/v1`, kind: "ClusterRoleBinding", metadata: { name: SHARED }, roleRef, subjects };
  await apply(TARGET_TYPES.clusterRoleBinding, binding);
  const destinationServiceAccounts = [{ server: "*", namespace: "*", defaultServiceAccount: `${SHARED}:deployer` }];
  await apply(TYPES.project, {
    ...{ apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", metadata: { namespace, name: SHARED } },
    spec: { sourceRepos: ["*"], destinations: [{ server: "*", namespace: "*" }], destinationServiceAccounts },
  });
  const token = await tokenOf(kube, { namespace: SHARED, name: "reader" }, signal);
  const bearerToken = await keepSecret("a token of the engine scripts", token);
  const { server, ca = "" } = loadKubeconfig({ file: world.harness.adminKubeconfig });
  const config = JSON.stringify({ bearerToken, tlsClientConfig: { caData: Buffer.from(ca).toString("base64") } });
  const serverOf = (entry: string): string => `${server}?${SHARED}=${entry}`;
  const putEntry = (name: string) => {
    const metadata = { namespace, name, labels: { "argocd.argoproj.io/secret-type": "cluster" } };
    return apply(TYPES.secret, { apiVersion: "v1", kind: "Secret", metadata, stringData: { name, server: serverOf(name), config } });
  };
  await putEntry(SHARED);
  return { namespace, serverOf, putEntry, entries: [], applications: [] };
}

/** The stage of one Application. Its namespace and its repository have the same name. */
function createStage(world: World, setting: Setting, name: string, entry: string): Stage {
  const { kube, git, signal } = world;
  const { namespace, putEntry } = setting;
  const at = { namespace, name };
  const files = createFiles(world, name);
  const read = () => kube.get<EngineApplication>(TYPES.application, at, signal);
  setting.applications.push(name);
  setting.entries.push(entry);
  const specOf = ({ isAutomated = false }: Making): EngineApplication["spec"] => ({
    project: SHARED,
    source: { repoURL: git.url(name), path: "app", targetRevision: "main" },
    destination: { server: setting.serverOf(entry), namespace: name },
    syncPolicy: { retry: { limit: -1 }, ...(isAutomated ? { automated: { prune: true, selfHeal: true } } : {}) },
  });
  return {
    async make(making) {
      const { annotations = {}, status } = making;
      const made = { apiVersion: "argoproj.io/v1alpha1", kind: "Application", metadata: { ...at, annotations }, spec: specOf(making) };
      await kube.create(TYPES.application, { ...made, ...(status === undefined ? {} : { status }) } as KubeObject, signal);
    },
    patch: async (patch) => void (await kube.mergePatch(TYPES.application, at, patch as never, signal)),
    remove: () => kube.delete(TYPES.application, at, { propagationPolicy: "Background" }, signal),
    ...files,
    setEntry: async (isThere) =>
      void (await (isThere ? putEntry(entry) : kube.delete(TYPES.secret, { namespace, name: entry }, {}, signal))),
    async restart() {
      await callHarness(world.harness, "killContainer", { namespace, container: "argocd-application-controller" });
      await canaryObserved(world, namespace);
    },
    read,
    async plant(planted) {
      const annotations = { [TRACKING]: trackingId(name, name, planted) };
      const metadata = { namespace: name, name: planted, annotations };
      await kube.create(TYPES.configMap, { apiVersion: "v1", kind: "ConfigMap", metadata } as KubeObject, signal);
    },
    async objects() {
      const { items } = await kube.listPage<KubeObject>(TYPES.configMap, { namespace: name }, signal);
      const own = items.filter(({ metadata }) => metadata.name !== "kube-root-ca.crt");
      return Object.fromEntries(own.map(({ metadata }) => [metadata.name, metadata.resourceVersion ?? ""]));
    },
    until: async (what, holds) =>
      void (await until(
        `${name}: ${what}`,
        async () => ({ holds: await holds(), last: await read() }),
        (found) => found.holds,
      )),
    idle: () => idle(world, namespace),
  };
}

function createFiles({ git }: World, repository: string): Pick<Stage, "push" | "head"> {
  let [head, before] = ["", [] as readonly string[]];
  return {
    async push(wanted) {
      const files = Object.entries(wanted).map(([name, content], wave) => [`app/${name}.json`, manifestOf(name, content, wave)] as const);
      const gone = before.map((path) => [path, undefined] as const);
      head = await git.commit(repository, Object.fromEntries([...gone, ...files]));
      before = files.map(([path]) => path);
    },
    head: () => head,
  };
}

function manifestOf(name: string, content: string, wave: number): string {
  const metadata = { name, annotations: { "argocd.argoproj.io/sync-wave": String(wave) } };
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { content } });
}

/**
 * Resolves once the controller has answered a request to refresh the canary: so it has had time for an Application that
 * nothing is done to.
 */
async function canaryObserved({ kube, signal }: World, namespace: string): Promise<void> {
  const at = { namespace, name: CANARY };
  const annotate = (annotations: Readonly<Record<string, string>>) =>
    kube.mergePatch<KubeObject>(TYPES.application, at, { metadata: { annotations } }, signal);
  await annotate({ [ANNOTATION_REFRESH]: "normal" });
  let nudgeAt = performance.now() + FIRST_NUDGE_MS;
  await until(
    "the canary compared",
    async () => {
      const found = await kube.get<KubeObject>(TYPES.application, at, signal);
      if (found === undefined || performance.now() < nudgeAt) return found;
      // Argo CD may miss a request right after its own write, see src/shard/nudge.ts.
      nudgeAt += FIRST_NUDGE_MS;
      return annotate({ [ANNOTATION_NUDGED]: found.metadata.resourceVersion ?? "" });
    },
    (found) => found?.metadata.annotations?.[ANNOTATION_REFRESH] === undefined,
  );
}

async function idle(world: World, namespace: string): Promise<void> {
  let rounds = 0;
  const since = performance.now();
  await until(
    "the controller at work for a while",
    async () => {
      await canaryObserved(world, namespace);
      rounds += 1;
    },
    () => rounds >= ROUNDS && performance.now() - since >= IDLE_MS,
  );
}
