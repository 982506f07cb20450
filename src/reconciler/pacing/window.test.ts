import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FIRST_WINDOW, nextWindow, type Window } from "./window.ts";

const MOST = 16;

/** A window after so many, each of which took what an instance takes that does `rate` a second and no single one faster than `aloneMs`. */
function afterMany(instance: { readonly rate: number; readonly aloneMs: number }, count = 400, from: Window = FIRST_WINDOW): Window {
  let window = from;
  for (let done = 0; done < count; done += 1)
    window = nextWindow(window, Math.max(instance.aloneMs, (1000 * window.size) / instance.rate), MOST);
  return window;
}
/** Times what one takes alone that the unit's own work keeps a neighbour waiting. */
const inFront = ({ size }: Window, { rate, aloneMs }: { readonly rate: number; readonly aloneMs: number }) =>
  (1000 * (size + 1)) / rate / aloneMs;

describe("how much an instance is given at once", () => {
  test.each([
    { rate: 1.5, aloneMs: 900 },
    { rate: 2, aloneMs: 1_500 },
    { rate: 1, aloneMs: 3_000 },
    { rate: 3, aloneMs: 2_000 },
  ])("keeps it busy and little in front of others, at $rate a second and $aloneMs ms alone", (instance) => {
    const window = afterMany(instance);
    expect(inFront(window, instance)).toBeLessThanOrEqual(5);
    expect((1000 * window.size) / instance.rate).toBeGreaterThanOrEqual(instance.aloneMs);
  });

  test("is all that may be where nothing takes a second, and where more at once do not take longer", () => {
    expect(afterMany({ rate: 100, aloneMs: 100 }).size).toBe(MOST);
    expect(afterMany({ rate: 1_000, aloneMs: 20_000 }).size).toBe(MOST);
  });

  test("is less once the instance becomes slow, and learns what is slow by nature", () => {
    const fast = afterMany({ rate: 100, aloneMs: 200 });
    const slow = afterMany({ rate: 1, aloneMs: 1_000 }, 200, fast);
    expect(slow.size).toBeLessThan(8);
    expect(afterMany({ rate: 100, aloneMs: 10_000 }, 400, slow).size).toBe(MOST);
  });

  test("changes once a round, within its bounds, whatever things take", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.array(fc.nat(120_000)), (most, times) => {
        let window: Window = { ...FIRST_WINDOW, size: Math.min(FIRST_WINDOW.size, most) };
        let unchanged = 0;
        for (const tookMs of times) {
          const next = nextWindow(window, tookMs, most);
          expect(next.size).toBeGreaterThanOrEqual(Math.min(FIRST_WINDOW.size, most));
          expect(next.size).toBeLessThanOrEqual(Math.min(most, 2 * window.size));
          unchanged += 1;
          if (next.size !== window.size) {
            expect(unchanged).toBeGreaterThanOrEqual(window.size);
            unchanged = 0;
          }
          window = next;
        }
      }),
    );
  });
});
