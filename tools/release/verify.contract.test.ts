import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { CHECKSUMS, renderChecksums } from "./checksums.ts";
import { writeTar } from "./oci/tar.ts";
import { withSignatures } from "./release.ts";
import type { Made } from "./render-release.ts";
import { SIGNATURE } from "./signature.ts";
import { aRelease } from "./testing/a-release.ts";
import { aFile, aRoot } from "./testing/a-root.ts";
import { type Verdict, verifyRelease } from "./verify.ts";

const root = mkdtempSync(join(tmpdir(), "argosy-verify-"));
afterAll(() => rmSync(root, { recursive: true }));

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const CHART = gzipSync(writeTar([aFile("argosy/Chart.yaml", 'version: "1.2.3"\nappVersion: "1.2.3"\n')], 0));

function put(files: Made["files"], key: KeyObject | "unsigned" = privateKey): string {
  const directory = mkdtempSync(join(root, "release-"));
  const all = key === "unsigned" ? files : withSignatures(files, key);
  for (const [name, bytes] of all) writeFileSync(join(directory, name), bytes);
  return directory;
}

/** The same files with one changed, and checksums that go with them: only what is inside can give it away. */
function withChanged(files: Made["files"], name: string, change: (text: string) => string): Made["files"] {
  const changed = new Map(files);
  changed.delete(CHECKSUMS);
  changed.set(name, Buffer.from(change(files.get(name)!.toString("latin1")), "latin1"));
  return changed.set(CHECKSUMS, Buffer.from(renderChecksums(changed)));
}

const said = ({ problems }: Verdict): string => problems.map(({ file, what }) => `${file} ${what}`).join("\n");

