import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../src/runtime/kube/resource.ts";
import { configMapFile, TYPES, until } from "../world.ts";
import type { ChartCluster } from "./chart-cluster.ts";
import { type CommandInPod, commandInPod } from "./command-in-pod.ts";
import { type Pod, podsOf } from "./pods.ts";

const [TENANT, NEIGHBOUR] = ["video", "shop"] as const;
const PUSH_EVERY_MS = 2_000;
/** How long a push may take before it counts as lost, in ms. */
const LOST_MS = 4 * 60_000;
/** Each question of the command line starts a process in a pod, and the node has two busy cores: so long before it is asked again, in ms. */
const ASK_EVERY_MS = 2_000;

/** What the tenant does. */
export interface Attack {
  /** How many repositories it deploys from. */
  readonly repositories: number;
  /** What each has beside its manifest: text of random bytes, of which Git makes three quarters. */
  readonly bytes: number;
  /** Time between two of its pushes, in ms. A new commit makes Argo CD read a repository again that it has rendered before. */
  readonly everyMs: number;
}

export interface Instance {
  readonly name: string;
  readonly namespace: string;
  readonly state: string;
}
/** An entry of the journal. */
export interface Entry {
  readonly at: string;
  readonly verdict: string;
  readonly rule: string;
  readonly text: string;
}
/** Pushes of the neighbour. `lost`: how many were not deployed in time. `text`: how long they took, in words. */
export interface Pushes {
  readonly lost: number;
  readonly text: string;
}
interface Workspace {
  readonly namespace: string;
  readonly units: readonly { readonly instance: string | null }[];
}

/** A tenant with large repositories on a shared instance, and a neighbour who pushes. */
export interface AttackWorld {
  /** Makes the repositories and namespaces, and the neighbour's deployment. */
  prepare(): Promise<void>;
  /** Deploys the large repositories, and pushes to one after another until it is ended. */
  beginAttack(): Promise<{ end(): Promise<void> }>;
  /** Pushes of the neighbour, one after another, for so long. */
  pushFor(ms: number): Promise<Pushes>;
  /** The same until something has ended, well or not, and for so long at least. */
  pushUntil(over: Promise<unknown>, atLeastMs?: number): Promise<Pushes>;
  instances(): Promise<readonly Instance[]>;
  /** Names of the instances that the two live on. */
  holders(): Promise<{ readonly tenant: string | undefined; readonly neighbour: string | undefined }>;
  /** The repo-servers of an instance. */
  repoServers(instance: string | undefined): Promise<readonly Pod[]>;
  /** Those of them that have ended for good. */
  evicted(instance: string | undefined): Promise<readonly Pod[]>;
  /** What was decided about the health of instances, the latest first. */
  journal(): Promise<readonly Entry[]>;
  /** Waits until what the command line answers is so, for so long. */
  awaitAnswer<T>(what: string, read: () => Promise<T>, isReached: (value: T) => boolean, timeoutMs: number): Promise<T>;
}

