import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ObservedDeployment } from "../domain/user-resource.ts";
import { byAge, isWithinQuota } from "./quota.ts";

const resource = (uid: string, createdAt: string, isDeleting = false) => ({ uid, createdAt, isDeleting }) as ObservedDeployment;

describe("a namespace with many more resources than it may have", () => {
  it("costs each of them no more than the limit, also when most are being deleted and never go", () => {
    const crowd = Array.from({ length: 5_000 }, (_, index) =>
      resource(`u${index}`, `2026-01-01T00:00:${String(index % 60).padStart(2, "0")}Z`, index % 10 !== 0),
    ).sort(byAge);
    let asked = 0;
    const isAdmitted = (): boolean => {
      asked += 1;
      return false;
    };
    const staying = crowd.filter(({ isDeleting }) => !isDeleting);
    const within = staying.filter((each) => isWithinQuota(each, { siblings: crowd, limit: 10, isAdmitted }));
    expect(within).toEqual(staying.slice(0, 10));
    // Those within the limit are compared with everybody; the others with as many as there may be.
    expect(asked).toBeLessThan(10 * crowd.length + staying.length * 12);
  });

  it("lets in the same, in whatever order it is given", () => {
    const age = fc.record({
      uid: fc.uuid(),
      createdAt: fc.constantFrom("2026-01-01", "2026-01-02", "2026-01-03"),
      isDeleting: fc.boolean(),
    });
    const crowd = fc.uniqueArray(age, { selector: ({ uid }) => uid, minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(crowd, fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 4 }), (found, limit, admittedCount) => {
        const siblings = found as unknown as readonly ObservedDeployment[];
        const admitted = new Set(siblings.slice(0, admittedCount).map(({ uid }) => uid));
        const isAdmitted = (uid: string): boolean => admitted.has(uid);
        const within = (order: readonly ObservedDeployment[]) =>
          siblings.filter((each) => isWithinQuota(each, { siblings: order, limit, isAdmitted })).map(({ uid }) => uid);
        expect(within([...siblings].sort(byAge))).toEqual(within(siblings));
      }),
    );
  });
});
