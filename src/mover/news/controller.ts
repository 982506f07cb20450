import type { MoveId, UnitId } from "../../domain/ids.ts";
import type { Move } from "../../domain/move.ts";
import { LABEL_UNIT } from "../../domain/names.ts";
import type { ObjectAt, ObjectChange, ObservedObject } from "../../shard/managed-object.ts";
import { isNewerVersion } from "../../shard/version.ts";

/** An Application as it was seen. */
type Seen = Pick<ObservedObject, "at" | "resourceVersion">;

/**
 * What watches tell of the Applications of units that are moved here. Watches tell late, twice or never: what they tell is a reason to look,
 * not what is decided from.
 */
export interface News {
  /** Somebody looks at the move: news of its unit are gathered from now on, and what was seen is none any more. */
  looked(move: Pick<Move, "id" | "unitId">, seen: readonly Seen[]): void;
  /** Nobody looks any more until the next news wakes the move. `false`: there were some since the last look, so that nothing is going to. */
  rest(unitId: UnitId): boolean;
  /** Nobody wants to hear of the move any more. */
  forget(id: MoveId): void;
  heard(change: ObjectChange<ObservedObject>): void;
}

interface Unit {
  readonly move: MoveId;
  /** Versions as last seen, by where they are. */
  seen: ReadonlyMap<string, string>;
  /** What was heard while somebody looked, and no look has shown. */
  readonly heard: Map<string, ObjectChange<ObservedObject>>;
  isAsleep: boolean;
}

const keyOf = ({ namespace, name }: ObjectAt): string => `${namespace}|${name}`;

export function createNews({ wake }: { readonly wake: (id: MoveId) => void }): News {
  const units = new Map<UnitId, Unit>();
  const unitOf = ({ id, unitId }: Pick<Move, "id" | "unitId">): Unit => {
    const known = units.get(unitId);
    if (known?.move === id) return known;
    const unit: Unit = { move: id, seen: new Map(), heard: new Map(), isAsleep: false };
    units.set(unitId, unit);
    return unit;
  };
  return {
    looked(move, seen) {
      const unit = unitOf(move);
      unit.seen = new Map(seen.map(({ at, resourceVersion }) => [keyOf(at), resourceVersion]));
      for (const [key, change] of unit.heard) if (!isNews(change, unit.seen.get(key))) unit.heard.delete(key);
      unit.isAsleep = false;
    },
    rest(unitId) {
      const unit = units.get(unitId);
      if (unit === undefined) return true;
      unit.isAsleep = unit.heard.size === 0;
      // Each is told once: what a look does not show is no reason to look for ever.
      unit.heard.clear();
      return unit.isAsleep;
    },
    forget(id) {
      for (const [unitId, { move }] of units) if (move === id) units.delete(unitId);
    },
    heard(change) {
      const unit = units.get(unitIdOf(change));
      if (unit === undefined || !isNews(change, unit.seen.get(keyOf(change.at)))) return;
      if (!unit.isAsleep) return void unit.heard.set(keyOf(change.at), change);
      unit.isAsleep = false;
      wake(unit.move);
    },
  };
}

/** Whether a change says something that is not known: a newer state, one of what was not seen, or the end of what was. */
function isNews(change: ObjectChange<ObservedObject>, seen: string | undefined): boolean {
  if (change.kind === "delete") return seen !== undefined;
  return seen === undefined || isNewerVersion(change.now.resourceVersion, seen);
}

function unitIdOf(change: ObjectChange<ObservedObject>): UnitId {
  return (change.kind === "delete" ? change.before : change.now).labels[LABEL_UNIT] as UnitId;
}
