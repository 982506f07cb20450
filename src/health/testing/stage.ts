import { type Clock, type Millis, millis } from "../../domain/clock.ts";
import type { Partition } from "../../domain/partition.ts";
import type { ProbedApplication, ProbedPod } from "../../domain/probed.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import type { Store } from "../../store/port.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { ACTIVE_CANARIES, PASSIVE_CANARY } from "../canaries.ts";
import { createHealth, type Health, type HealthDeps } from "../controller.ts";
import type { HealthPage } from "../parse-page.ts";
import type { EmptyInstance, FindProcesses, OpenNamespace, ProbedNamespace } from "../port.ts";

export const PERIOD_MS = 15_000;
export const RESTART_APART_MS = 300_000;
export const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };

/** A healthy pod without a memory limit. */
export function aProbedPod(over: Partial<ProbedPod> = {}): ProbedPod {
  return {
    component: "redis",
    name: "redis-1",
    restarts: 0,
    unreadySince: undefined,
    memoryLimit: undefined,
    killedAt: undefined,
    evicted: undefined,
    ...over,
  };
}

/** The page of a process that has done nothing yet. */
export function aHealthPage(over: Partial<HealthPage> = {}): HealthPage {
  return {
    ...{ counters: { startedAt: 5 }, git: new Map(), fetchSeconds: new Map(), fetchesBegun: new Map() },
    ...{ fetching: new Set(), pending: new Set() },
    ...over,
  };
}

/** One instance as its namespace and its processes show it. What is healthy answers at once. */
export interface Stage {
  redisFails: boolean;
  /** When its controller began, in s. */
  startedAt: number;
  /** Since when its controller has hung. */
  stoodSince: Millis | undefined;
  repoRefuses: boolean;
  canariesFail: boolean;
  /** Whether a restart helps: a deleted pod is replaced by one that works. */
  isMended: boolean;
  readonly asks: string[];
  /** How often each was listed. */
  readonly lists: { canaries: number; pods: number };
  readonly deleted: { readonly name: string; readonly at: Millis }[];
  ensured: number;
  removed: number;
}

interface Ways {
  readonly findProcesses: FindProcesses;
  readonly openNamespace: OpenNamespace;
}

/** Reading a page of metrics calls these, so that a test can make it fail. */
interface Reading {
  readController(): Promise<void>;
  readRepoServer(): Promise<void>;
}

export function createStage(clock: Clock) {
  const stage: Stage = {
    ...{ redisFails: false, startedAt: 5, stoodSince: undefined, repoRefuses: false, canariesFail: false, isMended: false },
    ...{ asks: [], lists: { canaries: 0, pods: 0 }, deleted: [], ensured: 0, removed: 0 },
  };
  let observations = 0;
  const controllerPage = (): readonly string[] => {
    observations += 1;
    const redis = stage.redisFails
      ? `argocd_redis_request_total{failed="true"} ${observations}`
      : `argocd_redis_request_total{failed="false"} ${observations * 100}`;
    return [`process_start_time_seconds ${stage.startedAt}`, `argocd_app_reconcile_count{dest_server="a"} ${observations * 50}`, redis];
  };
  const asked = new Map<string, Millis>();
  /** Compared when that was asked for, and one that nobody asks for all the time; nothing any more since its controller hangs. */
  const one = (name: string): ProbedApplication => {
    const reconciledAt = millis(Math.min(asked.get(name) ?? clock.now(), stage.stoodSince ?? Number.POSITIVE_INFINITY));
    return { name, awaitsObservation: false, isPaused: false, reconciledAt, hasError: stage.canariesFail };
  };
  const pods = [aProbedPod(), aProbedPod({ component: "controller", name: "controller-0" })];
  const namespace: ProbedNamespace = {
    ensureCanaries: async () => {
      stage.ensured += 1;
    },
    removeCanaries: async () => {
      stage.removed += 1;
    },
    askFor: async (name) => {
      const before = one(name);
      stage.asks.push(name);
      asked.set(name, clock.now());
      return before;
    },
    listCanaries: async () => {
      stage.lists.canaries += 1;
      return [...ACTIVE_CANARIES, PASSIVE_CANARY].map(one);
    },
    sampleApplications: async () => [],
    listPods: async () => {
      stage.lists.pods += 1;
      return pods;
    },
    deletePod: async (name) => {
      stage.deleted.push({ name, at: clock.now() });
      if (stage.isMended) stage.redisFails = false;
    },
  };
  const readNothing = async (): Promise<void> => undefined;

  /** The ports of the instance. `wrap` may make their calls fail. */
  const portsOf = (wrap: <T extends object>(port: T) => T = (port) => port): Ways => {
    const reading = wrap<Reading>({ readController: readNothing, readRepoServer: readNothing });
    const repoServer = () => linesOf(["process_start_time_seconds 5"], stage.repoRefuses ? refuse : reading.readRepoServer);
    const ways = wrap<Ways>({
      findProcesses: async () => ({
        controller: () => linesOf(controllerPage(), reading.readController),
        repoServers: new Map([["repo-1", repoServer]]),
      }),
      openNamespace: async () => wrap(namespace),
    });
    return { findProcesses: (...asked) => ways.findProcesses(...asked), openNamespace: (...asked) => ways.openNamespace(...asked) };
  };
  return { stage, portsOf };
}

/** A health controller with the periods of these tests: an overload counts after five minutes. */
export function openHealth(over: Pick<HealthDeps, "clock"> & Ways & { readonly store: Store } & Partial<HealthDeps>): Health {
  return createHealth({
    ...{ partition: EVERYTHING, rng: createSeededRng("health"), log: silentLog, metrics: noMetrics },
    ...{ periodMs: PERIOD_MS, graceMs: 0, overloadMs: 300_000, restartApartMs: RESTART_APART_MS, emptyAfter: 2 },
    empty: async () => undefined,
    placeElsewhere: async () => undefined,
    canary: { repository: "https://g/c.git", revision: "HEAD", path: "." },
    ...over,
  });
}

/** Orders the drain of an instance, as its row records it. */
export function sendAway(store: Pick<Store, "fleet">, clock: Clock): EmptyInstance {
  return async ({ id, revision, attempt }, reason, signal) => {
    const decision = { at: clock.now(), subject: id, kind: "instance", verdict: "DRAINING", rule: "COMMAND", details: {} } as const;
    await store.fleet.changeInstance(
      { id, revision, state: "DRAINING", reason, cause: undefined, attempt, failsOver: true, decision },
      signal,
    );
  };
}

async function* linesOf(lines: readonly string[], read: () => Promise<void>): AsyncIterable<string> {
  await read();
  yield* lines;
}

async function refuse(): Promise<never> {
  throw new Error("connection refused");
}
