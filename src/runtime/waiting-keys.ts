import type { Clock } from "../domain/clock.ts";
import { createDelayLine } from "./delay-line.ts";
import { createFairLine } from "./fair-line.ts";
import { createGroupShares, type GroupShare } from "./group-shares.ts";
import type { HeapNode } from "./heap.ts";

/** A key that waits, is delayed or runs; forgotten when none of these is so. */
export interface KeyEntry {
  readonly key: string;
  group: string;
  /** Waits behind all other background keys, whatever its group; until it was added once without being background, or was taken. */
  isBackground: boolean;
  /** While waiting: its place in the line. */
  place: Place | undefined;
  /** While running: the group whose turn it was. */
  runsFor: string;
  state: "waiting" | "delayed" | "running";
  /** Failures in a row. */
  failures: number;
  timer: HeapNode<KeyEntry> | undefined;
  /** While running: when it is to run again, on the monotonic clock. */
  againAt: number | undefined;
}

/** A place in the line. One that its key has left for another one is passed over when its turn comes. */
interface Place {
  readonly entry: KeyEntry;
  readonly sinceMs: number;
}

export interface AddOptions {
  readonly group: string | undefined;
  readonly isBackground: boolean;
  readonly afterMs: number;
}

/** The group of all background keys; no name of a group begins like this. */
const BACKGROUND = "\u0000background";

/** Which key is to be worked on when. Each key is here once, whatever happens to it. */
export interface WaitingKeys {
  add(key: string, options: AddOptions): void;
  /** The key whose turn it is; it counts as running until `release`. */
  take(): KeyEntry | undefined;
  /** Ends a run. The key comes back after `againAfterMs` or when it was asked for meanwhile, whichever is earlier; else it is forgotten. */
  release(entry: KeyEntry, againAfterMs: number | undefined): void;
  /** Keys whose time has come. */
  depth(): number;
  oldestAgeMs(): number;
  /** No delay ends any more. */
  stop(): void;
}

export interface WaitingKeysOptions {
  readonly clock: Clock;
  /** Called whenever a key's time has come. */
  readonly onReady: () => void;
  /** How many keys of one group may be taken and not yet released; more of them wait while other groups go on. */
  readonly share: GroupShare;
}

/** Creates an empty set. */
export function createWaitingKeys({ clock, onReady, share }: WaitingKeysOptions): WaitingKeys {
  const entries = new Map<string, KeyEntry>();
  const line = createFairLine<Place>();
  /** Places in the line that their keys have left. */
  let left = 0;
  const delayed = createDelayLine<KeyEntry>({ clock, onDue: (entry) => wait(entry) });
  const shares = createGroupShares(clock, share);

  const setOpen = (group: string, isOpen: boolean): void => (isOpen ? line.open(group) : line.close(group));

  const wait = (entry: KeyEntry): void => {
    entry.timer = undefined;
    entry.state = "waiting";
    queueUp(entry, clock.monotonicMs());
  };

  const queueUp = (entry: KeyEntry, sinceMs: number): void => {
    entry.place = { entry, sinceMs };
    line.push(entry.isBackground ? BACKGROUND : entry.group, entry.place, sinceMs);
    onReady();
  };

  /** Takes a key that waits out of the line of background keys, and puts it into that of its group. */
  const bringForward = (entry: KeyEntry, { sinceMs }: Place, group: string | undefined): void => {
    entry.group = group ?? entry.group;
    entry.isBackground = false;
    left += 1;
    queueUp(entry, sinceMs);
  };

  const firstPlace = (): Place | undefined => {
    for (;;) {
      const place = line.shift();
      if (place === undefined || place.entry.place === place) return place;
      left -= 1;
    }
  };

  /** Puts an entry where its time says; a delay that is there already stays when it ends sooner. */
  const schedule = (entry: KeyEntry, at: number): void => {
    if (entry.timer !== undefined) {
      if (entry.timer.at <= at) return;
      delayed.remove(entry.timer);
    }
    if (at <= clock.monotonicMs()) return wait(entry);
    entry.state = "delayed";
    entry.timer = delayed.add(at, entry);
  };

  const addNew = (key: string, { group = "", isBackground }: Pick<AddOptions, "group" | "isBackground">): KeyEntry => {
    const idle = { state: "delayed", failures: 0, place: undefined, timer: undefined, againAt: undefined } as const;
    const entry: KeyEntry = { key, group, isBackground, runsFor: group, ...idle };
    entries.set(key, entry);
    return entry;
  };

  return {
    add(key, options) {
      const { group, isBackground, afterMs } = options;
      const at = clock.monotonicMs() + afterMs;
      const entry = entries.get(key) ?? addNew(key, options);
      // A waiting key already has its place in the line of its group.
      if (entry.place !== undefined) return entry.isBackground && !isBackground ? bringForward(entry, entry.place, group) : undefined;
      entry.group = group ?? entry.group;
      entry.isBackground &&= isBackground;
      if (entry.state === "delayed") schedule(entry, at);
      else entry.againAt = Math.min(entry.againAt ?? at, at);
    },
    take() {
      const entry = firstPlace()?.entry;
      if (entry === undefined) return undefined;
      entry.state = "running";
      entry.place = undefined;
      entry.againAt = undefined;
      entry.runsFor = entry.isBackground ? BACKGROUND : entry.group;
      entry.isBackground = false;
      setOpen(entry.runsFor, shares.started(entry.runsFor));
      return entry;
    },
    release(entry, againAfterMs) {
      setOpen(entry.runsFor, shares.ended(entry.runsFor));
      const asked = againAfterMs === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() + againAfterMs;
      const at = Math.min(asked, entry.againAt ?? Number.POSITIVE_INFINITY);
      if (Number.isFinite(at)) schedule(entry, at);
      else entries.delete(entry.key);
    },
    depth: () => line.size() - left,
    oldestAgeMs: () => Math.max(0, clock.monotonicMs() - (line.oldestSince() ?? Number.POSITIVE_INFINITY)),
    stop: () => delayed.stop(),
  };
}
