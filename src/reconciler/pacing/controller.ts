import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId } from "../../domain/ids.ts";
import { createDelayLine } from "../../runtime/delay-line.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { EngineShard } from "../port.ts";
import type { Queues } from "../queues/controller.ts";
import type { Host } from "../seats/controller.ts";
import { createLane, type Lane } from "./lane.ts";
import { type LaneKey, laneOf, laneOfObject, lanesOf, nameOf, placeOf, samplesOf, type Wish } from "./wish.ts";

/** Hands a unit's work to its instance no faster than that works it off, so that others' is not behind a whole burst in its queues. */
export interface Pacing {
  /** Whether it may begin now. If not it is in line, and its key is asked for again when its turn has come. */
  admits(wish: Wish, host: Host): boolean;
  /** Sees a run of a key to its end: what the run did not put in line is in no line any more, and counts as the watch shows it. */
  during<T>(kind: Wish["kind"], id: ApplicationId, run: Promise<T>): Promise<T>;
  stop(): void;
}

export interface PacingDeps {
  /** Where keys go whose turn has come. */
  readonly requests: Pick<Queues, "requestApplication" | "requestSync">;
  /** Applications of a unit that an instance is given work with at once, at most; 0: nothing ever waits. */
  readonly unfinishedPerUnit: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

interface Known {
  readonly wish: Wish;
  readonly lane: LaneKey;
  readonly engine: EngineShard;
  /** Put in line by the run that is under way. */
  isNews: boolean;
}

export function createPacing({ requests, unfinishedPerUnit, clock, metrics }: PacingDeps): Pacing {
  const lanes = new Map<LaneKey, Lane>();
  const wishes = new Map<string, Known>();
  const instances = new Map<InstanceId, string>();
  const follows = new Map<EngineShard, () => void>();
  const armed = new Set<LaneKey>();
  const alarms = createDelayLine<LaneKey>({ clock, onDue: (key) => void (armed.delete(key) && advance(key)) });
  const help = "Applications an instance's controller has work with, and those that are held back until it has done others of their unit.";
  metrics.gauge("argosy_reconciler_paced_applications", help, ["instance", "state"]).collect(() => samplesOf(lanes, instances));

  const laneAt = (key: LaneKey): Lane => {
    const lane = lanes.get(key) ?? createLane(unfinishedPerUnit);
    lanes.set(key, lane);
    return lane;
  };

  /** Lets go on whom the end of something, or of the patience with it, makes room for. */
  const advance = (key: LaneKey): void => {
    const lane = lanes.get(key);
    if (lane === undefined) return;
    for (const { wish } of lane.next(clock.monotonicMs()).flatMap((name) => wishes.get(name) ?? []))
      (wish.kind === "sync" ? requests.requestSync : requests.requestApplication)(wish.id, wish.unit);
    const dueMs = lane.dueMs();
    if (dueMs !== undefined && !armed.has(key)) void [armed.add(key), alarms.add(dueMs, key)];
    if (lane.size().working + lane.size().held === 0) lanes.delete(key);
  };

  /** Whether the controller has work with an Application is taken from the watch, and from what was written since. `isNews`: it has just changed. */
  const recount = (engine: EngineShard, key: LaneKey, at: ObjectAt, isNews: boolean): void => {
    const seen = engine.applications.get(at);
    const isHere = seen !== undefined && laneOfObject(seen) === key;
    if (isHere && seen.isUnfinished) laneAt(key).begin(placeOf(at), clock.monotonicMs());
    else if (isHere && isNews) lanes.get(key)?.end(placeOf(at), clock.monotonicMs());
    else lanes.get(key)?.drop(placeOf(at));
    advance(key);
  };

  /** What is under way stands in the watch: a process that has just started knows as much of it as one that began it. */
  const follow = (engine: EngineShard): void => {
    if (follows.has(engine)) return;
    const end = engine.applications.subscribe((change) => {
      for (const key of lanesOf(change)) recount(engine, key, change.at, true);
    });
    follows.set(engine, end);
    for (const now of engine.applications.list()) for (const key of lanesOf({ now })) recount(engine, key, now.at, false);
  };

  const withdraw = (name: string): Known | undefined => {
    const known = wishes.get(name);
    wishes.delete(name);
    if (known !== undefined) lanes.get(known.lane)?.leave(name);
    return known;
  };

  return {
    admits(wish, { instance, engine }) {
      if (unfinishedPerUnit === 0) return true;
      follow(engine);
      instances.set(instance.id, instance.name);
      const [name, lane] = [nameOf(wish), laneOf(instance.id, wish.unit)];
      if (wishes.get(name)?.lane !== lane) withdraw(name);
      const isAdmitted = laneAt(lane).admits(name, placeOf(wish.at), clock.monotonicMs());
      wishes.set(name, { wish, lane, engine, isNews: !isAdmitted });
      advance(lane);
      return isAdmitted;
    },
    async during(kind, id, run) {
      try {
        return await run;
      } finally {
        const name = nameOf({ kind, id });
        const known = wishes.get(name)?.isNews === false ? withdraw(name) : wishes.get(name);
        if (known?.isNews === false) recount(known.engine, known.lane, known.wish.at, false);
        else if (known !== undefined) known.isNews = false;
      }
    },
    stop() {
      alarms.stop();
      for (const end of follows.values()) end();
    },
  };
}