export function openAttack(cluster: ChartCluster, { repositories, bytes, everyMs }: Attack, signal: AbortSignal): AttackWorld {
  const { git, api } = cluster;
  const large = Array.from({ length: repositories }, (_, index) => `large-${index}`);
  const { ask }: CommandInPod = commandInPod(() => cluster);
  const deploy = async (namespace: string, name: string): Promise<void> => {
    const spec = { source: { repoURL: git.repositoryUrl(name), path: "app", targetRevision: "main" }, type: "automated" };
    const resource = { apiVersion: "managed-gitops.redhat.com/v1alpha1", kind: "GitOpsDeployment", metadata: { namespace, name }, spec };
    await api.client.apply(TYPES.deployment, resource, { fieldManager: "user" }, signal);
  };
  const push = async (namespace: string, name: string, step: string): Promise<void> => {
    await git.commit(name, { "app/config.yaml": configMapFile(name, { push: step }) }, step);
    const annotations = { "argosy.dev/refreshed-at": step };
    await api.client.mergePatch(TYPES.deployment, { namespace, name }, { metadata: { annotations } }, signal);
  };
  const readDeployed = async (): Promise<string | undefined> => {
    const at = { namespace: NEIGHBOUR, name: NEIGHBOUR };
    const read = await api.client.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(TYPES.configMap, at, signal);
    return read?.data?.["push"];
  };
  let pushes = 0;
  const pushOnce = async (): Promise<number> => {
    pushes += 1;
    const [step, began] = [String(pushes), performance.now()];
    await push(NEIGHBOUR, NEIGHBOUR, step);
    const isOver = (seen: string | undefined): boolean => seen === step || performance.now() - began > LOST_MS;
    await until(`the neighbour's push ${step}`, readDeployed, isOver, 2 * LOST_MS);
    return performance.now() - began;
  };
  const pushUntil = async (over: Promise<unknown>, atLeastMs = 0): Promise<Pushes> => {
    const took: number[] = [];
    const endAt = performance.now() + atLeastMs;
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    over.then(end, end);
    do {
      took.push(await pushOnce());
      await sleep(PUSH_EVERY_MS, undefined, { signal });
    } while (!isOver || performance.now() < endAt);
    return pushesOf(took);
  };
  const instances = () => ask<readonly Instance[]>("get", "instances");
  const repoServers: AttackWorld["repoServers"] = async (name) => {
    const { namespace = "" } = (await instances()).find((one) => one.name === name) ?? {};
    return podsOf(cluster, { namespace, labels: "app.kubernetes.io/name=argocd-repo-server" }, signal);
  };
  return {
    async prepare() {
      for (const name of [TENANT, NEIGHBOUR])
        await api.client.apply(
          TYPES.namespace,
          { apiVersion: "v1", kind: "Namespace", metadata: { name } },
          { fieldManager: "user" },
          signal,
        );
      for (const name of large) {
        const data = randomBytes((bytes * 3) / 4).toString("base64");
        await git.createRepository(name, { "app/config.yaml": configMapFile(name, { push: "0" }), data });
        await git.pack(name);
      }
      await git.createRepository(NEIGHBOUR, { "app/config.yaml": configMapFile(NEIGHBOUR, { push: "0" }) });
      await deploy(NEIGHBOUR, NEIGHBOUR);
      await until("the neighbour's deployment", readDeployed, (seen) => seen === "0", 2 * LOST_MS);
    },
    async beginAttack() {
      for (const name of large) await deploy(TENANT, name);
      const ending = new AbortController();
      const running = (async () => {
        for (let step = 1; !ending.signal.aborted; step += 1) {
          await push(TENANT, large[step % large.length] ?? "", String(step));
          await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
        }
      })();
      return {
        async end() {
          ending.abort();
          await running;
        },
      };
    },
    pushFor: (ms) => pushUntil(Promise.resolve(), ms),
    pushUntil,
    instances,
    async holders() {
      const workspaces = await ask<readonly Workspace[]>("get", "workspaces");
      const of = (name: string) => workspaces.find(({ namespace }) => namespace === name)?.units[0]?.instance ?? undefined;
      return { tenant: of(TENANT), neighbour: of(NEIGHBOUR) };
    },
    repoServers,
    async evicted(name) {
      return (await repoServers(name)).filter(({ status }) => ["Failed", "Succeeded"].includes(status?.phase ?? ""));
    },
    journal: () => ask<readonly Entry[]>("journal", "--kind", "health", "--limit", "500"),
    awaitAnswer(what, read, isReached, timeoutMs) {
      const readLater = async () => {
        await sleep(ASK_EVERY_MS, undefined, { signal });
        return read();
      };
      return until(what, readLater, isReached, timeoutMs);
    },
  };
}

function pushesOf(took: readonly number[]): Pushes {
  const sorted = took.toSorted((a, b) => a - b);
  const lost = took.filter((ms) => ms > LOST_MS).length;
  const [median, slowest] = [sorted[Math.floor(took.length / 2)], sorted.at(-1)].map((ms = 0) => `${(ms / 1000).toFixed(1)} s`);
  return { lost, text: `${took.length} pushes, median ${median}, slowest ${slowest}, ${lost} lost` };
}
