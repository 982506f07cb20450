import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { reflect } from "../reflect.ts";
import { configMapFile, type DeploymentResource, TYPES } from "../world.ts";
import type { ChartCluster } from "./chart-cluster.ts";

/** What users do all the time: create deployments in their namespaces, and push to the repository of one that is there. */
export interface UserStream {
  /** Names of the deployments that were created, `namespace/name`. */
  created(): readonly string[];
  /** Waits until each has what was pushed last, and returns what was seen on the way. */
  settle(timeoutMs: number): Promise<StreamSeen>;
  stop(): Promise<void>;
}

export interface StreamSeen {
  /** Longest time in which a deployment that was Synced and Healthy was not, in ms, of which one, and what Argo CD said of it then. */
  readonly longestWorseMs: number;
  readonly worst: string;
  /** Requests to the API cluster or Git that failed. */
  readonly refused: readonly string[];
  /** Deployments that were reported Synced and Healthy and lost it for good, or never were. */
  readonly unsettled: readonly string[];
}

const WORKSPACES = 4;
/** Paths of the repository: so many deployments may each namespace have. */
const MOST_PATHS = 400;
/** What the names of namespaces of streams begin with. */
export const STREAM = "stream-";
const REPOSITORY = "stream";
/** A repository, and the one deployment of it: what is pushed to. */
const PUSHED = "pushed";

/**
 * Begins to create `perSecond` deployments a second in namespaces of its own, each of a ConfigMap of its own, and to push once a second. Watches what their users read.
 */
export async function beginStream(
  cluster: ChartCluster,
  { name: streamName, perSecond }: { readonly name: string; readonly perSecond: number },
  signal: AbortSignal,
): Promise<UserStream> {
  const namespaces = Array.from({ length: WORKSPACES }, (_, index) => `${STREAM}${streamName}-${index}`);
  const { api, git } = cluster;
  const kube = api.client;
  const refused: string[] = [];
  const created: string[] = [];
  let pushes = 0;
  const pushed = { namespace: namespaces[0] ?? "", name: PUSHED };
  const push = async (): Promise<string> => {
    const step = String(++pushes);
    const revision = await git.commit(PUSHED, { "app/config.yaml": configMapFile(PUSHED, { step }) }, "a push");
    await kube.mergePatch(TYPES.deployment, pushed, { metadata: { annotations: { "argosy.dev/refreshed-at": step } } }, signal);
    return revision;
  };
  // Two deployments of one namespace would quarrel about an object of one path.
  const pathOf = (index: number): string => `app-${Math.floor(index / WORKSPACES)}`;
  const paths = Array.from({ length: MOST_PATHS }, (_, index) => `app-${index}`);
  const files = Object.fromEntries(paths.map((path) => [`${path}/config.yaml`, configMapFile(path, {})]));
  const revision = await git.createRepository(REPOSITORY, files);
  await git.createRepository(PUSHED, { "app/config.yaml": configMapFile(PUSHED, {}) });
  for (const name of namespaces)
    await kube.apply(TYPES.namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name } }, { fieldManager: "user" }, signal);
  const create = async (
    metadata: { readonly namespace: string; readonly name: string },
    repository: string,
    path: string,
  ): Promise<void> => {
    const { namespace, name } = metadata;
    const spec = { source: { repoURL: git.repositoryUrl(repository), path, targetRevision: "main" }, type: "automated" };
    const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeployment", metadata, spec };
    try {
      await kube.apply(TYPES.deployment, resource, { fieldManager: "user" }, signal);
      created.push(`${namespace}/${name}`);
    } catch (error) {
      refused.push(`creating ${namespace}/${name}: ${String(error)}`);
    }
  };
  const seen = await watchStatuses(cluster, signal);
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const every = async (pauseMs: number, work: (index: number) => Promise<unknown>): Promise<void> => {
    for (let index = 0; !until.aborted; index += 1) {
      const began = performance.now();
      await work(index);
      await sleep(Math.max(0, pauseMs - (performance.now() - began)), undefined, { signal: until }).catch(() => undefined);
    }
  };
  await create(pushed, PUSHED, "app");
  const running = [
    every(1000 / perSecond, (index) =>
      create({ namespace: namespaces[index % WORKSPACES] ?? "", name: `app-${index}` }, REPOSITORY, pathOf(index)),
    ),
    every(1000, () => push().catch((error: unknown) => refused.push(`pushing: ${String(error)}`))),
  ];
  const stop = async (): Promise<void> => {
    ending.abort();
    await Promise.all(running);
  };
  return {
    created: () => created,
    stop,
    async settle(timeoutMs) {
      await stop();
      const last = await push();
      const giveUpAt = performance.now() + timeoutMs;
      const isSettled = (name: string) => seen.isSettled(name, name.endsWith(`/${PUSHED}`) ? last : revision);
      const unsettled = (): readonly string[] => created.filter((name) => !isSettled(name));
      while (unsettled().length > 0 && performance.now() < giveUpAt) await sleep(500, undefined, { signal });
      const result = { ...seen.worst(), refused, unsettled: unsettled() };
      await seen.close();
      return result;
    },
  };
}

