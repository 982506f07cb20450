import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, describe, expect, it } from "vitest";
import { isImageInput } from "./build-image.ts";
import { mountsBelow } from "./builder.ts";
import { parseChecksums, renderChecksums } from "./checksums.ts";
import { withoutCredentials } from "./commit.ts";
import { mirrorsOf, renderSources } from "./image/apt.ts";
import { parseDebianPackages, readDebianPackages } from "./image/debian-packages.ts";
import { readElfNeeds } from "./image/elf.ts";
import { UNREAD_FILE } from "./image/kept-files.ts";
import { NODE_FLAGS } from "./image/node-flags.ts";
import { isProductionSource, stripSource } from "./image/strip-source.ts";
import { ENTRY, writeProgram } from "./image/write-program.ts";
import { isSignedBy, readPrivateKey, readPublicKey, signBytes } from "./signature.ts";
import { parseUris } from "./update-packages.ts";

const directory = mkdtempSync(join(tmpdir(), "argosy-release-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("what the image is made of", () => {
  it.each([
    ["src/main.ts", true],
    ["src/health/testing/a.ts", false],
    ["src/testing/a.ts", false],
    ["src/main.test.ts", false],
    ["src/simulation/main.ts", false],
    ["migrations/0001-baseline.sql", true],
    ["tools/node/package-lock.json", true],
    ["tools/release/image/assemble.ts", true],
    ["tools/release/verify.ts", false],
    ["docs/release.md", false],
  ])("%s: %s", (path, isIn) => {
    expect(isImageInput(path)).toBe(isIn);
  });

  it("is JavaScript that imports JavaScript, with every line where it was", () => {
    const source =
      'import type { A } from "./a.ts";\nimport { b } from "../b.ts";\nimport c from "./c.json" with { type: "json" };\nconst d: A = await import("./d.ts");\n';
    const stripped = stripSource(source);
    expect(stripped.split("\n").map((line) => line.trim())).toEqual([
      "",
      'import { b } from "../b.js";',
      'import c from "./c.json" with { type: "json" };',
      'const d    = await import("./d.js");',
      "",
    ]);
  });

  it("starts Node.js with the flags that every Argosy process has", () => {
    const entrypoint = /^ENTRYPOINT (.*)$/m.exec(readFileSync("Containerfile", "utf8"))?.[1] ?? "[]";
    expect(JSON.parse(entrypoint)).toEqual(["/usr/bin/tini", "--", "/usr/bin/node", ...NODE_FLAGS, "/app/bin/argosy.js"]);
    expect(execFileSync(process.execPath, [...NODE_FLAGS, "--print", "typeof gc"], { encoding: "utf8" }).trim()).toBe("function");
  });

  it("is written into any folder, without what only tests need", async () => {
    const [project, folder] = [join(directory, "project"), join(directory, "program")];
    const files = {
      "src/cli/argosy.ts": 'import { one } from "../one.ts";\nconsole.log(one as number);\n',
      "src/one.ts": "export const one: number = 1;\n",
      "src/one.test.ts": 'import "./one.ts";\n',
      "migrations/0001-baseline.sql": "select 1;\n",
      LICENSE: "terms\n",
      "package.json": '{"name":"argosy","type":"module","scripts":{"test":"x"},"devDependencies":{"a":"1"}}',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
    }
    await writeProgram(project, folder);
    const written = globSync("**/*.*", { cwd: folder }).sort();
    expect(written).toEqual(["bin/argosy.js", "migrations/0001-baseline.sql", "package.json", "src/cli/argosy.js", "src/one.js"]);
    expect(readFileSync(join(folder, "package.json"), "utf8")).not.toMatch(/scripts|devDependencies/);
    expect(execFileSync(process.execPath, [join(folder, ENTRY)], { encoding: "utf8" })).toBe("1\n");
  });

  it("leaves out tests, what is for tests, and the simulation", () => {
    expect(["cli/argosy.ts", "a/b.test.ts", "a/testing/b.ts", "simulation/main.ts", "a.d.ts"].filter(isProductionSource)).toEqual([
      "cli/argosy.ts",
    ]);
  });

  it("leaves out of packages what nothing reads, but no licence", () => {
    const files = [
      "a/index.js",
      "a/index.d.ts",
      "a/index.js.map",
      "a/README.md",
      "a/LICENSE.md",
      "a/license",
      "a/NOTICE.md",
      "a/.github/x.yml",
    ];
    expect(files.filter((path) => !UNREAD_FILE.test(path))).toEqual(["a/index.js", "a/LICENSE.md", "a/license", "a/NOTICE.md"]);
  });
});

describe("an ELF file", () => {
  it("says which loader and libraries it asks for", () => {
    const needs = readElfNeeds(readFileSync(process.execPath));
    expect(needs?.machine).toBe(process.arch === "arm64" ? 183 : 62);
    expect(needs?.loader).toMatch(/\/ld-linux-/);
    expect(needs?.libraries).toContain("libc.so.6");
  });

  it("is told apart from others, and refused when it is cut", () => {
    expect(readElfNeeds(Buffer.from("#!/bin/sh\n"))).toBeUndefined();
    expect(() => readElfNeeds(readFileSync(process.execPath).subarray(0, 80))).toThrow("reading the tables of an ELF file");
  });
});

