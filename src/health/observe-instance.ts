import type { Clock, Millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { CanarySource, ProbedApplication, ProbedPod } from "../domain/probed.ts";
import type { Log } from "../telemetry/log.ts";
import { type AskedCanaries, nextCanary } from "./canaries.ts";
import { answeredBy, isSampleDue, namespaceSignals, nextAsked, type Sampled, sampledOf } from "./canary-signals.ts";
import { deriveSignals, keptProbes, type ProbeResult, type Workers } from "./derive-signals.ts";
import { type Ended, NOTHING_ENDED, nextEnded } from "./ended.ts";
import { evictionSignals } from "./eviction-signals.ts";
import { type Fetched, NOTHING_FETCHED, nextFetched } from "./fetched.ts";
import { memorySignals } from "./memory-signals.ts";
import { type HealthPage, parseHealthPage } from "./parse-page.ts";
import type { FindProcesses, OpenNamespace, ProbedNamespace, ProbedPlace } from "./port.ts";

export interface InstanceProbeDeps {
  readonly findProcesses: FindProcesses;
  readonly openNamespace: OpenNamespace;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What is remembered of an instance from one probe to the next. A process that has just started has no canaries for a
 * round and no rates for a minute.
 */
export interface ProbeMemory {
  readonly observations: readonly ProbeResult[];
  readonly fetched: Fetched;
  readonly ended: Ended;
  readonly asked: AskedCanaries;
  readonly errors: number;
  /** The latest list of the canaries, and of the pods. Absent: the latest one failed, or there was none. */
  readonly canaries: Listed<ProbedApplication> | undefined;
  readonly pods: (Listed<ProbedPod> & { readonly processes: string }) | undefined;
  /** The latest sample of the Applications that are no canaries. */
  readonly sampled: Sampled | undefined;
  /** When the canaries were last applied, or removed. */
  readonly ensuredAt: Millis | undefined;
}

/** What a list showed, and when. */
interface Listed<T> {
  readonly at: Millis;
  readonly items: readonly T[];
}

export interface ProbeRequest {
  readonly at: ProbedPlace;
  readonly workers: Workers;
  /** Absent: canaries are switched off. */
  readonly canary: CanarySource | undefined;
}

export const NO_MEMORY: ProbeMemory = {
  ...{
    observations: [],
    fetched: NOTHING_FETCHED,
    ended: NOTHING_ENDED,
    asked: new Map(),
    errors: 0,
    canaries: undefined,
    pods: undefined,
    sampled: undefined,
    ensuredAt: undefined,
  },
};

/**
 * Timeout of a page of metrics, in ms. A controller with thousands of applications answers in a second, or in four
 * when it is short of CPU (measured).
 */
const ANSWER_MS = 8_000;
/** Timeout of a request to the API server, in ms. Ample for a list of a few objects. */
const REQUEST_TIMEOUT_MS = 10_000;
const SAMPLED = 25;
const NOTHING_SAMPLED: Sampled = { newestAt: undefined, count: 0 };
/**
 * How often canaries are applied again, or removed where they are switched off, in ms. Anybody may have edited or
 * deleted one meanwhile.
 */
const ENSURE_MS = 300_000;
/** For how long lists of canaries and of pods are kept while nothing suggests that they have changed, in ms. */
const KEPT_MS = 60_000;
/** A canary that is compared this soon suggests nothing, in s. `reconciledAt` is rounded to whole seconds, so most take a second or a little more. */
const SOON_S = 1.5;

/**
 * Probes an instance once: requests a refresh of a canary, reads the metrics of its processes, then the objects in
 * its namespace. What cannot be read is absent from the signals.
 *
 * What is at rest is read less often. Applications that are no canaries are sampled again only once the former sample could suggest that the instance
 * compares nothing. Canaries are listed once a minute while the answer to each request shows that the former one of the same canary was carried out soon.
 * Pods are listed once a minute while all of them are well and the same processes answer.
 */
export async function observeInstance(
  deps: InstanceProbeDeps,
  request: ProbeRequest,
  memory: ProbeMemory,
  signal: AbortSignal,
): Promise<{ readonly signals: Signals; readonly memory: ProbeMemory }> {
  const { clock, log } = deps;
  const orNothing = async <T>(what: string, run: (limited: AbortSignal) => Promise<T>): Promise<T | undefined> => {
    try {
      return await run(AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]));
    } catch (error) {
      signal.throwIfAborted();
      log.debug({ error, namespace: request.at.namespace, what }, "Probing an instance");
      return undefined;
    }
  };
  const namespace = await orNothing("cluster", (limited) => deps.openNamespace(request.at, limited));
  const isDue = memory.ensuredAt === undefined || clock.now() - memory.ensuredAt > ENSURE_MS;
  const ensuredAt = isDue ? await orNothing("canaries", () => ensure(namespace, request, clock, signal)) : memory.ensuredAt;
  const mayAsk = ensuredAt !== undefined && request.canary !== undefined;
  const asking = mayAsk ? await orNothing("ask", () => ask(namespace, memory, clock, signal)) : undefined;
  const { asked, before: tookBefore } = asking ?? { asked: memory.asked, before: undefined };
  const processes = await orNothing("processes", (limited) => deps.findProcesses(request.at, limited));
  const probe = await readProcesses(processes, clock, signal);
  const seen = await readNamespace(namespace, { memory, tookBefore, processes: namesOf(probe), clock }, orNothing);
  const now = clock.now();
  const { sampled = NOTHING_SAMPLED } = seen;
  const [canaries, pods] = [seen.canaries?.items ?? [], seen.pods?.items ?? []];
  const areKept = seen.canaries !== undefined && seen.canaries === memory.canaries;
  const answered = areKept ? asked : nextAsked(asked, canaries, now);
  const isBroken = canaries.some(({ name, hasError }) => answered.get(name)?.tookS !== undefined && hasError);
  const errors = isBroken && !areKept ? memory.errors + 1 : 0;
  return {
    signals: {
      ...deriveSignals(memory.observations, probe, request.workers),
      ...namespaceSignals({ now, asked: answered, canaries, sampled, pods, errors }),
      ...(areKept && tookBefore !== undefined ? { canaryS: tookBefore } : {}),
      ...memorySignals(probe, pods, now),
      ...evictionSignals(pods, now),
    },
    memory: {
      observations: keptProbes(memory.observations, probe),
      ...nextTaken(memory, probe),
      ...{ asked: answered, errors, ensuredAt, sampled, canaries: seen.canaries, pods: seen.pods },
    },
  };
}

