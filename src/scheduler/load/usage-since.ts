import { type Millis, millis } from "../../domain/clock.ts";
import type { ProcessMark, UsageMark } from "../../domain/usage.ts";
import { FARTHEST_MS, type PageAt, type PagesAt } from "./rates.ts";

/** What one process of an instance took since it was last accounted for. */
export interface Taken {
  readonly of: ProcessMark["of"];
  readonly cpuMs: number;
  readonly memoryKibS: number;
  /** The time in which it took that. */
  readonly spanMs: number;
  /** So long ago that nobody can say for whom. */
  readonly isLate: boolean;
}

export interface UsageSince {
  readonly taken: readonly Taken[];
  readonly mark: UsageMark;
}

/** Clocks of nodes and members differ by less, in ms. */
const CLOCKS_APART_MS = 10_000;

/**
 * What an instance's processes took between a mark and the pages that were read at `at`, and the mark that this leads to. CPU is a
 * counter's growth, so it is whole whatever was missed in between: another member's turn, a page that could not be read. Memory is the mean
 * of both ends.
 *
 * A process that began after the mark is counted from its beginning. Not known, and left out: what a process took between its last page
 * and its end, and all that one took before its first page if that is older than the mark. `undefined` where time has not gone on.
 */
export function usageSince(before: UsageMark | undefined, pages: PagesAt, at: Millis): UsageSince | undefined {
  if (before !== undefined && at <= before.until) return undefined;
  const seen = [...pages].flatMap(([pod, page]) => {
    const [mark, known] = [markOf(page, at), before?.processes[pod]];
    // A counter that went back would be counted again when it comes forward.
    const isBelieved = mark !== undefined && !(known?.startedAt === mark.startedAt && mark.cpuMs < known.cpuMs);
    return isBelieved ? [[pod, mark] as const] : [];
  });
  const taken = seen.flatMap(([pod, mark]) => takenSince(before, before?.processes[pod], mark) ?? []);
  const missing = Object.entries(before?.processes ?? {}).filter(([, mark]) => at - mark.at <= FARTHEST_MS);
  return { taken, mark: { until: at, processes: Object.fromEntries([...missing, ...seen]) } };
}

function markOf({ of, sums }: PageAt, at: Millis): ProcessMark | undefined {
  const { startedAt, cpuSeconds, residentBytes } = sums ?? {};
  if (startedAt === undefined || cpuSeconds === undefined || residentBytes === undefined) return undefined;
  const [cpuMs, residentKib] = [Math.round(cpuSeconds * 1_000), Math.round(residentBytes / 1_024)];
  return Number.isSafeInteger(cpuMs) && Number.isSafeInteger(residentKib) ? { of, startedAt, cpuMs, residentKib, at } : undefined;
}

function takenSince(before: UsageMark | undefined, known: ProcessMark | undefined, mark: ProcessMark): Taken | undefined {
  if (before === undefined) return undefined;
  const isSame = known?.startedAt === mark.startedAt;
  const beganAt = millis(Math.round(mark.startedAt * 1_000));
  if (!isSame && beganAt < before.until - CLOCKS_APART_MS) return undefined;
  const from = isSame ? known : { at: Math.min(Math.max(beganAt, before.until), mark.at), cpuMs: 0, residentKib: mark.residentKib };
  const spanMs = mark.at - from.at;
  const memoryKibS = Math.round((((from.residentKib + mark.residentKib) / 2) * spanMs) / 1_000);
  return { of: mark.of, cpuMs: mark.cpuMs - from.cpuMs, memoryKibS, spanMs, isLate: spanMs > FARTHEST_MS };
}