interface StatusesSeen {
  isSettled(name: string, revision: string): boolean;
  worst(): Pick<StreamSeen, "longestWorseMs" | "worst">;
  close(): Promise<void>;
}

/**
 * Watches every deployment from its first Synced and Healthy on. Worse is a state that no push explains: an error, or a status that is gone. Out of
 * sync and progressing are what a push brings. That the Git server gave no answer in time is the doing of a machine that is full: it runs here.
 */
async function watchStatuses({ api }: ChartCluster, signal: AbortSignal): Promise<StatusesSeen> {
  const settled = new Map<string, string>();
  const worseSince = new Map<string, number>();
  /** What Argo CD complained of last, by `namespace/name` of the deployment. */
  const saidOf = new Map<string, string>();
  let longest = { longestWorseMs: 0, worst: "" };
  const end = (name: string): void => {
    const since = worseSince.get(name);
    worseSince.delete(name);
    if (since === undefined || performance.now() - since <= longest.longestWorseMs) return;
    longest = { longestWorseMs: performance.now() - since, worst: `${name}: ${saidOf.get(name) ?? "Argo CD said nothing"}` };
  };
  const nameOf = ({ namespace, name }: { readonly namespace?: string; readonly name: string }): string => `${namespace}/${name}`;
  const note = (name: string, status: DeploymentResource["status"]): void => {
    const state = stateOf(status);
    if (state === "settled") settled.set(name, status?.sync?.revision ?? "");
    if (state !== "worse") end(name);
    else if (settled.has(name) && !worseSince.has(name)) worseSince.set(name, performance.now());
  };
  const reflected = await reflect<DeploymentResource & KubeObject>({ kube: api.client, signal }, { type: TYPES.deployment }, (change) => {
    if (change.kind === "delete") settled.delete(nameOf(change.at));
    else note(nameOf(change.now.metadata), change.now.status);
  });
  const applications = await reflect<ApplicationResource>({ kube: api.client, signal }, { type: TYPES.application }, (change) => {
    if (change.kind === "delete") return;
    const said = complaintOf(change.now);
    if (said !== undefined) saidOf.set(deploymentOf(change.now), said);
  });
  return {
    isSettled: (name, revision) => settled.get(name) === revision && !worseSince.has(name),
    worst() {
      for (const name of [...worseSince.keys()]) end(name);
      return longest;
    },
    async close() {
      await reflected.close();
      await applications.close();
    },
  };
}

/** As Argo CD words it. */
const NO_ANSWER_FROM_GIT =
  /\b(?:failed to list refs|git fetch)\b.*\b(?:Client\.Timeout exceeded|context deadline exceeded|i\/o timeout|failed timeout after)\b/s;

function stateOf(status: DeploymentResource["status"]): "settled" | "fine" | "worse" {
  const [sync = "", health = ""] = [status?.sync?.status, status?.health?.status];
  if (sync === "Synced" && health === "Healthy") return "settled";
  if ((status?.conditions ?? []).some(({ status: holds, message }) => holds !== "False" && NO_ANSWER_FROM_GIT.test(message ?? "")))
    return "fine";
  return ["Synced", "OutOfSync"].includes(sync) && ["Healthy", "Progressing"].includes(health) ? "fine" : "worse";
}

interface ApplicationResource extends KubeObject {
  readonly spec: { readonly destination: { readonly namespace: string } };
  readonly status?: DeploymentResource["status"];
}

/** `namespace/name` of the deployment of an Application: its own name is both, and a hash. */
function deploymentOf({ metadata, spec }: ApplicationResource): string {
  const { namespace } = spec.destination;
  return `${namespace}/${metadata.name.slice(namespace.length + 1).replace(/-[0-9a-f]{16}$/, "")}`;
}

/** What an Application says that is worse than a push explains. */
function complaintOf({ status }: ApplicationResource): string | undefined {
  if (stateOf(status) !== "worse") return undefined;
  const conditions = (status?.conditions ?? []).map(({ type, message }) => `${type}: ${message}`);
  return [`${status?.sync?.status}, ${status?.health?.status}`, ...conditions].join("; ");
}
