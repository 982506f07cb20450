import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { PHASES } from "../../domain/move-phases.ts";
import { accountName } from "../../shard/names.ts";
import type { Happening } from "../history.ts";

/** Where a unit lives by the rows. */
export interface OwnedUnit {
  readonly unit: string;
  readonly namespace: string;
  /** Id of the instance. */
  readonly instance: string;
  readonly epoch: number;
}

export type MoveHappening = Extract<Happening, { readonly kind: "move" }>;

/** Who owns which unit, and which moves are under way, from the history alone. */
export interface Owners {
  learn(happening: Happening): void;
  of(unit: string): OwnedUnit | undefined;
  /** Units whose namespace this is or was. */
  inNamespace(namespace: string): readonly OwnedUnit[];
  /** The move of the unit that has begun and not ended. */
  moveOf(unit: string): MoveHappening | undefined;
}

export function createOwners(): Owners {
  const ownedUnits = new Map<string, OwnedUnit>();
  const moves = new Map<string, MoveHappening>();
  return {
    learn(happening) {
      if (happening.kind === "placed") ownedUnits.set(happening.unit, happening);
      if (happening.kind !== "move") return;
      if (PHASES[happening.phase].isUnderWay) moves.set(happening.unit, happening);
      else moves.delete(happening.unit);
    },
    of: (unit) => ownedUnits.get(unit),
    inNamespace: (namespace) => [...ownedUnits.values()].filter((each) => each.namespace === namespace),
    moveOf: (unit) => moves.get(unit),
  };
}

/** The account that the unit's owner writes as. */
export function accountOf({ unit, instance }: Pick<OwnedUnit, "unit" | "instance">): string {
  return accountName(unit as UnitId, instance as InstanceId);
}