/** The objects in the namespace, read or kept. What cannot be read is absent. */
async function readNamespace(
  namespace: ProbedNamespace | undefined,
  {
    memory,
    tookBefore,
    processes,
    clock,
  }: {
    readonly memory: ProbeMemory;
    readonly tookBefore: number | undefined;
    readonly processes: string;
    readonly clock: Clock;
  },
  orNothing: <T>(what: string, run: (limited: AbortSignal) => Promise<T>) => Promise<T | undefined>,
): Promise<Partial<Pick<ProbeMemory, "canaries" | "sampled" | "pods">>> {
  if (namespace === undefined) return {};
  const now = clock.now();
  const [canaries, sampled, pods] = await Promise.all([
    keptCanaries(memory, tookBefore, now) ??
      orNothing("canaries", async (limited) => ({ items: await namespace.listCanaries(limited), at: clock.now() })),
    isSampleDue(memory.sampled, now)
      ? orNothing("applications", async (limited) => sampledOf(await namespace.sampleApplications(SAMPLED, limited)))
      : memory.sampled,
    keptPods(memory, processes, now) ??
      orNothing("pods", async (limited) => ({ items: await namespace.listPods(limited), at: clock.now(), processes })),
  ]);
  return { canaries, sampled, pods };
}

/** The canaries as they were listed last, where the answer to the latest request shows that they need not be listed again. */
function keptCanaries({ canaries }: ProbeMemory, tookBefore: number | undefined, now: Millis): ProbeMemory["canaries"] {
  const isRecent = canaries !== undefined && now - canaries.at < KEPT_MS;
  return isRecent && tookBefore !== undefined && tookBefore < SOON_S ? canaries : undefined;
}

/** The pods as they were listed last, where nothing was wrong with one of them then and the same processes answer. */
function keptPods({ pods }: ProbeMemory, processesNow: string, now: Millis): ProbeMemory["pods"] {
  if (pods === undefined || now - pods.at >= KEPT_MS || pods.processes !== processesNow) return undefined;
  const areWell = pods.items.every(
    ({ unreadySince, killedAt, evicted }) => unreadySince === undefined && killedAt === undefined && evicted === undefined,
  );
  return areWell ? pods : undefined;
}

