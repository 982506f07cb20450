import { describe, expect, it } from "vitest";
import { chartField, isVersionOf, releaseVersion, sectionOf, type VersionInput, withChartVersion } from "./versions.ts";

const input: VersionInput = {
  manifest: '{"version":"1.2.0"}',
  changelog: "# Changelog\n\n## Unreleased\n\n- New.\n\n## 1.2.0 - 2026-11-25\n\n- Old.\n\n## 1.2.0-rc.1\n\n- Older.\n",
  chart: 'apiVersion: v2\nname: argosy\nversion: 1.2.0 # with the application\nappVersion: "1.2.0"\n',
  commit: "0123456789abcdef".repeat(2),
  isSnapshot: false,
};

describe("the version of a release", () => {
  it("is that of package.json, with its section of the changelog", () => {
    expect(releaseVersion(input)).toEqual({ version: "1.2.0", notes: "## 1.2.0 - 2026-11-25\n\n- Old.\n" });
  });

  it("is called after the commit where it is a snapshot", () => {
    expect(releaseVersion({ ...input, isSnapshot: true })).toEqual({
      version: "1.2.0-snapshot.g0123456789ab",
      notes: "## Unreleased\n\n- New.\n",
    });
    expect(isVersionOf("1.2.0-snapshot.g0123456789ab", "1.2.0")).toBe(true);
    expect(isVersionOf("1.2.0-snapshot.g0123456789ab", "1.2")).toBe(false);
  });

  it.each([
    ["package.json", { manifest: '{"version":"1.2"}' }, "1.2 is no version"],
    ["CHANGELOG.md", { manifest: '{"version":"1.3.0"}', chart: undefined }, "has no section 1.3.0"],
    ["CHANGELOG.md", { changelog: "## Unreleased\n\n## 1.2.0\n- a\n", isSnapshot: true }, "has no section Unreleased"],
    ["charts/argosy/Chart.yaml", { chart: 'version: 1.2.0\nappVersion: "1.1.0"\n' }, "appVersion is 1.1.0, and package.json has 1.2.0"],
    ["charts/argosy/Chart.yaml", { chart: "name: argosy\n" }, "version is missing"],
  ])("is refused where %s differs", (path, change, message) => {
    expect(() => releaseVersion({ ...input, ...change })).toThrow(
      expect.objectContaining({ path, message: expect.stringContaining(message) as string }),
    );
  });
});

describe("a section of the changelog", () => {
  it("is that of the whole title", () => {
    expect(sectionOf(input.changelog, "1.2.0")).toContain("Old.");
    expect(sectionOf(input.changelog, "1.2")).toBeUndefined();
  });
});

describe("a Chart.yaml", () => {
  it("gets the version of the release and keeps everything else", () => {
    const text = withChartVersion(input.chart ?? "", "1.2.0-snapshot.gabc");
    expect(chartField(text, "version")).toBe("1.2.0-snapshot.gabc");
    expect(chartField(text, "appVersion")).toBe("1.2.0-snapshot.gabc");
    expect(text).toContain("apiVersion: v2\nname: argosy\n");
  });
});
