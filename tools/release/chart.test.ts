import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { chartInside, isIgnored, packageChart } from "./chart.ts";
import type { Commit } from "./commit.ts";
import { readTar } from "./oci/tar.ts";
import { chartField } from "./versions.ts";

function aCommit(files: Readonly<Record<string, string>>): Commit {
  return {
    hash: "c".repeat(40),
    epochSeconds: 1_700_000_000,
    files: Object.keys(files).map((path) => ({ path, mode: "100644", object: "" })),
    isDirty: false,
    origin: undefined,
    read: async (path) => Buffer.from(files[path] ?? ""),
    archive: () => Promise.reject(new Error("not asked for")),
  };
}

const CHART = {
  "charts/argosy/Chart.yaml": "name: argosy\nversion: 1.2.0\nappVersion: 1.2.0\n",
  "charts/argosy/values.yaml": "replicas: 2\n",
  "charts/argosy/templates/a.yaml": "kind: A\n",
  "charts/argosy/tests/a.golden": "x",
  "charts/argosy/.helmignore": "# tests\ntests/\n*.bak\n",
  "charts/other/Chart.yaml": "",
};

describe("the packaged chart", () => {
  it("has everything below argosy/ but what is ignored, and the version of the release", async () => {
    const packed = (await packageChart(aCommit(CHART), "1.2.0-snapshot.gabc"))!;
    expect(readTar(gunzipSync(packed)).map(({ path }) => path)).toEqual([
      "argosy/.helmignore",
      "argosy/Chart.yaml",
      "argosy/templates/a.yaml",
      "argosy/values.yaml",
    ]);
    expect(chartField(chartInside(packed), "version")).toBe("1.2.0-snapshot.gabc");
  });

  it("has the same bytes each time", async () => {
    const [one, two] = await Promise.all([packageChart(aCommit(CHART), "1.2.0"), packageChart(aCommit(CHART), "1.2.0")]);
    expect(one?.equals(two!)).toBe(true);
  });

  it("is none where the commit has no chart", async () => {
    expect(await packageChart(aCommit({ "README.md": "" }), "1.2.0")).toBeUndefined();
  });
});

describe("a .helmignore", () => {
  it.each([
    ["tests/a/b.yaml", "tests/", true],
    ["tests", "tests/", false],
    ["templates/x.bak", "*.bak", true],
    ["templates/x.bak", "/*.bak", false],
    ["docs/a.md", "docs/*.md", true],
    ["a/docs/a.md", "docs/*.md", false],
    ["values.yaml", "# values.yaml", false],
  ])("%s with %s: %s", (path, ignore, isOut) => {
    expect(isIgnored(path, `${ignore}\n`)).toBe(isOut);
  });
});
