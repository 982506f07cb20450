import type { Clock, Millis } from "../../../src/domain/clock.ts";
import { UnavailableError } from "../../../src/domain/errors.ts";
import type { Rng } from "../../../src/domain/rng.ts";
import { createKeyedQueue } from "../../../src/runtime/keyed-queue.ts";
import type { KubeClient } from "../../../src/runtime/kube/client.ts";
import { NAMESPACES } from "../../../src/runtime/kube/namespaces.ts";
import { createReflector } from "../../../src/runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../../src/runtime/kube/resource.ts";
import { abandonable } from "../../../src/runtime/kube/signals.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import type { Metrics } from "../../../src/telemetry/metrics.ts";
import { podType } from "../process-node/pod.ts";
import { type AddressRange, parseAddress, parseCidr, rangeOf } from "./addresses.ts";
import { parseNamespace, parsePod, policyType } from "./cluster-objects.ts";
import type { PolicyTable } from "./nft.ts";
import { type ClusterState, type NodeSettings, planRules } from "./plan-rules.ts";
import { type Problem, parsePolicy } from "./policy.ts";
import { wrong } from "./read-fields.ts";
import { renderRules } from "./render-rules.ts";

/** Keeps the rules of one network namespace equal to what the NetworkPolicies of a cluster mean for it. */
export interface PolicyEnforcer {
  /**
   * Enforces until the signal aborts or `stop` is called. Resolves once the policies of now are in force: until then pods can connect to
   * nothing, if their ranges are given. Rejects with the signal's reason, or `UnavailableError` if it is stopped before.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Ends all work. The rules stay in force as they were last: they go with the namespace, or with `nft delete table inet argosy_policies`. */
  stop(): Promise<void>;
  status(): EnforcerStatus;
}

export interface EnforcerStatus {
  /** Whether the rules in force are those of the objects that are known. */
  readonly isCurrent: boolean;
  readonly policies: number;
  /** Pods with an address of their own. */
  readonly pods: number;
  readonly lastLoadAt: Millis | undefined;
  /** Why the rules are not in force, if the last attempt failed. */
  readonly lastError: { readonly at: Millis; readonly message: string } | undefined;
  /** What is not enforced as its author means it, sorted by kind, namespace and name. */
  readonly problems: readonly Problem[];
}

