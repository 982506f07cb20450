import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import { createDelayLine } from "../../runtime/delay-line.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { Host } from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { EngineShard } from "../port.ts";
import {
  createInFlightWindow,
  type InFlightWindow,
  nameOf,
  type PacedWork,
  placeOf,
  samplesOf,
  type WindowKey,
  windowOf,
  windowOfObject,
  windowsOf,
} from "./in-flight-window.ts";

/** Gives an instance a unit's work no faster than the instance works it off, so that other units' work does not wait behind a whole burst. */
export interface Pacing {
  /** Whether work may begin now. If not it is in line, and its key is asked for again when its turn has come. */
  admits(work: PacedWork, host: Host): boolean;
  /** Waits for a run of a key. Work that the run did not put in line leaves the line, and its Application counts as the watch shows it. */
  during<T>(kind: PacedWork["kind"], id: ApplicationId, run: Promise<T>): Promise<T>;
  /** Counts nothing of this instance any more: its content is watched by another process, or anew. */
  forget(instance: InstanceId): void;
  stop(): void;
}

export interface PacingDeps {
  /** For keys whose turn has come. */
  readonly requests: Pick<Requests, "requestApplication" | "requestSync">;
  /** Applications of a unit that an instance is given work with at once, at most; 0: nothing ever waits. */
  readonly unfinishedPerUnit: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

interface Known {
  readonly work: PacedWork;
  readonly window: WindowKey;
  readonly engine: EngineShard;
  /** Put in line by the run that is under way. */
  isChange: boolean;
}

export function createPacing({ requests, unfinishedPerUnit, clock, metrics }: PacingDeps): Pacing {
  const windows = new Map<WindowKey, InFlightWindow>();
  const known = new Map<string, Known>();
  const instances = new Map<InstanceId, string>();
  const follows = new Map<InstanceId, () => void>();
  const armed = new Set<WindowKey>();
  const alarms = createDelayLine<WindowKey>({ clock, onDue: (key) => void (armed.delete(key) && advance(key)) });
  const help = "Applications an instance's controller has work with, and those that are held back until it has done others of their unit.";
  metrics.gauge("argosy_reconciler_paced_applications", help, ["instance", "state"]).collect(() => samplesOf(windows, instances));

  const windowAt = (key: WindowKey): InFlightWindow => {
    const window = windows.get(key) ?? createInFlightWindow(unfinishedPerUnit);
    windows.set(key, window);
    return window;
  };

  /** Starts the next work in line when something in flight has ended or taken too long. */
  const advance = (key: WindowKey): void => {
    const window = windows.get(key);
    if (window === undefined) return;
    for (const { work } of window.next(clock.monotonicMs()).flatMap((name) => known.get(name) ?? []))
      (work.kind === "sync" ? requests.requestSync : requests.requestApplication)(work.id, work.unit);
    const dueMs = window.dueMs();
    if (dueMs !== undefined && !armed.has(key)) void [armed.add(key), alarms.add(dueMs, key)];
    if (window.size().working + window.size().held === 0) windows.delete(key);
  };

  /** Counts an Application as the watch shows it, and what was written since. `isChange`: it has just changed. */
  const recount = (engine: EngineShard, key: WindowKey, at: ObjectAt, isChange: boolean): void => {
    const seen = engine.applications.get(at);
    const isHere = seen !== undefined && windowOfObject(seen) === key;
    if (isHere && seen.isUnfinished) windowAt(key).begin(placeOf(at), clock.monotonicMs());
    else if (isHere && isChange) windows.get(key)?.end(placeOf(at), clock.monotonicMs());
    else windows.get(key)?.drop(placeOf(at));
    advance(key);
  };

  /** What is in flight stands in the watch: a process that has just started knows as much of it as one that began it. */
  const follow = (id: InstanceId, engine: EngineShard): void => {
    if (follows.has(id)) return;
    const end = engine.applications.subscribe((change) => {
      for (const key of windowsOf(change)) recount(engine, key, change.at, true);
    });
    follows.set(id, end);
    for (const now of engine.applications.list()) for (const key of windowsOf({ now })) recount(engine, key, now.at, false);
  };

  const withdraw = (name: string): Known | undefined => {
    const withdrawn = known.get(name);
    known.delete(name);
    if (withdrawn !== undefined) windows.get(withdrawn.window)?.leave(name);
    return withdrawn;
  };

  return {
    admits(work, { instance, engine }) {
      if (unfinishedPerUnit === 0) return true;
      follow(instance.id, engine);
      instances.set(instance.id, instance.name);
      const [name, window] = [nameOf(work), windowOf(instance.id, work.unit)];
      if (known.get(name)?.window !== window) withdraw(name);
      const isAdmitted = windowAt(window).admits(name, placeOf(work.at), clock.monotonicMs());
      known.set(name, { work, window, engine, isChange: !isAdmitted });
      advance(window);
      return isAdmitted;
    },
    async during(kind, id, run) {
      try {
        return await run;
      } finally {
        const name = nameOf({ kind, id });
        const paced = known.get(name)?.isChange === false ? withdraw(name) : known.get(name);
        if (paced?.isChange === false) recount(paced.engine, paced.window, paced.work.at, false);
        else if (paced !== undefined) paced.isChange = false;
      }
    },
    forget(id) {
      follows.get(id)?.();
      follows.delete(id);
      instances.delete(id);
      const ofIt = (key: WindowKey): boolean => key.startsWith(windowOf(id, "" as UnitId));
      for (const key of [...windows.keys()].filter(ofIt)) windows.delete(key);
      for (const [name, { window }] of [...known]) if (ofIt(window)) known.delete(name);
    },
    stop() {
      alarms.stop();
      for (const end of follows.values()) end();
    },
  };
}