describe("the list of Debian packages", () => {
  const path = "tools/release/image/debian-packages.json";

  it("is whole", async () => {
    expect((await readDebianPackages(path)).amd64.map(({ name }) => name)).toContain("git");
  });

  it("is refused when it is broken or names others than the table", () => {
    const text = readFileSync(path, "utf8");
    expect(() => parseDebianPackages("{", path)).toThrow("has no list of packages for amd64");
    expect(() => parseDebianPackages(text.replace(/"sha256": "./, '"sha256": "'), path)).toThrow("has an entry for amd64 that is none");
    expect(() => parseDebianPackages(text.replace(/"version": "/, '"version": "--'), path)).toThrow("has an entry for amd64 that is none");
    expect(() => parseDebianPackages(text.replaceAll('"name": "git"', '"name": "hg"'), path)).toThrow("does not name the packages");
  });

  it("is read from what apt prints", () => {
    const line = `'http://m.example/debian-security/pool/updates/main/g/git/git_2.39.5_amd64.deb' git_1%3a2.39.5_amd64.deb 123 SHA256:${"a".repeat(64)}\n`;
    expect(parseUris(`Reading…\n${line}`)).toEqual([
      {
        name: "git",
        version: "1:2.39.5",
        sha256: "a".repeat(64),
      },
    ]);
    expect(() => parseUris(line.replace("SHA256", "MD5Sum"))).toThrow("reading the packages that apt names");
  });
});

describe("the archives that packages come from", () => {
  it("are those that are named; of one alone the other is derived, and none leaves it to apt", () => {
    expect(mirrorsOf("http://a.example/debian", "http://b.example/s")).toEqual({
      debian: "http://a.example/debian",
      security: "http://b.example/s",
    });
    const both = { debian: "http://a.example/debian", security: "http://a.example/debian-security" };
    expect(mirrorsOf("http://a.example/debian")).toEqual(both);
    expect(mirrorsOf("", "http://a.example/debian-security")).toEqual(both);
    expect([mirrorsOf(), mirrorsOf("", "")]).toEqual([undefined, undefined]);
    expect(renderSources(both).match(/http\S+ \S+/g)).toEqual([
      "http://a.example/debian bookworm",
      "http://a.example/debian bookworm-updates",
      "http://a.example/debian-security bookworm-security",
    ]);
  });
});

describe("what a killed builder left mounted", () => {
  it("is found below its folder alone, the deepest first", () => {
    const mounts =
      "proc /proc proc rw 0 0\nproc /c/b/root/proc proc rw 0 0\nb /c/b/root/proc/sys/a\\040b x rw 0 0\ntmpfs /c/bb tmpfs rw 0 0\n";
    expect(mountsBelow("/c/b", mounts)).toEqual(["/c/b/root/proc/sys/a b", "/c/b/root/proc"]);
  });
});

describe("an origin", () => {
  it.each([
    ["https://user:token@git.example/argosy", "https://git.example/argosy"],
    ["git@git.example:argosy", "git@git.example:argosy"],
    ["file:///home/somebody/argosy", undefined],
    ["", undefined],
  ])("%j is published as %j", (address, published) => {
    expect(withoutCredentials(address)).toBe(published);
  });
});

describe("checksums", () => {
  it("are read as they are written", () => {
    const text = renderChecksums(
      new Map([
        ["b", Buffer.from("b")],
        ["a", Buffer.from("a")],
      ]),
    );
    expect([...parseChecksums(text).keys()]).toEqual(["a", "b"]);
  });

  it.each([`${"a".repeat(64)}  ../out`, `${"a".repeat(64)}  .hidden`, "abc  name", `${"a".repeat(64)}  a\n${"b".repeat(64)}  a`])(
    "refuse %j",
    (text) => {
      expect(() => parseChecksums(text)).toThrow("is no checksum of a file beside it");
    },
  );
});

describe("keys", () => {
  const write = (name: string, text: string | Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  const pair = generateKeyPairSync("ed25519");

  it("sign bytes and no others", async () => {
    const secret = await readPrivateKey(write("key.pem", pair.privateKey.export({ type: "pkcs8", format: "pem" })));
    const shown = await readPublicKey(write("key.pub", pair.publicKey.export({ type: "spki", format: "pem" })));
    const signature = signBytes(Buffer.from("a"), secret);
    expect([isSignedBy(Buffer.from("a"), signature, shown), isSignedBy(Buffer.from("b"), signature, shown)]).toEqual([true, false]);
    expect(isSignedBy(Buffer.from("a"), Buffer.alloc(10), shown)).toBe(false);
  });

  it("of another kind, broken or missing are refused without a word of what they hold", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
    await expect(readPrivateKey(write("rsa.pem", rsa))).rejects.toThrow("holds a key of type rsa");
    const refusal = await readPrivateKey(write("bad.pem", "-----BEGIN PRIVATE KEY-----\ns3cret\n")).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ path: "--key", code: "release.key" });
    expect(`${(refusal as Error).message} ${String((refusal as Error).cause)}`).not.toContain("s3cret");
    await expect(readPublicKey(join(directory, "none"))).rejects.toThrow("cannot be read (ENOENT)");
  });
});
