import type { Clock } from "../../domain/clock.ts";
import type { Looked } from "../derive-signals.ts";
import { type Page, parsePage } from "../parse-page.ts";
import type { FindProcesses } from "../port.ts";

/** A controller with thousands of applications answers in a second, in four when it starves (measured); later is no answer. In ms. */
const ANSWER_MS = 8_000;

/** Reads the metrics of all processes of an instance beside each other. A controller that is asked and says nothing stands
 * still; one that takes no connection may be starting, which takes it minutes, and is absent. */
export async function readLook(processes: Awaited<ReturnType<FindProcesses>>, clock: Clock, signal: AbortSignal): Promise<Looked> {
  const [controller, ...repoServers] = await Promise.all([
    processes === undefined ? undefined : read(processes.controller, signal),
    ...[...(processes?.repoServers ?? [])].map(async ([pod, lines]) => [pod, await read(lines, signal)] as const),
  ]);
  return {
    ...{ atMs: clock.monotonicMs(), wallS: clock.now() / 1_000, controller: controller?.page },
    controllerAnswers: controller?.page !== undefined ? true : controller?.isSilent === true ? false : undefined,
    // One that stands and takes no connection renders as little as one that says nothing; one that is just starting does so soon.
    repoServers: new Map(repoServers.map(([pod, { page }]) => [pod, page])),
  };
}

async function read(
  lines: (signal: AbortSignal) => AsyncIterable<string>,
  signal: AbortSignal,
): Promise<{ readonly page: Page | undefined; readonly isSilent: boolean }> {
  const limit = AbortSignal.timeout(ANSWER_MS);
  const page = parsePage();
  try {
    for await (const line of lines(AbortSignal.any([signal, limit]))) if (!page.take(line)) break;
    return { page: page.end(), isSilent: false };
  } catch {
    signal.throwIfAborted();
    return { page: undefined, isSilent: limit.aborted };
  }
}
