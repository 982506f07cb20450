import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { millis } from "../../domain/clock.ts";
import type { SyncTally } from "../../domain/rollout.ts";
import { type DecidedSync, NO_SYNCS, tallySyncs } from "./tally-syncs.ts";

const sync = (application: string, startedAt: number, isFailed = false): DecidedSync => ({
  ...{ application, startedAt: millis(startedAt), isFailed },
});
const countsOf = ({ done, failed }: SyncTally) => [done, failed];
const asRead = ({ lastOf: _last, countedBy: _by, ...row }: SyncTally): SyncTally => row;

describe("syncs that are counted over many observations", () => {
  it("count once each, however often they are observed, and each sync of an application counts", () => {
    const first = tallySyncs(NO_SYNCS, [sync("a", 1_000), sync("b", 1_000, true)]);
    expect(countsOf(first)).toEqual([2, 1]);
    expect(countsOf(tallySyncs(first, [sync("a", 1_000), sync("b", 1_000, true)]))).toEqual([2, 1]);
    const later = tallySyncs(first, [sync("a", 2_000, true), sync("b", 1_000, true), sync("c", 500)]);
    expect(countsOf(later)).toEqual([4, 2]);
    expect(later.until).toBe(2_000);
  });

  it("do not count twice when another process goes on, which knows only the row", () => {
    const row = asRead(tallySyncs(NO_SYNCS, [sync("a", 1_000), sync("b", 2_000)]));
    const taken = tallySyncs(row, [sync("a", 1_000), sync("b", 2_000), sync("c", 3_000)]);
    expect(countsOf(taken)).toEqual([3, 0]);
    // The process before may have counted it.
    expect(countsOf(tallySyncs(taken, [sync("d", 1_500, true), sync("a", 4_000)]))).toEqual([4, 0]);
  });

  it("are as many as were made, whichever of them each observation shows, and never more after a change of process", () => {
    const one = fc.record({ application: fc.constantFrom("a", "b", "c"), startedAt: fc.nat(50), isFailed: fc.boolean() });
    const observations = fc.array(fc.tuple(fc.array(one, { maxLength: 6 }), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(observations, (all) => {
        const newest = new Map<string, number>();
        const distinct = new Set<string>();
        let [kept, lost]: SyncTally[] = [NO_SYNCS, NO_SYNCS];
        for (const [seen, isAnother] of all) {
          // An observation shows one sync of each application, never an older one than before.
          const last = new Map(seen.map((each) => [each.application, each]));
          const decided = [...last.values()].flatMap(({ application, startedAt, isFailed }) => {
            const at = Math.max(startedAt, newest.get(application) ?? 0);
            newest.set(application, at);
            distinct.add(`${application} ${at}`);
            return sync(application, at, isFailed);
          });
          kept = tallySyncs(kept ?? NO_SYNCS, decided);
          lost = tallySyncs(isAnother ? asRead(lost ?? NO_SYNCS) : (lost ?? NO_SYNCS), decided);
        }
        expect(kept?.done).toBe(distinct.size);
        expect(lost?.done).toBeLessThanOrEqual(distinct.size);
      }),
    );
  });
});
