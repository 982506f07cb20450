import type { Clock, Millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { CanarySource } from "../domain/probed.ts";
import type { Log } from "../telemetry/log.ts";
import { type AskedCanaries, nextCanary } from "./canaries.ts";
import { nextAsked, standingSignals } from "./canary-signals.ts";
import { deriveSignals, keptProbes, type ProbeResult, type Workers } from "./derive-signals.ts";
import { memorySignals } from "./memory-signals.ts";
import { type HealthPage, parseHealthPage } from "./parse-page.ts";
import type { FindProcesses, OpenNamespace, ProbedNamespace, ProbedPlace } from "./port.ts";

export interface InstanceProbeDeps {
  readonly findProcesses: FindProcesses;
  readonly openNamespace: OpenNamespace;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is remembered of an instance from one look to the next; who forgets it knows nothing of canaries for a round, and no rates for a minute. */
export interface ProbeMemory {
  readonly observations: readonly ProbeResult[];
  readonly asked: AskedCanaries;
  readonly errors: number;
  /** When canaries were put right last. */
  readonly ensuredAt: Millis | undefined;
}

export interface ProbeRequest {
  readonly at: ProbedPlace;
  readonly workers: Workers;
  /** Absent: canaries are switched off. */
  readonly canary: CanarySource | undefined;
}

export const NO_MEMORY: ProbeMemory = { observations: [], asked: new Map(), errors: 0, ensuredAt: undefined };

/** A controller with thousands of applications answers in a second, in four when it starves (measured); later is no answer. In ms. */
const ANSWER_MS = 8_000;
/** Ample for a list of a few objects. In ms. */
const STANDING_MS = 10_000;
const SAMPLED = 25;
/** Canaries are as good as nobody's: whoever edits or deletes one, or makes one where they are switched off, finds it put right by then. In ms. */
const ENSURE_MS = 300_000;

/** Looks once at an instance: asks for a canary, reads what its processes say, then what stands in its namespace. What cannot be read is absent. */
export async function observeInstance(
  deps: InstanceProbeDeps,
  request: ProbeRequest,
  memory: ProbeMemory,
  signal: AbortSignal,
): Promise<{ readonly signals: Signals; readonly memory: ProbeMemory }> {
  const { clock, log } = deps;
  const orNothing = async <T>(what: string, run: (limited: AbortSignal) => Promise<T>): Promise<T | undefined> => {
    try {
      return await run(AbortSignal.any([signal, AbortSignal.timeout(STANDING_MS)]));
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
  const [canaries = [], others = [], pods = []] = await Promise.all([
    orNothing("canaries", async (limited) => namespace?.listCanaries(limited)),
    orNothing("applications", async (limited) => namespace?.sampleApplications(SAMPLED, limited)),
    orNothing("pods", async (limited) => namespace?.listPods(limited)),
  ]);
  const now = clock.now();
  const answered = nextAsked(asked, canaries, now);
  const isBroken = canaries.some(({ name, hasError }) => answered.get(name)?.tookS !== undefined && hasError);
  const errors = isBroken ? memory.errors + 1 : 0;
  return {
    signals: {
      ...deriveSignals(memory.observations, probe, request.workers),
      ...standingSignals({ now, asked: answered, canaries, others, pods, errors }),
      ...memorySignals(probe, pods, now),
    },
    memory: { observations: keptProbes(memory.observations, probe), asked: answered, errors, ensuredAt },
  };
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
  // Asked once more, it has waited since it was asked first.
  const isStanding = before !== undefined && before.tookS === undefined;
  return new Map([...asked, [name, { at: isStanding ? before.at : at, remindedAt: at, tookS: undefined }]]);
}

/**
 * Reads the metrics of all processes of an instance at the same time. A controller that is asked and says nothing stands
 * still; one that takes no connection may be starting, which takes it minutes, and is absent.
 */
async function readProcesses(processes: Awaited<ReturnType<FindProcesses>>, clock: Clock, signal: AbortSignal): Promise<ProbeResult> {
  const [controller, ...repoServers] = await Promise.all([
    processes === undefined ? undefined : readPage(processes.controller, signal),
    ...[...(processes?.repoServers ?? [])].map(async ([pod, lines]) => [pod, await readPage(lines, signal)] as const),
  ]);
  return {
    atMs: clock.monotonicMs(),
    wallS: clock.now() / 1_000,
    controller: controller?.page,
    controllerAnswers: controller?.page !== undefined ? true : controller?.isSilent === true ? false : undefined,
    // One that stands and takes no connection renders as little as one that says nothing; one that is just starting does so soon.
    repoServers: new Map(repoServers.map(([pod, { page }]) => [pod, page])),
  };
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
