import { APPLICATIONS, ENGINE_SECRETS, PROJECTS } from "../../../reconciler/adapters/kubernetes/types.ts";
import { createKeyedQueue, type KeyedQueue } from "../../../runtime/keyed-queue.ts";
import { createReflector } from "../../../runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import type { Party } from "../../world/party.ts";
import { type EngineApplication, isPaused, type Project } from "./application.ts";
import { createClusterCache } from "./cluster-cache.ts";
import { finalize } from "./finalize.ts";
import { operate } from "./operate.ts";
import type { Engine } from "./parts.ts";
import { refresh } from "./refresh.ts";

interface EngineOptions extends Pick<Engine, "party" | "namespace" | "own" | "managed" | "git"> {
  /** Default: a warm cache and small folders. */
  readonly comparisonMs?: Engine["comparisonMs"];
  /** A webhook notifies it of pushes. Default: it finds them by itself, within its resync of two to three minutes. */
  readonly hasWebhook?: boolean;
}

/** As in pools by default. */
const STATUS_PROCESSORS = 20;
const OPERATION_PROCESSORS = 10;
/** How long rendering and comparing takes, in ms: from, to. */
const QUICK: Engine["comparisonMs"] = [0, 150];

/** Starts the controller: its informers, and its two queues with their workers. It ends with its party. */
export function startEngine(options: EngineOptions): void {
  const { party, namespace, own } = options;
  const watch = <T extends KubeObject>(type: ResourceType, onChange: (object: T | undefined) => void, labelSelector?: string) => {
    const reflector = createReflector<T>({
      ...{ client: own, type, namespace, clock: party.clock, rng: party.rng.fork(type.plural), log: silentLog, metrics: noMetrics },
      ...(labelSelector === undefined ? {} : { labelSelector }),
      project: (raw) => raw as T,
      onChange: (change) => onChange(change.kind === "upsert" ? change.now : undefined),
    });
    reflector.start(party.signal);
    return reflector;
  };

  // The pause is checked only here, when events become keys: what is queued already goes on.
  const applications = watch<EngineApplication>(APPLICATIONS, (application) => {
    if (application === undefined || isPaused(application)) return;
    engine.requestRefresh(application.metadata.name);
    engine.requestOperation(application.metadata.name);
  });
  const projects = watch<Project>(PROJECTS, (project) => {
    for (const { spec, metadata } of applications.list()) if (spec.project === project?.metadata.name) engine.requestRefresh(metadata.name);
  });
  const entries = watch<KubeObject & { readonly data?: { readonly server?: string } }>(
    ENGINE_SECRETS,
    () => {
      engine.cache.start();
      for (const { metadata } of applications.list()) engine.requestRefresh(metadata.name);
    },
    "argocd.argoproj.io/secret-type=cluster",
  );

  const resyncs = new Map<string, () => void>();
  const engine: Engine = {
    comparisonMs: QUICK,
    ...options,
    signal: party.signal,
    cache: createClusterCache(party, options.managed, (name) => {
      const application = applications.get({ namespace, name });
      if (application === undefined || isPaused(application)) return;
      engine.requestRefresh(name);
      engine.requestOperation(name);
    }),
    application: (name) => applications.get({ namespace, name }),
    project: (name) => projects.get({ namespace, name }),
    knowsServer: (server) => entries.list().some(({ data }) => Buffer.from(data?.server ?? "", "base64").toString() === server),
    requestRefresh: (name, afterMs = 0) => refreshes.add(name, { afterMs }),
    resync(name, afterMs) {
      resyncs.get(name)?.();
      const due = (): void => {
        const application = applications.get({ namespace, name });
        if (application !== undefined && !isPaused(application)) engine.requestRefresh(name);
      };
      resyncs.set(name, party.clock.after(afterMs, due));
    },
    requestOperation: (name, afterMs = 0) => operations.add(name, { afterMs }),
  };
  const refreshes = queue(party, "refresh", STATUS_PROCESSORS, (name) => refresh(engine, name));
  const operations = queue(party, "operation", OPERATION_PROCESSORS, async (name) => {
    // As in Argo CD: the informer's copy decides whether there is anything to do, a fresh read decides what is done.
    const known = engine.application(name);
    if (known?.operation !== undefined) await operate(engine, name);
    if (known?.metadata.deletionTimestamp !== undefined) await finalize(engine, name);
  });
  // Work begins only once applications, projects and clusters are listed: a cluster that is not known yet is not one that is gone.
  const informers = [applications, projects, entries];
  const onSynced = (): void => [refreshes, operations].forEach((each) => each.start());
  // Rejects only when the world is over.
  Promise.all(informers.map((each) => each.synced(party.signal))).then(onSynced, () => undefined);
  if (options.hasWebhook !== true) return;
  const onPush = (path: string): void => {
    for (const each of applications.list())
      if (each.spec.source.path === path && !isPaused(each)) engine.requestRefresh(each.metadata.name);
  };
  party.onEnd(options.git.onPush((path) => party.reach("a webhook", () => onPush(path))));
}

/** As Argo CD's work queues: no key twice at once, back-off per key. */
function queue(party: Party, name: string, concurrency: number, work: (key: string) => Promise<void>): KeyedQueue {
  return createKeyedQueue({
    ...{ name, concurrency, work, clock: party.clock, rng: party.rng.fork(name), log: silentLog, metrics: noMetrics },
    backoff: { minMs: 500, maxMs: 30_000 },
  });
}
