import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasMutualTls, renderingsDatabase } from "./version.ts";

describe("what differs from release to release", () => {
  it.each([
    ["3.4.7", false],
    ["3.5.0", true],
    ["3.6.1", true],
  ])("has client certificates for controllers, in %s: %s", (version, has) => {
    expect(hasMutualTls(version)).toBe(has);
  });

  it("keeps rendered manifests of a release and its builds apart", () => {
    expect(new Set(["3.5.7", "3.5.7-1", "3.5.7-2", "3.5.7-3"].map(renderingsDatabase)).size).toBe(4);
    expect(renderingsDatabase("3.5.7")).toBe(3);
  });

  it("keeps rendered manifests of a minor's releases apart, in databases that every redis has, and not in the controller's", () => {
    const patch = fc.nat(200);
    fc.assert(
      fc.property(fc.nat(20), patch, fc.integer({ min: 1, max: 14 }), (minor, of, apart) => {
        const [one, other] = [of, of + apart].map((number) => renderingsDatabase(`3.${minor}.${number}`));
        expect(one).not.toBe(other);
        for (const database of [one, other]) expect([database, (database ?? 0) >= 1 && (database ?? 0) <= 15]).toEqual([database, true]);
      }),
    );
  });
});