describe("a release", () => {
  let made: Made;
  beforeEach(async () => {
    made = await aRelease({ chart: CHART });
  });

  it("is found right, with its signatures and without", async () => {
    const directory = put(made.files);
    expect(await verifyRelease(directory, publicKey)).toMatchObject({
      version: "1.2.3",
      isSignatureChecked: true,
      images: made.images,
      problems: [],
    });
    expect(await verifyRelease(directory, undefined)).toMatchObject({ isSignatureChecked: false, problems: [] });
  });

  it("has the same bytes when it is made again", async () => {
    const again = await aRelease({ chart: CHART, root: aRoot().toReversed() });
    expect(again.images).toEqual(made.images);
    for (const [name, bytes] of made.files) expect(again.files.get(name)?.equals(bytes), name).toBe(true);
  });

  it("is found wrong, by the name of the file, when one byte of any is changed", async () => {
    for (const name of withSignatures(made.files, privateKey).keys()) {
      const directory = put(made.files);
      const bytes = readFileSync(join(directory, name));
      const at = Math.floor(bytes.length / 2);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(join(directory, name), bytes);
      const verdict = await verifyRelease(directory, publicKey).catch((error: Error & { readonly path?: string }) => {
        // A byte of the sums themselves may leave no sum that can be read.
        expect([name, error.path]).toEqual([CHECKSUMS, CHECKSUMS]);
      });
      if (verdict !== undefined) expect(said(verdict), name).toContain(name.replace(SIGNATURE, ""));
    }
  });

  it("is found wrong by its checksums alone where nobody gives a key", async () => {
    for (const name of [...made.files.keys()].filter((each) => each !== CHECKSUMS)) {
      const directory = put(made.files, "unsigned");
      const bytes = readFileSync(join(directory, name));
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      writeFileSync(join(directory, name), bytes);
      expect(said(await verifyRelease(directory, undefined)), name).toContain(`${name} has the SHA-256`);
    }
  });

  it("is found wrong when a file is missing, another is there, or is not signed", async () => {
    for (const name of made.files.keys()) {
      const directory = put(made.files);
      rmSync(join(directory, name));
      expect(said(await verifyRelease(directory, publicKey)), name).toContain(`${name} is missing`);
    }
    const more = put(made.files);
    writeFileSync(join(more, "more.txt"), "");
    expect(said(await verifyRelease(more, undefined))).toBe(`more.txt is not in ${CHECKSUMS}`);
    const unsigned = put(made.files, "unsigned");
    expect(said(await verifyRelease(unsigned, publicKey))).toContain(`${CHECKSUMS} has no signature`);
    const other = put(made.files, generateKeyPairSync("ed25519").privateKey);
    expect(said(await verifyRelease(other, publicKey))).toContain("is not what the owner of the public key signed");
  });

  it.each([
    [
      "an SBOM of another image",
      "argosy-1.2.3-linux-amd64.cdx.json",
      (text: string) => text.replace(/"content": "[0-9a-f]{64}"/, `"content": "${"0".repeat(64)}"`),
      "is of the image sha256:000",
    ],
    [
      "an SBOM that leaves something out",
      "argosy-1.2.3-linux-amd64.cdx.json",
      (text: string) => text.replace('"location": "/usr/bin/git"', '"location": "/usr/bin/hg"'),
      "/usr/bin/git belongs to no component",
    ],
    [
      "a provenance of other files",
      "argosy-1.2.3.provenance.json",
      (text: string) => text.replace(/("name": "argosy-1.2.3.tgz",\s*"digest": \{\s*"sha256": ")./, "$1x"),
      "names x",
    ],
    [
      "a provenance of another version",
      "argosy-1.2.3.provenance.json",
      (text: string) => text.replace('"version": "1.2.3"', '"version": "1.2.4"'),
      "is of the version 1.2.4, not 1.2.3",
    ],
    [
      "a provenance of another commit",
      "argosy-1.2.3.provenance.json",
      (text: string) => text.replace(/"commit": "c/, '"commit": "d'),
      "has the label revision ccc",
    ],
    [
      "notes of another version",
      "argosy-1.2.3.notes.md",
      (text: string) => text.replace("1.2.3", "1.2.2"),
      "is not the section 1.2.3 of the changelog",
    ],
    ["a provenance that is no JSON", "argosy-1.2.3.provenance.json", () => "{", "cannot be read"],
  ])("is found wrong with %s, though sums and signatures are right", async (_, name, change, problem) => {
    const changed = withChanged(made.files, name, change);
    expect(changed.get(name)?.equals(made.files.get(name)!)).toBe(false);
    expect(said(await verifyRelease(put(changed), publicKey))).toContain(problem);
  });

  it("is found wrong with a chart or an Argosy of another version", async () => {
    const oldChart = gzipSync(writeTar([aFile("argosy/Chart.yaml", 'version: "1.2.2"\nappVersion: "1.2.3"\n')], 0));
    expect(said(await verifyRelease(put((await aRelease({ chart: oldChart })).files), publicKey))).toBe(
      "argosy-1.2.3.tgz has version 1.2.2, not 1.2.3",
    );
    const older = await aRelease({ root: aRoot("1.2.2") });
    expect(said(await verifyRelease(put(older.files), publicKey))).toContain("holds the version 1.2.2 of package.json, not 1.2.3");
  });

  it("is found wrong with packages for another processor", async () => {
    const root = aRoot().map((entry) =>
      entry.path === "var/lib/dpkg/status.d/git"
        ? aFile(entry.path, "Package: git\nVersion: 1:2.39.5-0+deb12u3\nArchitecture: arm64\n")
        : entry,
    );
    expect(said(await verifyRelease(put((await aRelease({ root })).files), publicKey))).toContain("is for amd64 and holds git for arm64");
  });

  it("says in one sentence that a folder holds none", async () => {
    await expect(verifyRelease(join(root, "none"), undefined)).rejects.toMatchObject({ code: "release.folder" });
    expect(said(await verifyRelease(mkdtempSync(join(root, "empty-")), undefined))).toContain(`${CHECKSUMS} is missing`);
  });

  it("can be checked and unpacked by the programs that everybody has", () => {
    const directory = put(made.files);
    execFileSync("sha256sum", ["--check", "--strict", CHECKSUMS], { cwd: directory, stdio: "pipe" });
    writeFileSync(join(root, "key.pub"), publicKey.export({ type: "spki", format: "pem" }));
    for (const name of made.files.keys()) {
      const args = ["pkeyutl", "-verify", "-pubin", "-inkey", join(root, "key.pub"), "-rawin", "-in", name, "-sigfile", name + SIGNATURE];
      execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
    }
    const listed = execFileSync("tar", ["--list", "--file", "argosy-1.2.3-linux-amd64.oci.tar"], { cwd: directory, encoding: "utf8" });
    expect(listed).toContain("oci-layout");
    expect(readdirSync(directory)).toHaveLength(2 * made.files.size);
  });
});
