import { describe, expect, it } from "vitest";
import { aFile, aRoot } from "../testing/a-root.ts";
import { type Image, packLayer, readImageArchive, writeImageArchive } from "./image-archive.ts";
import { divideIntoLayers } from "./root-folder.ts";
import { readTar, type TarEntry, writeTar } from "./tar.ts";

async function anImage(root: readonly TarEntry[] = aRoot()): Promise<Image> {
  const layers = await Promise.all(divideIntoLayers(root).map(packLayer));
  return { layers, run: { User: "65532:65532" }, architecture: "amd64", epochSeconds: 1_700_000_000, reference: "localhost/argosy:1.2.3" };
}

describe("layers", () => {
  it("hold each file once, sorted from what changes least, with the folders it stands in", () => {
    const layers = divideIntoLayers(aRoot());
    expect(layers.map(({ name }) => name)).toEqual(["Debian packages", "Node.js", "npm packages", "Argosy"]);
    const held = layers.flatMap(({ entries }) => entries.filter(({ kind }) => kind !== "directory").map(({ path }) => path));
    expect(held.toSorted()).toEqual(
      aRoot()
        .filter(({ kind }) => kind !== "directory")
        .map(({ path }) => path)
        .toSorted(),
    );
    expect(layers[0]?.entries).toContainEqual({ kind: "directory", path: "tmp", mode: 0o1777 });
    expect(layers[1]?.entries.map(({ path }) => path)).toContain("usr/share/doc/node");
  });

  it("stay the same when only Argosy changes", async () => {
    const changed = aRoot().map((entry) => (entry.path === "app/src/main.js" ? aFile(entry.path, "changed") : entry));
    const [before, after] = [await anImage(), await anImage(changed)];
    const same = before.layers.map((layer, index) => layer.diffId === after.layers[index]?.diffId);
    expect(same).toEqual([true, true, true, false]);
  });
});

describe("an image archive", () => {
  it("has the same bytes and digest each time", async () => {
    const [one, two] = [writeImageArchive(await anImage()), writeImageArchive(await anImage(aRoot().toReversed()))];
    expect(one.digest).toBe(two.digest);
    expect(one.archive.equals(two.archive)).toBe(true);
  });

  it("is read back: files, configuration, name and digest", async () => {
    const { archive, digest } = writeImageArchive(await anImage());
    const read = readImageArchive(archive);
    expect(read).toMatchObject({
      digest,
      reference: "localhost/argosy:1.2.3",
      config: { architecture: "amd64", created: "2023-11-14T22:13:20Z" },
    });
    expect([...read.files.keys()].toSorted()).toEqual(
      aRoot()
        .map(({ path }) => path)
        .toSorted(),
    );
  });

  it("is refused when a byte of any blob was changed, also with a right checksum of its own", async () => {
    const entries = readTar(writeImageArchive(await anImage()).archive);
    for (const changed of entries.filter(({ path }) => path.startsWith("blobs/sha256/"))) {
      if (changed.kind !== "file") continue;
      const content = Buffer.from(changed.content);
      content[content.length - 1] = (content.at(-1) ?? 0) ^ 1;
      const archive = writeTar(
        entries.map((entry) => (entry === changed ? { ...changed, content } : entry)),
        0,
      );
      expect(() => readImageArchive(archive)).toThrow("other bytes than its name says");
    }
  });

  it.each(["index.json", "blobs/"])("without %s is refused", async (missing) => {
    const entries = readTar(writeImageArchive(await anImage()).archive);
    const rest = entries.filter(({ path }) => !path.startsWith(missing));
    expect(() => readImageArchive(writeTar(rest, 0))).toThrow("missing");
  });
});
