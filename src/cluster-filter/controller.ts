import type { Clock } from "../domain/clock.ts";
import type { SeenProject } from "../domain/seen-project.ts";
import { sleep } from "../runtime/clock.ts";
import { abandonable } from "../runtime/kube/signals.ts";
import type { Log } from "../telemetry/log.ts";
import { createCollections } from "./collections.ts";
import { createMembership } from "./membership.ts";
import type { Projects } from "./port.ts";
import { nextLetIn, wantedBy } from "./seen-project.ts";

export interface FilterControllerDeps {
  readonly projects: Projects;
  readonly log: Log;
  readonly clock: Clock;
  /** How long after its start the filter says of nothing new that it is let in, in ms: until then caches that were filled through a former run may still come back. */
  readonly holdMs?: number;
  /** How long the client takes at most to work off what was handed on, in ms. */
  readonly settleMs?: number;
}

/** Argo CD opens a broken watch again after a second, and is asked then to list again. */
const HOLD_MS = 10_000;
/** Argo CD works off events in batches of a tenth of a second. */
const SETTLE_MS = 1_000;
/** How often it is checked whether something can be said while something cannot, in ms. */
const CHECK_MS = 250;

/** Keeps what is let in equal to what AppProjects name, and says on each AppProject when the instance's cache has its namespaces. */
export function createFilterController(deps: FilterControllerDeps) {
  const { projects, log, clock, holdMs = HOLD_MS, settleMs = SETTLE_MS } = deps;
  const membership = createMembership();
  const collections = createCollections();
  const listeners = new Set<() => void>();
  const listed = Promise.withResolvers<void>();
  const nowMs = () => clock.monotonicMs();
  const startedMs = nowMs();
  let known: readonly SeenProject[] = [];
  /** Up to which generation the cache has everything, since when, and up to which that is settled. */
  let cached = { generation: 0, sinceMs: startedMs };
  let announced = 0;
  let isChecking = false;

  const observe = (): void => {
    const generation = collections.cachedUpTo(membership.generation(), nowMs());
    if (generation > cached.generation) cached = { generation, sinceMs: nowMs() };
    const isSettled = nowMs() - cached.sinceMs >= settleMs && nowMs() - startedMs >= holdMs;
    if (isSettled) announced = Math.max(announced, cached.generation);
  };

  const pending = () =>
    known.flatMap((project) => {
      const letIn = nextLetIn(project, membership, announced);
      return letIn === undefined ? [] : [{ project, letIn }];
    });

  const announce = async (signal: AbortSignal): Promise<void> => {
    observe();
    for (const { project, letIn } of pending()) {
      try {
        await projects.annotate(project, letIn, signal);
        log.info({ project: project.name, letIn }, "Saying which namespaces the cache has");
      } catch (error) {
        if (!signal.aborted) log.warn({ project: project.name, err: error }, "Not saying yet which namespaces the cache has");
      }
    }
  };

  const isDone = (): boolean => announced >= membership.generation() && pending().length === 0;

  /** Goes on while something is left to say. */
  const check = async (signal: AbortSignal): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    while (!signal.aborted && !isDone()) {
      await sleep(clock, CHECK_MS, signal).catch(() => {});
      if (!signal.aborted) await announce(signal);
    }
    isChecking = false;
  };

  return {
    membership,
    collections,
    /** Resolves when it is known which namespaces are let in. */
    ready: (signal: AbortSignal) => abandonable(listed.promise, signal),
    onChange(listener: () => void, signal: AbortSignal): void {
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
    },
    start(signal: AbortSignal): void {
      projects.follow((now) => {
        known = now;
        const isOther = membership.change(wantedBy(now));
        listed.resolve();
        if (isOther) for (const listener of [...listeners]) listener();
        void check(signal);
      }, signal);
    },
  };
}
