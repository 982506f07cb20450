import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addFolders, prepareRoot, writeVolume } from "./container-root.ts";
import type { References } from "./environment.ts";
import { aPod } from "./testing/a-pod.ts";
import { filesOf, referredBy } from "./volume-files.ts";

const facts = { pod: aPod(), podIP: "127.20.0.1" };
const references: References = {
  configMap: (name) => (name === "settings" ? { a: "1", b: "2" } : name === "kube-root-ca.crt" ? { "ca.crt": "PEM" } : undefined),
  secret: (name) => (name === "keys" ? { key: "k" } : undefined),
};

describe("the files of a volume", () => {
  it("are all keys, or the selected ones under the given names", () => {
    expect(filesOf({ name: "v", configMap: { name: "settings" } }, facts, references)).toEqual({
      ok: true,
      files: { a: "1", b: "2" },
      tokens: [],
    });
    expect(filesOf({ name: "v", secret: { secretName: "keys", items: [{ key: "key", path: "deep/file" }] } }, facts, references)).toEqual({
      ok: true,
      files: { "deep/file": "k" },
      tokens: [],
    });
  });

  it("may be missing if they are optional, and only then", () => {
    const items = [{ key: "z", path: "z" }];
    expect(filesOf({ name: "v", secret: { secretName: "absent", optional: true } }, facts, references)).toEqual({
      ok: true,
      files: {},
      tokens: [],
    });
    expect(filesOf({ name: "v", configMap: { name: "settings", items, optional: true } }, facts, references)).toEqual({
      ok: true,
      files: {},
      tokens: [],
    });
    expect(filesOf({ name: "v", secret: { secretName: "absent" } }, facts, references)).toEqual({
      ok: false,
      missing: 'secret "absent" not found',
    });
    expect(filesOf({ name: "v", configMap: { name: "settings", items } }, facts, references)).toEqual({
      ok: false,
      missing: "references non-existent config key: z",
    });
  });

  it("of a service account are its token, the authority and the namespace", () => {
    const projected = {
      sources: [
        { serviceAccountToken: { path: "token", expirationSeconds: 3607 } },
        { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
        { downwardAPI: { items: [{ path: "namespace", fieldRef: { fieldPath: "metadata.namespace" } }] } },
      ],
    };
    expect(filesOf({ name: "v", projected }, facts, references)).toEqual({
      ok: true,
      files: { "ca.crt": "PEM", namespace: "shop" },
      tokens: [{ path: "token", audience: undefined, expirationSeconds: 3607 }],
    });
    expect(
      referredBy([
        { name: "v", projected },
        { name: "s", secret: { secretName: "keys" } },
      ]),
    ).toEqual({ configMaps: ["kube-root-ca.crt"], secrets: ["keys"] });
  });

  it("are none for an empty directory", () => {
    expect(filesOf({ name: "v", emptyDir: {} }, facts, references)).toEqual({ ok: true, files: {}, tokens: [] });
  });
});

describe("volumes on disk", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "volumes-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const read = (...path: string[]) => readFileSync(join(directory, ...path), "utf8");

  it("hold what they should and nothing else", () => {
    const written = new Map<string, string>();
    writeVolume(directory, { files: { a: "1", "deep/b": "2" }, others: [] }, written);
    writeFileSync(join(directory, "token"), "t");
    writeVolume(directory, { files: { a: "3" }, others: ["token"] }, written);
    expect([read("a"), read("token")]).toEqual(["3", "t"]);
    expect(() => read("deep", "b")).toThrow();
  });

  it("appear in the container where they are mounted, also below other mounts, and again with every start", () => {
    const root = join(directory, "root");
    const volume = (name: string) => join(directory, "volumes", name);
    writeVolume(volume("files"), { files: { one: "1", two: "2" }, others: [] }, new Map());
    const mounts = [
      { name: "files", mountPath: "/home/argocd/params" },
      { name: "home", mountPath: "/home/argocd" },
      { name: "files", mountPath: "/etc/single", subPath: "two" },
    ];
    for (const start of ["first", "second"]) {
      prepareRoot(root, mounts, volume);
      addFolders(root, { "/tmp": 0o755, "/secret/place": 0o700, "/home/argocd": 0o755 });
      expect([read("root/home/argocd/params/one"), read("root/etc/single")]).toEqual(["1", "2"]);
      expect(lstatSync(join(root, "secret/place")).mode & 0o777).toBe(0o700);
      expect(() => read("root/tmp/left")).toThrow();
      writeFileSync(join(root, "tmp/left"), start);
      writeFileSync(join(root, "home/argocd/kept"), start);
    }
    expect(read("volumes/home/kept")).toBe("second");
  });
});
