import { describe, expect, it } from "vitest";
import { aFleet } from "../store/testing/builders.ts";
import type { CatalogueEntry } from "./fleet.ts";
import { changedParts, hasDigest, imagesOf, nextBuild, undigestedParts } from "./release.ts";

const DIGEST = `@sha256:${"a".repeat(64)}`;
const entry = (version: string, image: string): CatalogueEntry => ({ version, image, redisImage: `redis${DIGEST}`, crds: "/crds" });
const fleet = (...catalogue: readonly CatalogueEntry[]) => aFleet({ versions: { default: "3.5.7", floor: "3.0.0", catalogue } });
const KNOWN = imagesOf([entry("3.5.7", `argocd:v3.5.7${DIGEST}`), entry("3.5.6", "argocd:v3.5.6")]);

describe("a release", () => {
  it("keeps its images, whatever the catalogue has now", () => {
    const other = fleet(entry("3.5.6", "argocd:v3.5.6"), entry("3.5.7", "argocd:v3.5.7"));
    for (const declared of [undefined, fleet(), fleet(entry("3.5.7", `argocd:v3.5.7${DIGEST}`))])
      expect(changedParts(KNOWN, declared, other)).toEqual([{ index: 1, version: "3.5.7", part: "image" }]);
    expect(changedParts(KNOWN, undefined, fleet(entry("3.5.8", "anything")))).toEqual([]);
    expect(changedParts([], fleet(entry("3.5.7", "one")), fleet(entry("3.5.7", "other")))).toHaveLength(1);
  });

  it("stays as it is declared, whatever an earlier program has written", () => {
    const declared = fleet(entry("3.5.7", "written:by-another"));
    expect(changedParts(KNOWN, declared, declared)).toEqual([]);
  });

  it("needs digests when it is new, and keeps going without where it was there before", () => {
    const wanted = fleet(entry("3.5.6", "argocd:v3.5.6"), entry("3.5.8", "argocd:v3.5.8"));
    expect(undigestedParts(KNOWN, undefined, wanted)).toEqual([{ index: 1, version: "3.5.8", part: "image" }]);
    expect(undigestedParts([], wanted, wanted)).toEqual([]);
  });

  it.each([
    [`argocd:v1${DIGEST}`, true],
    [`argocd${DIGEST}`, true],
    ["argocd:v1", false],
    ["argocd:v1@sha256:abc", false],
  ])("%s has a digest: %s", (image, has) => {
    expect(hasDigest(image)).toBe(has);
  });

  it.each([
    ["3.5.7", [], "3.5.7-2"],
    ["3.5.7", ["3.5.7-2", "3.5.7-3"], "3.5.7-4"],
    ["3.5.7-2", ["3.5.7", "3.5.7-2"], "3.5.7-3"],
  ])("of another image of %s, where %j are taken, is called %s", (version, taken, name) => {
    expect(nextBuild(version, taken)).toBe(name);
  });
});
