import type { Clock, Millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { CanarySource } from "../domain/probed.ts";
import type { Log } from "../telemetry/log.ts";
import { type AskedCanaries, nextCanary } from "./canaries.ts";
import { isSampleDue, namespaceSignals, nextAsked, type Sampled, sampledOf } from "./canary-signals.ts";
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
  /** The latest sample of the Applications that are no canaries. */
  readonly sampled: Sampled | undefined;
  /** When the canaries were last applied, or removed. */
  readonly ensuredAt: Millis | undefined;
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

/**
 * Probes an instance once: requests a refresh of a canary, reads the metrics of its processes, then the objects in
 * its namespace. What cannot be read is absent from the signals. Applications that are no canaries are the most of what there is to read; they are
 * sampled again only once the former sample could suggest that the instance compares nothing.
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
  const asked = (mayAsk ? await orNothing("ask", () => ask(namespace, memory, clock, signal)) : undefined) ?? memory.asked;
  const processes = await orNothing("processes", (limited) => deps.findProcesses(request.at, limited));
  const probe = await readProcesses(processes, clock, signal);
  const kept = isSampleDue(memory.sampled, clock.now()) ? undefined : memory.sampled;
  const [canaries = [], sampled = NOTHING_SAMPLED, pods = []] = await Promise.all([
    orNothing("canaries", async (limited) => namespace?.listCanaries(limited)),
    kept ?? orNothing("applications", async (limited) => namespace && sampledOf(await namespace.sampleApplications(SAMPLED, limited))),
    orNothing("pods", async (limited) => namespace?.listPods(limited)),
  ]);
  const now = clock.now();
  const answered = nextAsked(asked, canaries, now);
  const isBroken = canaries.some(({ name, hasError }) => answered.get(name)?.tookS !== undefined && hasError);
  const errors = isBroken ? memory.errors + 1 : 0;
  return {
    signals: {
      ...deriveSignals(memory.observations, probe, request.workers),
      ...namespaceSignals({ now, asked: answered, canaries, sampled, pods, errors }),
      ...memorySignals(probe, pods, now),
      ...evictionSignals(pods, now),
    },
    memory: {
      observations: keptProbes(memory.observations, probe),
      ...nextTaken(memory, probe),
      ...{ asked: answered, errors, sampled, ensuredAt },
    },
  };
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

async function ask(
  namespace: ProbedNamespace | undefined,
  { asked }: ProbeMemory,
  clock: Clock,
  signal: AbortSignal,
): Promise<AskedCanaries> {
  const [name, at] = [nextCanary(asked), clock.now()];
  await namespace?.askFor(name, at, signal);
  const before = asked.get(name);
  // One that still waits keeps the time of its first request.
  const isStillWaiting = before !== undefined && before.tookS === undefined;
  return new Map([...asked, [name, { at: isStillWaiting ? before.at : at, remindedAt: at, tookS: undefined }]]);
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
