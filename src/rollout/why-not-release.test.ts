import { describe, expect, it } from "vitest";
import type { VersionsSpec } from "../domain/fleet.ts";
import type { RolloutId } from "../domain/ids.ts";
import { AT } from "../store/testing/builders.ts";
import { whyNotRelease, whyNotUpgrade } from "./why-not-release.ts";

const entry = (version: string, upgradesFrom?: readonly string[]) => ({
  ...{ version, image: `argocd:v${version}`, redisImage: "redis:8", crds: "/crds" },
  ...(upgradesFrom === undefined ? {} : { upgradesFrom }),
});
const someVersions = (over: Partial<VersionsSpec> = {}): VersionsSpec => ({
  ...{ default: "3.5.7", floor: "3.5.1 / 3.4.7 / 3.3.14" },
  catalogue: ["3.3.10", "3.3.14", "3.4.7", "3.5.0", "3.5.6", "3.5.7", "3.6.0"].map((version) => entry(version)),
  ...over,
});

describe("a release for a rollout", () => {
  it.each([
    ["3.5.7", undefined],
    ["3.4.7", undefined],
    ["3.6.0", undefined],
    ["3.3.10", /3\.3\.10 is below the security floor \(3\.5\.1 \/ 3\.4\.7 \/ 3\.3\.14\)/],
    ["3.5.0", /below the security floor/],
    ["3.5.99", /3\.5\.99 is not in versions\.catalogue/],
    ["nonsense", /is not in versions\.catalogue/],
  ])("is refused or not: %s", (version, why) => {
    const said = whyNotRelease(someVersions(), version, []);
    if (why === undefined) expect(said).toBeUndefined();
    else expect(said).toMatchObject({ message: expect.stringMatching(why), remedy: expect.stringMatching(/\w/) });
  });

  it("is accepted below the usual floor where a fleet has lowered it", () => {
    expect(whyNotRelease(someVersions({ floor: "3.3.10" }), "3.3.10", [])).toBeUndefined();
  });

  it("is refused while it is frozen, with the reason and how to unfreeze it", () => {
    const frozen = [{ version: "3.5.7", rollout: "r-1" as RolloutId, reason: "it crashes", at: AT }];
    expect(whyNotRelease(someVersions(), "3.5.7", frozen)).toEqual({
      message: "3.5.7 is frozen: it failed (it crashes)",
      remedy: "Use another release, or let it be tried again with argosy rollout unfreeze 3.5.7",
    });
    expect(whyNotRelease(someVersions(), "3.5.6", frozen)).toBeUndefined();
  });
});

describe("an upgrade from one release to another", () => {
  const whyNot = (from: string, to: string, versions = someVersions(), className = "eu/shared/public") =>
    whyNotUpgrade(versions, { version: from, class: className }, to);

  it.each([
    ["3.5.6", "3.5.7", undefined],
    ["3.5.7", "3.5.6", undefined],
    ["3.4.7", "3.5.7", undefined],
    ["3.5.7", "3.5.7-2", undefined],
    ["3.5.7-2", "3.5.7", undefined],
    ["3.4.7-2", "3.5.7", undefined],
    ["3.3.14", "3.5.7", /leaves out minors/],
    ["3.5.7", "3.4.7", /older minor.*definitions of 3\.5 store/],
    ["3.6.0", "3.5.7", /older minor/],
    ["3.6.0", "4.0.0", /leaves out minors/],
  ])("from %s to %s", (from, to, why) => {
    if (why === undefined) expect(whyNot(from, to)).toBeUndefined();
    else expect(whyNot(from, to)).toMatch(why);
  });

  it("is possible where the catalogue says that it was tested, if it says anything", () => {
    const versions = someVersions({ catalogue: [entry("3.5.7", ["3.3.14", "3.5"])] });
    expect(whyNot("3.3.14", "3.5.7", versions)).toBeUndefined();
    expect(whyNot("3.5.1", "3.5.7", versions)).toBeUndefined();
    expect(whyNot("3.3.14-2", "3.5.7", versions)).toBeUndefined();
    expect(whyNot("3.5.7", "3.5.7-2", someVersions({ catalogue: [entry("3.5.7-2", ["3.4"])] }))).toBeUndefined();
    expect(whyNot("3.4.7", "3.5.7", versions)).toBe("the way from 3.4.7 to 3.5.7 is not among those that were tested (3.3.14, 3.5)");
  });

  it("stays within the releases of a channel", () => {
    const versions = someVersions({ channels: [{ name: "slow", default: "3.5.6", versions: ["3.5.6"] }] });
    expect(whyNot("3.5.6", "3.5.7", versions, "eu/shared/public/slow")).toBe("its channel slow does not have 3.5.7");
    expect(whyNot("3.5.6", "3.5.7", versions, "eu/shared/public/fast")).toBeUndefined();
    expect(whyNot("3.5.6", "3.5.7", versions)).toBeUndefined();
  });
});
