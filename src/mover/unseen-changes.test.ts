import { expect, it } from "vitest";
import type { MoveId, UnitId } from "../domain/ids.ts";
import { LABEL_UNIT } from "../domain/names.ts";
import type { ObjectChange, ObservedObject } from "../shard/managed-object.ts";
import { createUnseenChanges } from "./unseen-changes.ts";

const MOVE = { id: "m" as MoveId, unitId: "u" as UnitId };
const AT = { namespace: "shard", name: "web" };
const object = (resourceVersion: string, unit: string = MOVE.unitId) =>
  ({ at: AT, resourceVersion, labels: { [LABEL_UNIT]: unit } }) as unknown as ObservedObject;
const changed = (version: string, unit?: string): ObjectChange<ObservedObject> => ({
  ...{ kind: "upsert", at: AT, now: object(version, unit), before: undefined },
});
const gone: ObjectChange<ObservedObject> = { kind: "delete", at: AT, before: object("5") };

function asleep(...seen: readonly string[]) {
  const unseen = createUnseenChanges();
  const woken: MoveId[] = [];
  const report = (change: ObjectChange<ObservedObject>): void => {
    const move = unseen.report(change);
    if (move !== undefined) woken.push(move);
  };
  unseen.observed(
    MOVE,
    seen.map((version) => object(version)),
  );
  expect(unseen.fallAsleep(MOVE.unitId)).toBe(true);
  return { woken, unseen, report };
}

it("wakes a move that waits once for what its last observation did not show", () => {
  const { woken, report } = asleep("5");
  for (const old of [changed("5"), changed("4"), changed("6", "other")]) report(old);
  expect(woken).toEqual([]);
  report(changed("6"));
  report(changed("7"));
  expect(woken).toEqual([MOVE.id]);
});

it("wakes it for what comes and for the end of what it saw, not for the end of what it did not", () => {
  const [some, none, never] = [asleep("5"), asleep(), asleep()];
  some.report(gone);
  none.report(changed("1"));
  never.report(gone);
  expect([some, none, never].map(({ woken }) => woken.length)).toEqual([1, 1, 0]);
});

it("lets no move sleep over what was reported during the observation and is not in it, once", () => {
  const { woken, unseen, report } = asleep("5");
  unseen.observed(MOVE, [object("5")]);
  report(changed("6"));
  unseen.observed(MOVE, [object("6")]);
  expect(unseen.fallAsleep(MOVE.unitId)).toBe(true);
  unseen.observed(MOVE, [object("6")]);
  report(changed("7"));
  expect([unseen.fallAsleep(MOVE.unitId), unseen.fallAsleep(MOVE.unitId)]).toEqual([false, true]);
  expect(woken).toEqual([]);
});

it("forgets a move that has ended, and begins anew for the unit's next", () => {
  const { woken, unseen, report } = asleep("5");
  unseen.forget(MOVE.id);
  report(changed("6"));
  const next = { ...MOVE, id: "n" as MoveId };
  unseen.observed(next, []);
  unseen.forget(MOVE.id);
  unseen.fallAsleep(MOVE.unitId);
  report(changed("6"));
  expect(woken).toEqual([next.id]);
});