export interface PolicyEnforcerOptions {
  readonly client: KubeClient;
  readonly table: PolicyTable;
  /** CIDRs from which this node's pods get their addresses. An address of them that no known pod has is closed, so a new pod is never open. */
  readonly podRanges: readonly string[];
  /** Addresses and CIDRs that may connect to pods as the node itself may. */
  readonly trustedSources?: readonly string[];
  /** How often to see whether somebody has removed the rules, in ms; default 10,000. */
  readonly recheckMs?: number;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** At least so long between the beginnings of two loads, in ms. A change after a quiet time is loaded at once. */
const LOAD_INTERVAL_MS = 250;
const RECHECK_MS = 10_000;
const BACKOFF = { minMs: 500, maxMs: 10_000 };
const KEY = "rules";

/** Throws `InputError` for a range or a source that is no address. */
export function createPolicyEnforcer(options: PolicyEnforcerOptions): PolicyEnforcer {
  const { table, clock, log } = options;
  const settings: NodeSettings = {
    podRanges: readRanges(options.podRanges, "podRanges"),
    trustedSources: readRanges(options.trustedSources ?? [], "trustedSources"),
  };
  const life = new AbortController();
  const firstLoad = Promise.withResolvers<void>();
  // Nobody has to be waiting for it when it is rejected.
  firstLoad.promise.catch(() => undefined);
  const watches = createWatches(options, () => requestLoad());
  let loaded: { readonly script: string; readonly at: Millis } | undefined;
  let lastError: EnforcerStatus["lastError"];
  let problems: readonly Problem[] = [];
  let triedAtMs = Number.NEGATIVE_INFINITY;

  const queue = createKeyedQueue({
    ...{ name: "network-policies", concurrency: 1, backoff: BACKOFF, clock, rng: options.rng, log, metrics: options.metrics },
    work: async (_key, signal) => {
      triedAtMs = clock.monotonicMs();
      try {
        await (watches.areSynced() ? bringUpToDate(signal) : closeUnlessLoaded(signal));
        lastError = undefined;
      } catch (error) {
        lastError = { at: clock.now(), message: error instanceof Error ? error.message : String(error) };
        throw error;
      }
      return { requeueAfterMs: options.recheckMs ?? RECHECK_MS };
    },
  });

  function requestLoad(): void {
    queue.add(KEY, { afterMs: Math.max(0, triedAtMs + LOAD_INTERVAL_MS - clock.monotonicMs()) });
  }

  async function bringUpToDate(signal: AbortSignal): Promise<void> {
    const plan = planRules(watches.state(), settings);
    report(plan.problems);
    const script = renderRules(plan.rules);
    if (script !== loaded?.script || !(await isStillThere(signal))) {
      await table.load(script, signal);
      loaded = { script, at: clock.now() };
      log.debug({ policies: watches.state().policies.length, pods: plan.rules.pods.length }, "Enforcing network policies");
    }
    firstLoad.resolve();
  }

  async function isStillThere(signal: AbortSignal): Promise<boolean> {
    const isThere = await table.isLoaded(signal);
    if (!isThere) log.warn({}, "Loading the rules of network policies again, which somebody has removed");
    return isThere;
  }

  function report(found: readonly Problem[]): void {
    const known = new Set(problems.map((problem) => JSON.stringify(problem)));
    for (const problem of found)
      if (!known.has(JSON.stringify(problem))) log.warn({ ...problem }, "Enforcing less than an object says, or closing what it is about");
    problems = found;
  }

  /** Rules that an earlier enforcer left are better than none, and than closing pods that run. */
  async function closeUnlessLoaded(signal: AbortSignal): Promise<void> {
    if (settings.podRanges.length === 0 || (await table.isLoaded(signal))) return;
    await table.load(renderRules(planRules(NOTHING_KNOWN, settings).rules), signal);
  }

  async function stop(): Promise<void> {
    life.abort();
    firstLoad.reject(new UnavailableError("Waiting for the first load of network policies", { code: "dev.enforcer-stopped" }));
    await Promise.all([queue.stop(), watches.stopped()]);
  }

  return {
    async start(signal) {
      signal.addEventListener("abort", () => void stop(), { once: true });
      signal.throwIfAborted();
      queue.start();
      requestLoad();
      watches.start(life.signal);
      await watches.synced(signal);
      requestLoad();
      await abandonable(firstLoad.promise, signal);
    },
    stop,
    status() {
      const state = watches.state();
      return {
        isCurrent: lastError === undefined && loaded?.script === renderRules(planRules(state, settings).rules),
        policies: state.policies.length,
        pods: state.pods.filter(({ addresses }) => addresses.length > 0).length,
        lastLoadAt: loaded?.at,
        lastError,
        problems,
      };
    },
  };
}

const NOTHING_KNOWN: ClusterState = { policies: [], pods: [], namespaces: [] };

/** The three kinds of objects that decide who may connect to whom. */
function createWatches({ client, clock, rng, log, metrics }: PolicyEnforcerOptions, onChange: () => void) {
  const watch = <T>(type: ResourceType, project: (object: KubeObject) => T) =>
    createReflector<T>({ client, type, clock, rng, log, metrics, project, onChange });
  const policies = watch(policyType, (object) => parsePolicy(object));
  const pods = watch(podType, parsePod);
  const namespaces = watch(NAMESPACES, parseNamespace);
  const all = [policies, pods, namespaces];
  let isStarted = false;
  return {
    start(signal: AbortSignal) {
      isStarted = true;
      for (const each of all) each.start(signal);
    },
    areSynced: () => all.every((each) => each.isSynced()),
    synced: (signal: AbortSignal) => Promise.all(all.map((each) => each.synced(signal))),
    stopped: () => Promise.all(isStarted ? all.map((each) => each.stopped()) : []),
    state: (): ClusterState => ({ policies: policies.list(), pods: pods.list(), namespaces: namespaces.list() }),
  };
}

function readRanges(texts: readonly string[], option: string): readonly AddressRange[] {
  return texts.map((text, at) => {
    const address = parseAddress(text);
    const range = address === undefined ? parseCidr(text) : rangeOf(address);
    if (range === undefined) throw wrong(`${option}[${at}]`, `is ${JSON.stringify(text)}`, "write an address or a CIDR");
    return range;
  });
}
