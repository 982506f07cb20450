import type { MoveId, UnitId } from "../domain/ids.ts";
import type { Move } from "../domain/move.ts";
import { LABEL_UNIT } from "../domain/names.ts";
import type { ObjectAt, ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import { isNewerVersion } from "../shard/parse-object.ts";

type Seen = Pick<ObservedObject, "at" | "resourceVersion">;

/**
 * Changes of Applications of moved units that a watch reported and no observation has shown yet. A watch reports late, twice or never. So a
 * report is a reason to observe a move again, never what is decided from.
 */
export interface UnseenChanges {
  /** A move was observed: from now on reports about its unit are kept that are newer than what was seen. */
  observed(move: Pick<Move, "id" | "unitId">, seen: readonly Seen[]): void;
  /**
   * The move of a unit goes to sleep until the next report wakes it. `false`: it stays awake, because something was reported since the last
   * observation.
   */
  fallAsleep(unitId: UnitId): boolean;
  /** Reports about this move are not wanted any more. */
  forget(id: MoveId): void;
  /** Takes a report. Returns the move that it wakes, if that sleeps and the report is news to it. */
  report(change: ObjectChange<ObservedObject>): MoveId | undefined;
}

interface Unit {
  readonly move: MoveId;
  /** Versions as last observed, by place. */
  seen: ReadonlyMap<string, string>;
  /** What was reported while the move was awake, and no observation has shown. */
  readonly reported: Map<string, ObjectChange<ObservedObject>>;
  isAsleep: boolean;
}

const keyOf = ({ namespace, name }: ObjectAt): string => `${namespace}|${name}`;

export function createUnseenChanges(): UnseenChanges {
  const units = new Map<UnitId, Unit>();
  const unitOf = ({ id, unitId }: Pick<Move, "id" | "unitId">): Unit => {
    const known = units.get(unitId);
    if (known?.move === id) return known;
    const unit: Unit = { move: id, seen: new Map(), reported: new Map(), isAsleep: false };
    units.set(unitId, unit);
    return unit;
  };
  return {
    observed(move, seen) {
      const unit = unitOf(move);
      unit.seen = new Map(seen.map(({ at, resourceVersion }) => [keyOf(at), resourceVersion]));
      for (const [key, change] of unit.reported) if (!isChange(change, unit.seen.get(key))) unit.reported.delete(key);
      unit.isAsleep = false;
    },
    fallAsleep(unitId) {
      const unit = units.get(unitId);
      if (unit === undefined) return true;
      unit.isAsleep = unit.reported.size === 0;
      // Each keeps the move awake once: what the next observation does not show either is no reason to observe for ever.
      unit.reported.clear();
      return unit.isAsleep;
    },
    forget(id) {
      for (const [unitId, { move }] of units) if (move === id) units.delete(unitId);
    },
    report(change) {
      const unit = units.get(unitIdOf(change));
      if (unit === undefined || !isChange(change, unit.seen.get(keyOf(change.at)))) return undefined;
      if (!unit.isAsleep) {
        unit.reported.set(keyOf(change.at), change);
        return undefined;
      }
      unit.isAsleep = false;
      return unit.move;
    },
  };
}

/** Whether a change was not seen yet: a newer version, an object that was not there, or the end of one that was. */
function isChange(change: ObjectChange<ObservedObject>, seen: string | undefined): boolean {
  if (change.kind === "delete") return seen !== undefined;
  return seen === undefined || isNewerVersion(change.now.resourceVersion, seen);
}

function unitIdOf(change: ObjectChange<ObservedObject>): UnitId {
  return (change.kind === "delete" ? change.before : change.now).labels[LABEL_UNIT] as UnitId;
}
