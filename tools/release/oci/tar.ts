import { DefectError } from "../../../src/domain/errors.ts";

/** A file, folder or link of an archive. Its path is relative, with forward slashes and none at the end. */
export type TarEntry =
  | { readonly kind: "file"; readonly path: string; readonly mode: number; readonly content: Buffer }
  | { readonly kind: "directory"; readonly path: string; readonly mode: number }
  | { readonly kind: "link"; readonly path: string; readonly target: string };

const BLOCK = 512;
const TYPES = { file: "0", link: "2", directory: "5" } as const;
/** Longer ones do not fit into the fields of a header and stand in an extended one before it. */
const [PATH_AT_MOST, TARGET_AT_MOST] = [100, 100] as const;

/**
 * An archive in the pax format (POSIX.1-2001) whose bytes follow from the entries and one time alone: sorted by the bytes of their paths, owned
 * by user and group 0 without names, all of the same time in seconds since the epoch.
 */
export function writeTar(entries: readonly TarEntry[], epochSeconds: number): Buffer {
  const sorted = entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const parts = sorted.flatMap((entry) => [...extendedHeader(entry, epochSeconds), ...entryParts(entry, epochSeconds)]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

function entryParts(entry: TarEntry, epochSeconds: number): readonly Buffer[] {
  const content = entry.kind === "file" ? entry.content : Buffer.alloc(0);
  const header = {
    path: entry.kind === "directory" ? `${entry.path}/` : entry.path,
    mode: entry.kind === "link" ? 0o777 : entry.mode,
    size: content.length,
    type: TYPES[entry.kind],
    target: entry.kind === "link" ? entry.target : "",
  };
  return [writeHeader(header, epochSeconds), content, padding(content.length)];
}

/** What does not fit into a header, as records of its own in front of it. */
function extendedHeader(entry: TarEntry, epochSeconds: number): readonly Buffer[] {
  const path = entry.kind === "directory" ? `${entry.path}/` : entry.path;
  const records = [
    ...(fits(path, PATH_AT_MOST) ? [] : [record("path", path)]),
    ...(entry.kind !== "link" || fits(entry.target, TARGET_AT_MOST) ? [] : [record("linkpath", entry.target)]),
  ];
  if (records.length === 0) return [];
  const content = Buffer.from(records.join(""));
  const header = { path: "PaxHeaders/entry", mode: 0o644, size: content.length, type: "x", target: "" };
  return [writeHeader(header, epochSeconds), content, padding(content.length)];
}

function fits(text: string, atMost: number): boolean {
  return Buffer.byteLength(text) <= atMost && /^[\x20-\x7e]*$/.test(text);
}

/** `length key=value\n`, where the length counts its own digits. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  const length = bytes + String(bytes).length;
  return `${bytes + String(length).length}${rest}`;
}

interface Header {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly type: string;
  readonly target: string;
}

function writeHeader({ path, mode, size, type, target }: Header, epochSeconds: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(truncated(path, PATH_AT_MOST), 0, "latin1");
  const octal = (value: number, at: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(epochSeconds, 136, 12);
  header.write(" ".repeat(8), 148, "latin1");
  header.write(type, 156, "latin1");
  header.write(truncated(target, TARGET_AT_MOST), 157, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  octal(0, 329, 8);
  octal(0, 337, 8);
  header.write(`${checksum(header).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

function truncated(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString("latin1");
}

/** The sum of a header's bytes, its own field counted as spaces. */
function checksum(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 32 : (header[at] ?? 0);
  return sum;
}

function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/**
 * Reads an archive as `writeTar` writes it; contents are parts of the given buffer. Raises DefectError for anything else: another kind of entry,
 * a wrong checksum, or an archive that ends too early.
 */
export function readTar(archive: Buffer): readonly TarEntry[] {
  const entries: TarEntry[] = [];
  let extended: Readonly<Record<string, string>> = {};
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return entries;
    const { type, size, ...rest } = readHeader(header, at);
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length < size) throw broken(`ends in the middle of ${rest.path}`);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "x") {
      extended = readRecords(content);
      continue;
    }
    entries.push(entryOf(type, { ...rest, path: extended["path"] ?? rest.path, target: extended["linkpath"] ?? rest.target }, content));
    extended = {};
  }
  throw broken("has no end");
}

function readHeader(header: Buffer, at: number): Header {
  const text = (from: number, length: number): string => {
    const field = header.subarray(from, from + length);
    const end = field.indexOf(0);
    return field.toString("utf8", 0, end === -1 ? length : end);
  };
  const number = (from: number, length: number): number => Number.parseInt(text(from, length).trim() || "0", 8);
  if (number(148, 8) !== checksum(header)) throw broken(`has a wrong checksum at byte ${at}`);
  return { path: text(0, 100), mode: number(100, 8), size: number(124, 12), type: text(156, 1), target: text(157, 100) };
}

function readRecords(content: Buffer): Readonly<Record<string, string>> {
  const records: Record<string, string> = {};
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString("latin1", at, space));
    if (space === -1 || !Number.isInteger(length) || length < 1) throw broken("has an extended header that cannot be read");
    const [key = "", ...value] = content.toString("utf8", space + 1, at + length - 1).split("=");
    records[key] = value.join("=");
    at += length;
  }
  return records;
}

function entryOf(type: string, { path, mode, target }: Omit<Header, "type" | "size">, content: Buffer): TarEntry {
  if (path.startsWith("/") || path.split("/").includes("..")) throw broken(`has a path that leads out of it: ${path}`);
  if (type === TYPES.file) return { kind: "file", path, mode, content };
  if (type === TYPES.directory) return { kind: "directory", path: path.replace(/\/$/, ""), mode };
  if (type === TYPES.link) return { kind: "link", path, target };
  throw broken(`has an entry of type ${JSON.stringify(type)}: ${path}`);
}

function broken(what: string): DefectError {
  return new DefectError(`reading an archive: it ${what}`, { code: "release.tar" });
}
