import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { type KubeObject, resourcePath } from "../../src/runtime/kube/resource.ts";
import { APPLICATIONS } from "../world/kinds.ts";

export interface Counted {
  readonly writes: number;
  /** Size of the merge patches that make each state of an Application's status out of the one before, as Argo CD writes them. */
  readonly patchBytes: number;
  /** Size of the events of a watch of all Applications. */
  readonly eventBytes: number;
  /** Size of all Applications as they are now. */
  readonly objectBytes: number;
  /** From the start to the last write. */
  readonly tookMs: number;
}

export interface Application extends KubeObject {
  readonly status?: { readonly health?: { readonly status?: string } } & Readonly<Record<string, unknown>>;
}

/** Counts writes to Applications, by a watch. */
export interface WriteCounter {
  reset(): void;
  counted(): Counted;
  /** Whether there are `count` Applications and `holds` is true for each. */
  all(holds: (status: NonNullable<Application["status"]>) => boolean, count: number): boolean;
  /** Whether no request to refresh is left. */
  noneAsked(): boolean;
  /** Waits until `holds` is true, and until nothing has been written for so long that nothing more will come. */
  quiet(holds: () => boolean): Promise<void>;
  stop(): void;
}

const QUIET_MS = 10_000;
const REFRESH = "argocd.argoproj.io/refresh";

export function countWrites(client: KubeClient, namespace: string, signal: AbortSignal): WriteCounter {
  const known = new Map<string, { readonly object: Application; readonly bytes: number }>();
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  let [writes, patchBytes, eventBytes] = [0, 0, 0];
  let [startedAt, lastAt] = [performance.now(), performance.now()];

  const see = (line: string): void => {
    const event = JSON.parse(line) as { readonly type: string; readonly object: Application };
    if (event.type === "BOOKMARK" || event.type === "ERROR") return;
    const { object } = event;
    const before = known.get(object.metadata.name)?.object;
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    known.set(object.metadata.name, { object, bytes: JSON.stringify(object).length });
    // Creations and requests to refresh are our own writes.
    const patch = mergePatch(before?.status ?? {}, object.status ?? {});
    const isAnswer = before !== undefined && isAsked(before) && !isAsked(object);
    if (patch === undefined && !isAnswer) return;
    [writes, eventBytes, patchBytes] = [writes + 1, eventBytes + line.length, patchBytes + JSON.stringify({ status: patch }).length];
    lastAt = performance.now();
  };
  const follow = async (): Promise<void> => {
    while (!either.aborted) {
      // Argo CD's kinds may not exist yet.
      const path = resourcePath(APPLICATIONS, { namespace });
      try {
        for await (const line of client.watchLines(path, { watch: true }, either)) if (line !== "") see(line);
      } catch {
        await sleep(200, undefined, { signal: either }).catch(() => undefined);
      }
    }
  };
  void follow();
  return {
    reset() {
      [writes, patchBytes, eventBytes] = [0, 0, 0];
      [startedAt, lastAt] = [performance.now(), performance.now()];
    },
    counted: () => ({
      ...{ writes, patchBytes, eventBytes, tookMs: lastAt - startedAt },
      objectBytes: [...known.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    }),
    all: (holds, count) =>
      known.size === count && [...known.values()].every(({ object }) => object.status !== undefined && holds(object.status)),
    noneAsked: () => ![...known.values()].some(({ object }) => isAsked(object)),
    async quiet(holds) {
      const from = performance.now();
      while (!holds() || performance.now() - Math.max(lastAt, from) < QUIET_MS) await sleep(200, undefined, { signal });
    },
    stop: () => ending.abort(),
  };
}

function isAsked({ metadata }: Application): boolean {
  return metadata.annotations?.[REFRESH] !== undefined;
}

/** The JSON merge patch from one value to another. `undefined`: they are equal. */
function mergePatch(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
  const changed = Object.entries(after).flatMap(([key, value]) => {
    const patch = key in before ? mergePatch(before[key], value) : value;
    return patch === undefined ? [] : [[key, patch] as const];
  });
  const gone = Object.keys(before).flatMap((key) => (key in after ? [] : [[key, null] as const]));
  return changed.length + gone.length === 0 ? undefined : Object.fromEntries([...changed, ...gone]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
