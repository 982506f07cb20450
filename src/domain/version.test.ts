import { describe, expect, it } from "vitest";
import { compareVersions, isBelowFloor, minorOf, releaseOf } from "./version.ts";

describe("versions", () => {
  it("are ordered by number, part by part", () => {
    const sorted = ["2.9.9", "3.0.0", "3.5.7", "3.5.10", "3.10.0"];
    expect(sorted.toReversed().toSorted(compareVersions)).toEqual(sorted);
    expect(compareVersions("3.5.7", "3.5.7")).toBe(0);
  });

  it.each(["3.5.7-rc1", "3.5.7+build", "v3.5.7", "3.5", "3.5.7.1", "latest", "", "3.5.12345"])(
    "are no release when they read %j: older than every release, and no older than each other",
    (other) => {
      expect(compareVersions(other, "0.0.0")).toBeLessThan(0);
      expect(compareVersions("0.0.0", other)).toBeGreaterThan(0);
      expect(compareVersions(other, "unknown")).toBe(0);
    },
  );

  it.each([
    ["3.5.7", "3.5.1", false],
    ["3.5.0", "3.5.1", true],
    ["3.4.9", "3.5.1", true],
    ["3.6.0", "3.5.1", false],
    ["3.5.1", "3.5.1 / 3.4.7 / 3.3.14", false],
    ["3.4.7", "3.5.1 / 3.4.7 / 3.3.14", false],
    ["3.4.6", "3.5.1 / 3.4.7 / 3.3.14", true],
    ["3.3.10", "3.3.14 / 3.5.1 / 3.4.7", true],
    ["3.2.99", "3.3.14 / 3.5.1 / 3.4.7", true],
    ["4.0.0", "3.3.14 / 3.5.1 / 3.4.7", false],
    ["latest", "3.5.1 / 3.4.7", true],
    ["3.5.7-2", "3.5.7", false],
    ["3.5.7", "3.5.7-2", true],
    ["3.5.7-1", "3.5.7-2", true],
    ["3.5.8", "3.5.7-2", false],
    ["3.4.7-2", "3.5.7 / 3.4.7-3", true],
  ])("%s under a floor of %s: %s", (version, floor, isBelow) => {
    expect(isBelowFloor(version, floor)).toBe(isBelow);
    expect(minorOf("3.5.7")).toBe("3.5");
  });

  it.each([
    ["v1.31.4", "1.31.4"],
    ["v1.31.4-eks-1", "1.31.4"],
    ["v1.31.4+k3s1", "1.31.4"],
    ["1.31.4", "1.31.4"],
    ["3.5.7-2", "3.5.7"],
    ["v1.31.4x", "v1.31.4x"],
    ["v1.31", "v1.31"],
    ["about v1.31.4", "about v1.31.4"],
  ])("as programs print them, %s, are of release %s", (printed, release) => {
    expect(releaseOf(printed)).toBe(release);
  });
});
