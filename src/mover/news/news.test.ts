import { expect, it, vi } from "vitest";
import type { MoveId, UnitId } from "../../domain/ids.ts";
import { LABEL_UNIT } from "../../domain/names.ts";
import type { ObjectChange, ObservedObject } from "../../shard/managed-object.ts";
import { createNews } from "./controller.ts";

const MOVE = { id: "m" as MoveId, unitId: "u" as UnitId };
const AT = { namespace: "shard", name: "web" };
const object = (resourceVersion: string, unit: string = MOVE.unitId) =>
  ({ at: AT, resourceVersion, labels: { [LABEL_UNIT]: unit } }) as unknown as ObservedObject;
const changed = (version: string, unit?: string): ObjectChange<ObservedObject> => ({
  ...{ kind: "upsert", at: AT, now: object(version, unit), before: undefined },
});
const gone: ObjectChange<ObservedObject> = { kind: "delete", at: AT, before: object("5") };

function asleep(...seen: readonly string[]) {
  const wake = vi.fn();
  const news = createNews({ wake });
  news.looked(
    MOVE,
    seen.map((version) => object(version)),
  );
  expect(news.rest(MOVE.unitId)).toBe(true);
  return { wake, news };
}

it("wakes a move that waits once for what its last look did not show", () => {
  const { wake, news } = asleep("5");
  for (const old of [changed("5"), changed("4"), changed("6", "other")]) news.heard(old);
  expect(wake).not.toHaveBeenCalled();
  news.heard(changed("6"));
  news.heard(changed("7"));
  expect(wake.mock.calls).toEqual([[MOVE.id]]);
});

it("wakes it for what comes and for the end of what it saw, not for the end of what it did not", () => {
  const [some, none, never] = [asleep("5"), asleep(), asleep()];
  some.news.heard(gone);
  none.news.heard(changed("1"));
  never.news.heard(gone);
  expect([some, none, never].map(({ wake }) => wake.mock.calls.length)).toEqual([1, 1, 0]);
});

it("lets nobody sleep over what was heard during the look and is not in it, once", () => {
  const { wake, news } = asleep("5");
  news.looked(MOVE, [object("5")]);
  news.heard(changed("6"));
  news.looked(MOVE, [object("6")]);
  expect(news.rest(MOVE.unitId)).toBe(true);
  news.looked(MOVE, [object("6")]);
  news.heard(changed("7"));
  expect([news.rest(MOVE.unitId), news.rest(MOVE.unitId)]).toEqual([false, true]);
  expect(wake).not.toHaveBeenCalled();
});

it("forgets a move that has ended, and begins anew for the unit's next", () => {
  const { wake, news } = asleep("5");
  news.forget(MOVE.id);
  news.heard(changed("6"));
  const next = { ...MOVE, id: "n" as MoveId };
  news.looked(next, []);
  news.forget(MOVE.id);
  news.rest(MOVE.unitId);
  news.heard(changed("6"));
  expect(wake.mock.calls).toEqual([[next.id]]);
});