/** Which processes answer, and since when each of them runs. One that was ended, and one that took its place, changes it. */
function namesOf({ controller, repoServers }: ProbeResult): string {
  const since = (page: HealthPage | undefined): number | undefined => page?.counters.startedAt;
  return JSON.stringify([since(controller) ?? null, [...repoServers].map(([pod, page]) => `${pod} ${since(page) ?? "silent"}`).toSorted()]);
}

/** Reads the repo-servers alone, for what they are at, and for nothing that is recorded. */
export async function observeRepoServers(
  { findProcesses, clock, log }: InstanceProbeDeps,
  at: ProbedPlace,
  memory: ProbeMemory,
  signal: AbortSignal,
): Promise<ProbeMemory> {
  try {
    const processes = await findProcesses(at, AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]));
    const repoServers = await readRepoServers(processes, signal);
    return { ...memory, ...nextTaken(memory, { atMs: clock.monotonicMs(), wallS: clock.now() / 1_000, repoServers }) };
  } catch (error) {
    signal.throwIfAborted();
    log.debug({ error, namespace: at.namespace }, "Observing repo-servers");
    return memory;
  }
}

function nextTaken({ fetched, ended }: ProbeMemory, probe: Parameters<typeof nextFetched>[1]): Pick<ProbeMemory, "fetched" | "ended"> {
  return { fetched: nextFetched(fetched, probe), ended: nextEnded(ended, probe) };
}

async function ensure(
  namespace: ProbedNamespace | undefined,
  { canary }: ProbeRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<Millis | undefined> {
  if (namespace === undefined) return undefined;
  await (canary === undefined ? namespace.removeCanaries(signal) : namespace.ensureCanaries(canary, signal));
  return clock.now();
}

/**
 * Requests a refresh of the canary whose turn it is. `before`: how long its former one took, in s, where the answer shows that and no error of the
 * canary; absent, the canaries have to be listed.
 */
async function ask(
  namespace: ProbedNamespace | undefined,
  { asked }: ProbeMemory,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly asked: AskedCanaries; readonly before: number | undefined }> {
  const [name, at] = [nextCanary(asked), clock.now()];
  const seen = await namespace?.askFor(name, at, signal);
  const former = asked.get(name);
  // That it awaits an observation is our own request of just now.
  const before = former && seen ? answeredBy(former, { ...seen, awaitsObservation: false }, at) : former;
  // One that still waits keeps the time of its first request.
  const isStillWaiting = before !== undefined && before.tookS === undefined;
  const now = { at: isStillWaiting ? before.at : at, remindedAt: at, tookS: undefined };
  return { asked: new Map([...asked, [name, now]]), before: seen === undefined || seen.hasError ? undefined : before?.tookS };
}

/**
 * Reads the metrics of all processes of an instance at the same time. A controller that accepts the connection and
 * does not answer in time hangs (false). One that refuses the connection may be starting, which takes it minutes
 * (absent).
 */
async function readProcesses(processes: Awaited<ReturnType<FindProcesses>>, clock: Clock, signal: AbortSignal): Promise<ProbeResult> {
  const [controller, repoServers] = await Promise.all([
    processes === undefined ? undefined : readPage(processes.controller, signal),
    readRepoServers(processes, signal),
  ]);
  return {
    atMs: clock.monotonicMs(),
    wallS: clock.now() / 1_000,
    controller: controller?.page,
    controllerAnswers: controller?.page !== undefined ? true : controller?.isSilent === true ? false : undefined,
    repoServers,
  };
}

/**
 * A repo-server that refuses the connection counts like one that does not answer: neither renders, and one that is
 * starting is ready soon.
 */
async function readRepoServers(
  processes: Awaited<ReturnType<FindProcesses>>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, HealthPage | undefined>> {
  const reads = [...(processes?.repoServers ?? [])].map(async ([pod, lines]) => [pod, (await readPage(lines, signal)).page] as const);
  return new Map(await Promise.all(reads));
}

async function readPage(
  lines: (signal: AbortSignal) => AsyncIterable<string>,
  signal: AbortSignal,
): Promise<{ readonly page: HealthPage | undefined; readonly isSilent: boolean }> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  const page = parseHealthPage();
  try {
    for await (const line of lines(AbortSignal.any([signal, limit]))) if (!page.take(line)) break;
    return { page: page.end(), isSilent: false };
  } catch {
    signal.throwIfAborted();
    return { page: undefined, isSilent: limit.aborted };
  }
}
