import { describe, expect, it } from "vitest";
import { checkSbom } from "./check-sbom.ts";
import { licencesOf, parseDebianRecord } from "./debian-record.ts";
import type { TarEntry } from "./oci/tar.ts";
import { renderSbom, type Sbom, targetOf } from "./sbom.ts";
import { A_LOCKFILE, aFile, aRoot, byPath } from "./testing/a-root.ts";

const DIGEST = `sha256:${"d".repeat(64)}`;
const anSbom = (root: readonly TarEntry[] = aRoot()): Sbom =>
  renderSbom({
    version: "1.2.3",
    architecture: "amd64",
    epochSeconds: 1_700_000_000,
    digest: DIGEST,
    files: byPath(root),
    lockfile: A_LOCKFILE,
  });

const without = (path: string): readonly TarEntry[] => aRoot().filter((entry) => entry.path !== path);
const withText = (path: string, text: string): readonly TarEntry[] => [...without(path), aFile(path, text)];

describe("an SBOM", () => {
  it("names every package with its version, licence and origin", () => {
    const { components } = anSbom();
    expect(components.map(({ type, name, version }) => `${type} ${name} ${version}`)).toEqual([
      "library git 1:2.39.5-0+deb12u3",
      "application argosy 1.2.3",
      "library @scope/old 0.1.0",
      "platform node 24.21.0",
      "library zod 3.0.0",
      "library zod 4.0.0",
    ]);
    expect(components[0]).toMatchObject({
      purl: "pkg:deb/debian/git@1%3A2.39.5-0%2Bdeb12u3?arch=amd64&distro=debian-12",
      licenses: [{ license: { name: "GPL-2" } }],
    });
    expect(components[2]).toMatchObject({
      licenses: [{ license: { name: "BSD" } }],
      hashes: [{ alg: "SHA-512", content: "02".repeat(64) }],
    });
    expect(components[5]).toMatchObject({ licenses: [{ expression: "MIT" }], hashes: [{ content: "01".repeat(64) }] });
  });

  it("is of one image, and the same each time", () => {
    expect(anSbom().metadata.component.hashes).toEqual([{ alg: "SHA-256", content: "d".repeat(64) }]);
    expect(JSON.stringify(anSbom(aRoot().toReversed()))).toBe(JSON.stringify(anSbom()));
  });

  it("has unique references", () => {
    const refs = anSbom().components.map((component) => component["bom-ref"]);
    expect(new Set(refs).size).toBe(refs.length);
  });
});

describe("checking an SBOM against the image", () => {
  const problemsWith = (root: readonly TarEntry[], sbom = anSbom()): readonly string[] => checkSbom(sbom, byPath(root));

  it("finds nothing where it lists exactly what is there", () => {
    expect(problemsWith(aRoot())).toEqual([]);
  });

  it.each([
    ["a file that is nobody's", [...aRoot(), aFile("usr/bin/miner", "x")], "/usr/bin/miner belongs to no component"],
    ["a file that is gone", without("usr/bin/git"), "lists /usr/bin/git, where no file is"],
    [
      "a package that is not listed",
      [...aRoot(), aFile("app/node_modules/evil/package.json", '{"name":"evil","version":"1.0.0"}')],
      "npm package evil 1.0.0, which is not listed",
    ],
    [
      "a package of another version",
      withText("app/node_modules/zod/package.json", '{"name":"zod","version":"4.0.1"}'),
      "npm package zod 4.0.0 is listed, which the image does not hold",
    ],
    [
      "a Debian package of another version",
      withText("var/lib/dpkg/status.d/git", "Package: git\nVersion: 2\n"),
      "Debian package git 2, which is not listed",
    ],
    ["another Node.js", withText("usr/bin/node", "ELF v24.20.0"), "/usr/bin/node is not the listed Node.js 24.21.0"],
    ["another Argosy", withText("app/package.json", '{"version":"1.2.4"}'), "the image holds Argosy 1.2.4, and 1.2.3 is listed"],
    [
      "a link that leads nowhere",
      [...without("usr/bin/argosy"), { kind: "link", path: "usr/bin/argosy", target: "/nowhere" } as const],
      "/usr/bin/argosy is a link that leads nowhere",
    ],
  ])("finds %s", (_, root, problem) => {
    expect(problemsWith(root).join("\n")).toContain(problem);
  });

  it("finds a place that two components claim, and a component that has none", () => {
    const sbom = anSbom();
    const [git, ...rest] = sbom.components;
    const twice = { ...git!, "bom-ref": "other" };
    expect(problemsWith(aRoot(), { ...sbom, components: [git!, twice, ...rest] }).join("\n")).toContain(
      "/usr/bin/git belongs to several components",
    );
    const empty = { ...git!, "bom-ref": "other", evidence: { occurrences: [{ location: "/opt/" }] } };
    expect(problemsWith(aRoot(), { ...sbom, components: [git!, empty, ...rest] })).toContain("other lists /opt/, where no file is");
  });
});

describe("a link", () => {
  it("is followed through links of folders, and no further than it leads", () => {
    const files = byPath([
      { kind: "link", path: "lib", target: "usr/lib" },
      { kind: "directory", path: "usr/lib", mode: 0o755 },
      aFile("usr/lib/a.so.1", ""),
      { kind: "link", path: "usr/lib/a.so", target: "/lib/a.so.1" },
      { kind: "link", path: "usr/lib/round", target: "round" },
      { kind: "link", path: "out", target: "../../../usr/lib/a.so" },
    ]);
    expect(targetOf(files, "usr/lib/a.so")).toBe("usr/lib/a.so.1");
    expect(targetOf(files, "out")).toBe("usr/lib/a.so.1");
    expect(targetOf(files, "usr/lib/round")).toBeUndefined();
  });
});

describe("Debian's records", () => {
  it("give name, version and source, and nothing where they are broken", () => {
    expect(parseDebianRecord("Package: libc6\nSource: glibc (2.36)\nVersion: 2.36-9\nDescription: a\n Version: 1\n")).toMatchObject({
      name: "libc6",
      version: "2.36-9",
      source: "glibc (2.36)",
    });
    expect(parseDebianRecord("Package: libc6\n")).toBeUndefined();
  });

  it("name licences where the file is for machines", () => {
    expect(licencesOf("Format: x\nLicense: MIT\nFiles: *\nLicense: GPL-2+\nLicense: MIT\n")).toEqual(["GPL-2+", "MIT"]);
    expect(licencesOf("This package is free.\nLicense: as below\n")).toEqual([]);
  });
});
