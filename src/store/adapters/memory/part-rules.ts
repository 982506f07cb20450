import type { PlacementUnit } from "../../../domain/workspace.ts";
import { applicationsOf } from "./applications.ts";
import { liveMoveOf } from "./live-moves.ts";
import type { Tables } from "./tables.ts";

/** What the store allows about parts that change hands, as functions: the simulation replaces them by broken ones to show that they are needed. */
export interface PartRules {
  /**
   * Whether a unit is kept where it is by another part of its workspace there. What has taken over stays in any case; what others take over from, and what is
   * to be joined, stays unless a fail-over goes without the instance.
   */
  isKept(tables: Tables, unit: PlacementUnit, isFailOver: boolean): boolean;
  /** Whether a part that is to be joined may be taken over by the other one now: both are on one instance, at rest, and no third one is. */
  mayTakeOver(tables: Tables, ending: PlacementUnit, other: PlacementUnit): boolean;
}

export const PART_RULES: PartRules = {
  isKept(tables, unit, isFailOver) {
    const isBehind = ({ id, epoch }: PlacementUnit): boolean =>
      applicationsOf(tables, id).some(({ status }) => status !== undefined && status.epoch !== epoch);
    return partsOf(tables, unit)
      .filter(({ id, owner }) => id !== unit.id && owner === unit.owner && owner !== undefined)
      .some((other) => {
        const isLeftBehind = unit.joins === other.id || (other.tookFrom === unit.id && isBehind(other));
        return unit.tookFrom === other.id || (!isFailOver && isLeftBehind);
      });
  },
  mayTakeOver(tables, ending, other) {
    const both = [ending, other];
    const areTogether = ending.owner === other.owner && both.every(({ phase }) => phase === "IDLE");
    return areTogether && both.every(({ id }) => liveMoveOf(tables, id) === undefined) && !isShared(tables, ending, [ending.id, other.id]);
  },
};

function partsOf(tables: Tables, { workspaceId }: PlacementUnit): readonly PlacementUnit[] {
  return tables.units.where("workspace", workspaceId).map((row) => row.unit);
}

/** Whether another part than these is, or will be, on the instance. */
export function isShared(tables: Tables, unit: PlacementUnit, own: readonly string[]): boolean {
  return partsOf(tables, unit).some(
    ({ id, owner }) => !own.includes(id) && (owner === unit.owner || liveMoveOf(tables, id)?.to === unit.owner),
  );
}
