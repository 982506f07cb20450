import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../domain/ids.ts";
import type { Owned } from "../domain/ownership.ts";
import type { SeenApplication } from "../domain/seen-application.ts";
import { createOwnedIndex } from "./owned-index.ts";
import { createOwnershipBook } from "./ownership-book.ts";
import { A, aMove, aRow, aSeen, B, CLASS, indexOf, judgeOwnership, NOW, type Whole } from "./testing/observations.ts";

const instances = [A, B].map((id) => ({ id, name: id, class: CLASS }));
const NAMES = ["a", "b", "c", "d"];
const nothing = { silent: new Set<InstanceId>(), moves: [], resyncMs: 180_000, instances };

/** A fleet of so many applications, all of them where they belong. */
function aFleetOf(count: number) {
  const owned = Array.from({ length: count }, (_, index) => aRow({ argoName: `app-${index}`, unitId: `u-${index >> 1}` as UnitId }));
  const list = owned.map(({ argoName }) => aSeen({ name: argoName, uid: argoName }));
  return { rows: indexOf(owned), list };
}

describe("the book of who works for what", () => {
  const name = fc.constantFrom(...NAMES);
  const instance = fc.constantFrom(A, B);
  const row = fc.record({
    argoName: name,
    unitId: fc.constantFrom("u-1", "u-2").map((id) => id as UnitId),
    owner: instance,
    class: fc.constantFrom(CLASS, "eu/shared/internal"),
    ...{ isMoving: fc.boolean(), isLeaving: fc.boolean(), hasStood: fc.boolean() },
    apart: fc.option(fc.constantFrom({ customer: "x" }, { customer: "y" }), { nil: undefined }),
  });
  const one = fc.record({
    ...{
      name,
      isPaused: fc.boolean(),
      isArriving: fc.boolean(),
      isDeleting: fc.boolean(),
      awaitsRefresh: fc.boolean(),
      isGreen: fc.boolean(),
    },
    reconciledAt: fc.option(
      fc.nat(20).map((minute) => millis(NOW - minute * 60_000)),
      { nil: undefined },
    ),
  });
  const step = fc.oneof(
    fc.record({ kind: fc.constant("row" as const), row }),
    fc.record({ kind: fc.constant("no row" as const), name }),
    fc.record({ kind: fc.constant("stands" as const), instance, one }),
    fc.record({ kind: fc.constant("gone" as const), instance, name }),
    fc.record({ kind: fc.constant("away" as const), instance, is: fc.boolean() }),
    fc.record({ kind: fc.constant("silent" as const), instance, is: fc.boolean() }),
    fc.record({ kind: fc.constant("move" as const), phase: fc.constantFrom("PREPARE", "REVOKE", "ACTIVATE", undefined) }),
    fc.record({ kind: fc.constant("named" as const), instance, as: fc.constantFrom("one", "two") }),
    fc.record({
      kind: fc.constant("changes" as const),
      instance,
      name,
      flag: fc.constantFrom("isPaused" as const, "isArriving" as const, "isDeleting" as const, "isGreen" as const),
    }),
    fc.record({ kind: fc.constant("time passes" as const), ms: fc.nat(100_000) }),
  );

  type Step = typeof step extends fc.Arbitrary<infer Of> ? Of : never;

  it("finds what judging everything anew would find, whatever happens between two checks", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const book = createOwnershipBook();
        const rows = createOwnedIndex();
        const stands = new Map<InstanceId, Map<string, SeenApplication>>([A, B].map((id) => [id, new Map()]));
        const [away, silent] = [new Set<InstanceId>(), new Set<InstanceId>()];
        let [now, moves, called, changed]: [number, Whole["moves"], Whole["instances"], Set<string>] = [NOW, [], instances, new Set()];
        let waitingSince: Whole["waitingSince"] = new Map();
        let isFirst = true;
        const check = (): void => {
          const seen = new Map([...stands].filter(([id]) => !away.has(id)).map(([id, ones]) => [id, [...ones.values()]]));
          const observation = { now: millis(now), seen, silent: new Set(silent), instances: called, moves, resyncMs: 180_000 };
          const waiting = [...seen.values()].flat().filter(({ awaitsRefresh }) => awaitsRefresh);
          waitingSince = new Map(waiting.map(({ uid }) => [uid, waitingSince.get(uid) ?? millis(now)]));
          const found = book.judge({ ...observation, rows, changed: isFirst ? "all" : changed });
          expect(found).toEqual(judgeOwnership({ ...observation, owned: [...rows.values()], waitingSince }));
          [isFirst, changed] = [false, new Set()];
        };
        const put = (of: Owned): void => {
          rows.set({ ...of, id: of.argoName as ApplicationId });
          changed.add(of.argoName);
        };
        const stand = (at: InstanceId, seen: SeenApplication): void =>
          void stands.get(at)?.set(seen.name, aSeen({ ...seen, uid: `${at} ${seen.name}` }));
        const turn = (set: Set<InstanceId>, id: InstanceId, is: boolean): void => void (is ? set.add(id) : set.delete(id));
        for (const argoName of NAMES) {
          put(aRow({ argoName }));
          stand(A, aSeen({ name: argoName }));
        }
        const acts: { readonly [Kind in Step["kind"]]: (of: Extract<Step, { readonly kind: Kind }>) => void } = {
          row({ row: { apart, ...rest } }) {
            put(apart === undefined ? rest : { ...rest, apart });
          },
          "no row"({ name: gone }) {
            rows.delete(gone);
            changed.add(gone);
          },
          stands: (of) => stand(of.instance, aSeen(of.one)),
          gone: (of) => void stands.get(of.instance)?.delete(of.name),
          changes(of) {
            const was = stands.get(of.instance)?.get(of.name);
            if (was !== undefined) stand(of.instance, { ...was, [of.flag]: !was[of.flag] });
          },
          away: (of) => turn(away, of.instance, of.is),
          silent: (of) => turn(silent, of.instance, of.is),
          move(of) {
            moves = of.phase === undefined ? [] : [aMove(of.phase, 30_000)];
          },
          named(of) {
            called = called.map((each) => (each.id === of.instance ? { ...each, name: of.as } : each));
          },
          "time passes"(of) {
            now += of.ms;
          },
        };
        for (const each of steps) {
          check();
          (acts[each.kind] as (of: Step) => void)(each);
        }
        check();
      }),
      { numRuns: 300 },
    );
  });

  it.each([100, 1_000])("judges nothing of %i applications of which nothing has changed, and one where one has", (count) => {
    const { rows, list } = aFleetOf(count);
    const book = createOwnershipBook();
    const judge = (seen: readonly SeenApplication[], changed: ReadonlySet<string> | "all") =>
      book.judge({ ...nothing, now: NOW, rows, changed, seen: new Map([[A, seen]]) });
    expect(judge(list, "all")).toEqual([]);
    expect(book.judged()).toBe(count);
    expect(judge([...list], new Set())).toEqual([]);
    expect(book.judged()).toBe(0);
    // Argo CD compares each of them all the time.
    expect(
      judge(
        list.map((one) => ({ ...one, reconciledAt: NOW })),
        new Set(),
      ),
    ).toEqual([]);
    expect(book.judged()).toBe(0);
    expect(judge([...list.slice(1)], new Set())).toMatchObject([{ rule: "NO_OWNER" }]);
    judge(list, new Set(["app-7"]));
    expect(judge(list.with(3, aSeen({ ...list[3], isPaused: true })), new Set())).toMatchObject([{ rule: "NO_OWNER" }]);
    expect(book.judged()).toBe(1);
  });
});
