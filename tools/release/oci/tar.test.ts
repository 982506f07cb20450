import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTar, type TarEntry, writeTar } from "./tar.ts";

const TIME = 1_700_000_000;
const name = fc.stringMatching(/^[a-zA-Zäß ._-]{1,60}$/).filter((text) => text !== "." && text !== "..");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
const mode = fc.integer({ min: 0, max: 0o7777 });
const entry: fc.Arbitrary<TarEntry> = fc.oneof(
  fc.record({
    kind: fc.constant("file" as const),
    path,
    mode,
    content: fc.uint8Array({ maxLength: 1500 }).map((bytes) => Buffer.from(bytes)),
  }),
  fc.record({ kind: fc.constant("directory" as const), path, mode }),
  fc.record({ kind: fc.constant("link" as const), path, target: path }),
);
const entries = fc.uniqueArray(entry, { maxLength: 8, selector: (each) => each.path });
const sorted = (all: readonly TarEntry[]): readonly TarEntry[] =>
  all.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));

describe("an archive", () => {
  it("holds what was put into it, whatever the names and sizes", () => {
    fc.assert(fc.property(entries, (all) => void expect(readTar(writeTar(all, TIME))).toEqual(sorted(all))));
  });

  it("has the same bytes for the same entries in any order", () => {
    fc.assert(fc.property(entries, (all) => void expect(writeTar(all.toReversed(), TIME).equals(writeTar(all, TIME))).toBe(true)));
  });

  it("names nobody: owner 0, the given time, and no user or group", () => {
    const header = writeTar([{ kind: "file", path: "a", mode: 0o644, content: Buffer.from("x") }], TIME).subarray(0, 512);
    const field = (from: number, to: number): string => header.toString("latin1", from, to).replaceAll("\0", "");
    expect([field(108, 116), field(116, 124), field(136, 148)]).toEqual(["0000000", "0000000", TIME.toString(8).padStart(11, "0")]);
    expect(field(265, 329)).toBe("");
  });

  it.each([
    ["ends early", (bytes: Buffer) => bytes.subarray(0, 600), "ends in the middle of"],
    ["has no end", (bytes: Buffer) => bytes.subarray(0, 1024 + 512), "has no end"],
    ["has another name than its checksum is of", (bytes: Buffer) => Buffer.concat([Buffer.from("b"), bytes.subarray(1)]), "wrong checksum"],
  ])("that %s is refused", (_, change, message) => {
    const bytes = writeTar([{ kind: "file", path: "a", mode: 0o644, content: Buffer.alloc(600) }], TIME);
    expect(() => readTar(change(bytes))).toThrow(message);
  });

  it.each(["../out", "a/../../out", "/etc/passwd"])("with the path %s is refused", (bad) => {
    expect(() => readTar(writeTar([{ kind: "file", path: bad, mode: 0o644, content: Buffer.from("x") }], TIME))).toThrow("leads out of it");
  });
});
