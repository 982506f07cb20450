import { type Millis, millis } from "../../domain/clock.ts";
import type { InstanceId, MoveId, UnitId } from "../../domain/ids.ts";
import type { MovePhase } from "../../domain/move.ts";
import type { Owned } from "../../domain/ownership.ts";
import type { SeenApplication } from "../../domain/seen-application.ts";
import type { OwnershipObservation } from "../judge.ts";

export const NOW: Millis = millis(1_700_000_000_000);
export const [A, B] = ["i-a", "i-b"] as unknown as [InstanceId, InstanceId];
export const CLASS = "eu/shared/public";
export const UNIT = "u-1" as UnitId;

export const aRow = (over: Partial<Owned> = {}): Owned => ({
  ...{ argoName: "web", unitId: UNIT, owner: A, class: CLASS, isMoving: false, isLeaving: false, hasStood: true },
  ...over,
});

export const aSeen = (over: Partial<SeenApplication> = {}): SeenApplication => ({
  ...{ name: "web", uid: "uid-web", isPaused: false, isArriving: false, isDeleting: false, awaitsRefresh: false },
  ...{ reconciledAt: millis(NOW - 1_000), isGreen: true },
  ...over,
});

export const aMove = (phase: MovePhase, revokedMsAgo?: number): OwnershipObservation["moves"][number] => ({
  ...{ id: "m-1" as MoveId, unitId: UNIT, from: A, to: B, phase },
  marks: revokedMsAgo === undefined ? [] : [{ phase: "REVOKE", at: millis(NOW - revokedMsAgo) }],
});

/** An application on which its owner works, and another instance without Applications. */
export const anOwnershipObservation = (
  over: Partial<OwnershipObservation> & { readonly onA?: readonly SeenApplication[]; readonly onB?: readonly SeenApplication[] } = {},
): OwnershipObservation => {
  const { onA = [aSeen()], onB = [], ...rest } = over;
  return {
    ...{ now: NOW, owned: [aRow()], seen: new Map([[A, onA] as const, [B, onB] as const]), moves: [], resyncMs: 180_000 },
    instances: [
      { id: A, name: "one", class: CLASS },
      { id: B, name: "two", class: CLASS },
    ],
    ...{ silent: new Set(), waitingSince: new Map() },
    ...rest,
  };
};
