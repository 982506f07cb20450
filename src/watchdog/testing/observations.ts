import { type Millis, millis } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, MoveId, UnitId } from "../../domain/ids.ts";
import type { MovePhase } from "../../domain/move.ts";
import type { Owned, OwnershipFinding } from "../../domain/ownership.ts";
import type { SeenApplication } from "../../domain/seen-application.ts";
import type { OwnershipObservation } from "../judge.ts";
import { createOwnedIndex } from "../owned-index.ts";
import { createOwnershipBook } from "../ownership-book.ts";

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

/** What one check sees, with all rows and since when Applications wait for a refresh. */
export interface Whole extends Omit<OwnershipObservation, "rows" | "changed"> {
  readonly owned: readonly Owned[];
  readonly waitingSince: ReadonlyMap<string, Millis>;
}

/** Judges everything at once, as the first check does. */
export function judgeOwnership({ owned, waitingSince, ...observation }: Whole): readonly OwnershipFinding[] {
  return createOwnershipBook(waitingSince).judge({ ...observation, rows: indexOf(owned), changed: "all" });
}

export function indexOf(owned: readonly Owned[]) {
  const rows = createOwnedIndex();
  for (const row of owned) rows.set({ ...row, id: row.argoName as ApplicationId });
  return rows;
}

/** An application on which its owner works, and another instance without Applications. */
export const anOwnershipObservation = (
  over: Partial<Whole> & { readonly onA?: readonly SeenApplication[]; readonly onB?: readonly SeenApplication[] } = {},
): Whole => {
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
