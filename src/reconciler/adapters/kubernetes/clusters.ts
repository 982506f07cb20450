import type { Clock } from "../../../domain/clock.ts";
import { LABEL_MANAGED_BY, MANAGED_BY } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { readNamespace } from "../../../runtime/kube/namespaces.ts";
import type { OwnNamespaces } from "../../../shard/application-placement.ts";
import { parseEntry } from "../../../shard/entry-token.ts";
import type { ObjectChange } from "../../../shard/managed-object.ts";
import { isUnanswered } from "../../../shard/nudge.ts";
import { type ObservedApplication, parseApplication } from "../../../shard/parse-application.ts";
import { parseObject } from "../../../shard/parse-object.ts";
import { parseBinding, parseRole } from "../../../shard/parse-rights.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import type { ApiCluster, EngineShard, Engines } from "../../port.ts";
import { createAccountTokens } from "./account-tokens.ts";
import { createDeployerRole, createReaderRole } from "./deployer-role.ts";
import { createHeldObjects } from "./held-objects.ts";
import type { WatchedObjects } from "./managed-objects.ts";
import { createManagedObjects } from "./managed-objects.ts";
import { APPLICATIONS, CLUSTER_ROLE_BINDINGS, ENGINE_SECRETS, PROJECTS, ROLE_BINDINGS, ROLE_OBJECTS, SERVICE_ACCOUNTS } from "./types.ts";

export interface ClusterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Something that watches a cluster from `start` until the signal given there aborts. */
export interface Watching {
  start(signal: AbortSignal): void;
  stopped(): Promise<void>;
}

const OURS = `${LABEL_MANAGED_BY}=${MANAGED_BY}`;

/** The content of all instances on one engine cluster. */
export function createEngineShard(options: ClusterOptions): EngineShard & Watching {
  const common = { ...options, labelSelector: OURS };
  const applications = createManagedObjects({ ...common, type: APPLICATIONS, parse: parseApplication, isChosen: isUnanswered });
  const projects = createManagedObjects({ ...common, type: PROJECTS, parse: (raw) => parseObject("project", raw) });
  // Other Secrets of ours stand in the same namespaces; they are none of a shard's content.
  const secretsOf = (type: "cluster" | "repository") => ({
    ...common,
    labelSelector: `${OURS},argocd.argoproj.io/secret-type=${type}`,
    type: ENGINE_SECRETS,
  });
  const entries = createManagedObjects({ ...secretsOf("cluster"), parse: parseEntry });
  const repositories = createManagedObjects({ ...secretsOf("repository"), parse: (raw) => parseObject("repository", raw) });
  const parts = { applications, projects, entries, repositories };
  const { onReturn, listChosen: listUnanswered } = applications;
  return { cluster: options.client.cluster, ...parts, ...together(Object.values(parts)), onReturn, listUnanswered };
}

/** What instances may do on the API cluster. */
export function createApiCluster(options: ClusterOptions & { readonly namespaces: OwnNamespaces }): ApiCluster & Watching {
  const { client } = options;
  const common = { ...options, labelSelector: OURS };
  const accounts = { ...common, namespace: options.namespaces.accounts };
  const parts = {
    accounts: createManagedObjects({ ...accounts, type: SERVICE_ACCOUNTS, parse: (raw) => parseObject("account", raw) }),
    roles: createManagedObjects({ ...accounts, type: ROLE_OBJECTS, parse: parseRole }),
    bindings: createManagedObjects({ ...common, type: ROLE_BINDINGS, parse: parseBinding }),
    readers: createManagedObjects({ ...common, type: CLUSTER_ROLE_BINDINGS, parse: (raw) => parseObject("reader", raw) }),
  };
  const deployer = createDeployerRole(client);
  const held = createHeldObjects({ client, accountsNamespace: options.namespaces.accounts, discover: deployer.discover });
  const readNamespaceUid: ApiCluster["readNamespaceUid"] = async (name, signal) => (await readNamespace(client, name, signal))?.uid;
  const tokens = createAccountTokens(options);
  const own = { tokens, deployer, reader: createReaderRole(client), held, readNamespaceUid };
  return { cluster: client.cluster, ...parts, ...own, ...together(Object.values(parts)) };
}

type Lifecycle = Pick<WatchedObjects<never>, "start" | "isSynced" | "synced" | "stopped">;

function together(parts: readonly Lifecycle[]): Lifecycle {
  return {
    start: (signal) => parts.forEach((part) => part.start(signal)),
    isSynced: () => parts.every((part) => part.isSynced()),
    synced: async (signal) => void (await Promise.all(parts.map((part) => part.synced(signal)))),
    stopped: async () => void (await Promise.all(parts.map((part) => part.stopped()))),
  };
}

interface EnginesOptions extends Omit<ClusterOptions, "client"> {
  /** A client of the engine cluster of that name; `undefined` for one that is not declared or whose credentials are not there. */
  readonly clientOf: (cluster: string) => Promise<KubeClient | undefined>;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

/** What is reported of Applications, beside the clusters themselves. */
export interface WatchedEngines extends Engines {
  /** Whether that cluster is watched, and was listed completely. */
  isHeard(cluster: string): boolean;
  /** Calls `listener` with what others change of Applications on every cluster that is watched. Returned: the end of it. */
  onApplication(listener: (change: ObjectChange<ObservedApplication>) => void): () => void;
}

/** Watches each engine cluster from the first time it is asked for. */
export function createEngines(options: EnginesOptions): WatchedEngines {
  const known = new Map<string, Promise<EngineShard | undefined>>();
  const watched = new Map<string, EngineShard>();
  const listeners = new Set<(change: ObjectChange<ObservedApplication>) => void>();
  const open = async (cluster: string): Promise<EngineShard | undefined> => {
    const client = await options.clientOf(cluster);
    if (client === undefined) return undefined;
    const engine = createEngineShard({ ...options, client, rng: options.rng.fork(cluster) });
    engine.start(options.signal);
    engine.applications.subscribe((change) => listeners.forEach((listener) => listener(change)));
    watched.set(cluster, engine);
    return engine;
  };
  return {
    async get(cluster) {
      const opening = known.get(cluster) ?? open(cluster);
      known.set(cluster, opening);
      try {
        const engine = await opening;
        if (engine === undefined) known.delete(cluster);
        return engine;
      } catch (error) {
        known.delete(cluster);
        throw error;
      }
    },
    isHeard: (cluster) => watched.get(cluster)?.isSynced() === true,
    onApplication(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
