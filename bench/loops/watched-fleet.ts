import type { Millis } from "../../src/domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../src/domain/ids.ts";
import type { SeenApplication } from "../../src/domain/seen-application.ts";
import type { OwnedApplication } from "../../src/store/port.ts";
import { createOwnershipBook } from "../../src/watchdog/ownership-book.ts";
import { createOwnedRows } from "../../src/watchdog/read-owned.ts";

const PER_INSTANCE = 500;
const PER_UNIT = 3;
const CLASS = "eu/shared/public";
const RESYNC_MS = 180_000;
const NOTHING = { units: [], argoNames: [] };

/** A fleet as the watchdog sees it, in which everything is where it belongs. */
export interface WatchedFleet {
  /** Reads rows, takes in what stands, and judges, as one check does. Throws where anything is found. */
  check(now: Millis): Promise<void>;
  /** Argo CD compares each `of`-th application, from this one on. */
  compare(first: number, of: number, at: Millis): void;
  /** Has the next check judge everything anew. */
  forget(): void;
}

export function createWatchedFleet(applications: number): WatchedFleet {
  const owned = Array.from({ length: applications }, (_, index) => rowOf(index));
  const instances = Array.from({ length: Math.ceil(applications / PER_INSTANCE) }, (_, index) => instanceOf(index * PER_INSTANCE));
  const standing = new Map<InstanceId, readonly SeenApplication[]>(
    instances.map((id, index) => [
      id,
      owned.slice(index * PER_INSTANCE, (index + 1) * PER_INSTANCE).map(({ argoName }) => seenOf(argoName)),
    ]),
  );
  const rows = createOwnedRows({
    ownership: {
      async listOwned({ after, limit }) {
        const first = after === "" ? 0 : Number(after.slice(1)) + 1;
        const page = owned.slice(first, first + limit).map((row) => ({ ...row }));
        return { owned: page, next: first + limit < owned.length ? page.at(-1)?.id : undefined };
      },
      readOwned: async () => [],
    },
    changes: { subscribe: () => () => undefined, isConnected: () => true, hears: async () => true },
  });
  let book = createOwnershipBook();
  const called = instances.map((id) => ({ id, name: id, class: CLASS }));
  return {
    async check(now) {
      const read = await rows.read(NOTHING, AbortSignal.timeout(60_000));
      // A watch gives a new list each time.
      const seen = new Map([...standing].map(([id, list]) => [id, [...list]]));
      const found = book.judge({ ...read, now, seen, silent: new Set(), instances: called, moves: [], resyncMs: RESYNC_MS });
      if (found.length > 0) throw new Error(`nothing is wrong, and found was ${found[0]?.text}`);
    },
    compare(first, of, at) {
      for (const [id, list] of standing)
        standing.set(
          id,
          list.map((one, index) => (index % of === first ? { ...one, reconciledAt: at } : one)),
        );
    },
    forget() {
      book = createOwnershipBook();
    },
  };
}

const instanceOf = (index: number): InstanceId => `i${Math.floor(index / PER_INSTANCE)}` as InstanceId;

function rowOf(index: number): OwnedApplication {
  return {
    id: `a${String(index).padStart(9, "0")}` as ApplicationId,
    ...{ argoName: `app-${index}`, unitId: `u${Math.floor(index / PER_UNIT)}` as UnitId, owner: instanceOf(index), class: CLASS },
    ...{ isMoving: false, isLeaving: false, hasStood: true },
  };
}

function seenOf(name: string): SeenApplication {
  return {
    ...{ name, uid: `uid of ${name}`, isPaused: false, isArriving: false, isDeleting: false, awaitsRefresh: false },
    ...{ reconciledAt: undefined, isGreen: true },
  };
}
