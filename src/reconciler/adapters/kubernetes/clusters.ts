import type { Clock } from "../../../domain/clock.ts";
import type { InstancePlace } from "../../../domain/instance.ts";
import { LABEL_MANAGED_BY, MANAGED_BY } from "../../../domain/names.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { readNamespace } from "../../../runtime/kube/namespaces.ts";
import { every } from "../../../runtime/timer/every.ts";
import type { OwnNamespaces } from "../../../shard/application-placement.ts";
import { parseEntry } from "../../../shard/entry-token.ts";
import type { ObjectChange } from "../../../shard/managed-object.ts";
import { isUnanswered } from "../../../shard/nudge.ts";
import { holderOf, type ObservedApplication, parseApplication, unitOf } from "../../../shard/parse-application.ts";
import { parseObject } from "../../../shard/parse-object.ts";
import { parseBinding, parseRole } from "../../../shard/parse-rights.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { placeKey } from "../../keys.ts";
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

/** Group of the Applications that wait for Argo CD to do something. */
const UNANSWERED = "unanswered";
const waitsForArgoCd = (application: ObservedApplication): string | undefined => (isUnanswered(application) ? UNANSWERED : undefined);

/** The content of the instance that has this namespace of the engine cluster. */
function createEngineShard(options: ClusterOptions & { readonly namespace: string }): EngineShard & Watching {
  const common = { ...options, labelSelector: OURS };
  const applications = createManagedObjects({ ...common, type: APPLICATIONS, parse: parseApplication, groupOf: waitsForArgoCd });
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
  const { onReturn } = applications;
  const listUnanswered = () => applications.listGroup(UNANSWERED);
  return { cluster: options.client.cluster, ...parts, ...together(Object.values(parts)), onReturn, listUnanswered };
}

/** What instances may do on the API cluster. */
export function createApiCluster(options: ClusterOptions & { readonly namespaces: OwnNamespaces }): ApiCluster & Watching {
  const { client } = options;
  const common = { ...options, labelSelector: OURS };
  const accounts = { ...common, namespace: options.namespaces.accounts };
  const parts = {
    accounts: createManagedObjects({ ...accounts, type: SERVICE_ACCOUNTS, parse: (raw) => parseObject("account", raw), groupOf: holderOf }),
    roles: createManagedObjects({ ...accounts, type: ROLE_OBJECTS, parse: parseRole }),
    bindings: createManagedObjects({ ...common, type: ROLE_BINDINGS, parse: parseBinding, groupOf: unitOf }),
    readers: createManagedObjects({ ...common, type: CLUSTER_ROLE_BINDINGS, parse: (raw) => parseObject("reader", raw) }),
  };
  const deployer = createDeployerRole(client);
  const held = createHeldObjects({ client, accountsNamespace: options.namespaces.accounts, discover: deployer.discover });
  const readNamespaceUid: ApiCluster["readNamespaceUid"] = async (name, signal) => (await readNamespace(client, name, signal))?.uid;
  const tokens = createAccountTokens(options);
  const groups = { accountsOf: parts.accounts.listGroup, bindingsOf: parts.bindings.listGroup };
  const own = { ...groups, tokens, deployer, reader: createReaderRole(client), held, readNamespaceUid };
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

/** What is reported of Applications, beside the content of instances itself. */
export interface WatchedEngines extends Engines {
  /** Whether what stands there is watched, and was listed completely. Asking for a place that is not watched begins to watch it. */
  isHeard(place: InstancePlace): boolean;
  /** Calls `listener` with what others change of Applications wherever they are watched. Returned: the end of it. */
  onApplication(listener: (change: ObjectChange<ObservedApplication>) => void): () => void;
}

interface Opened {
  readonly place: InstancePlace;
  readonly opening: Promise<EngineShard | undefined>;
  /** Ends its watches. */
  readonly end: AbortController;
  shard: EngineShard | undefined;
  client: KubeClient | undefined;
  /** When somebody asked for it last, on the clock that only grows. */
  askedAtMs: number;
}

/**
 * How long the content of an instance stays watched that nobody asks for and nobody retains, in ms. The steps of a move are seconds apart. Processes
 * that start together each believe for a moment that all instances are theirs: for so long each of them holds the whole fleet in memory.
 */
const UNASKED_MS = 60_000;
/** How often watches that nobody needs are ended, and those begun anew whose cluster is entered by another client now, in ms. */
const REVIEW_EVERY_MS = 30_000;

/** Watches the content of each instance from the first time it is asked for. */
export function createEngines(options: EnginesOptions): WatchedEngines {
  const { clock, signal } = options;
  const opened = new Map<string, Opened>();
  const listeners = new Set<(change: ObjectChange<ObservedApplication>) => void>();
  let retained: ReadonlySet<string> = new Set();

  const open = (place: InstancePlace): Opened => {
    const key = placeKey(place);
    const end = new AbortController();
    const start = async (): Promise<EngineShard | undefined> => {
      const client = await options.clientOf(place.engineCluster);
      if (client === undefined) return undefined;
      const shard = createEngineShard({ ...options, client, namespace: place.namespace, rng: options.rng.fork(key) });
      shard.start(AbortSignal.any([signal, end.signal]));
      shard.applications.subscribe((change) => listeners.forEach((listener) => listener(change)));
      one.client = client;
      return shard;
    };
    const one: Opened = { place, opening: start(), end, shard: undefined, client: undefined, askedAtMs: clock.monotonicMs() };
    opened.set(key, one);
    return one;
  };

  const close = (one: Opened, why: string): void => {
    const key = placeKey(one.place);
    if (opened.get(key) === one) opened.delete(key);
    one.end.abort(new Error(why));
  };

  const get = async (place: InstancePlace): Promise<EngineShard | undefined> => {
    const one = opened.get(placeKey(place)) ?? open(place);
    one.askedAtMs = clock.monotonicMs();
    try {
      one.shard = await one.opening;
    } catch (error) {
      close(one, "its engine cluster could not be found");
      throw error;
    }
    if (one.shard === undefined) close(one, "its engine cluster is not there");
    return one.shard;
  };

  /** A client that was replaced has credentials which may be worth nothing any more. One that is not to be had now says nothing against the old one. */
  const review = async (one: Opened): Promise<void> => {
    const isNeeded = retained.has(placeKey(one.place)) || clock.monotonicMs() - one.askedAtMs < UNASKED_MS;
    if (!isNeeded) return close(one, "nobody asks for this instance's content any more");
    if (one.client === undefined) return;
    const client = await options.clientOf(one.place.engineCluster).catch(() => undefined);
    if (client !== undefined && client !== one.client) close(one, "its engine cluster is entered by another client now");
  };
  every({ ...options, ms: REVIEW_EVERY_MS, run: () => [...opened.values()].forEach((one) => void review(one)) }, signal);

  return {
    get,
    retain(places) {
      retained = new Set(places.map(placeKey));
    },
    isHeard(place) {
      // Whoever asks goes on without it meanwhile, and asks again.
      void get(place).catch(() => undefined);
      return opened.get(placeKey(place))?.shard?.isSynced() === true;
    },
    onApplication(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
