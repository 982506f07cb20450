import { DefectError } from "../../../src/domain/errors.ts";

/** What a program or a shared library asks of the loader. */
export interface ElfNeeds {
  /** Number of the processor it is for: 62 is amd64, 183 is arm64. */
  readonly machine: number;
  /** Path of the loader; libraries name none. */
  readonly loader: string | undefined;
  /** File names of shared libraries. */
  readonly libraries: readonly string[];
}

const [PT_LOAD, PT_DYNAMIC, PT_INTERP] = [1, 2, 3] as const;
const [DT_NULL, DT_NEEDED, DT_STRTAB] = [0n, 1n, 5n] as const;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/**
 * Reads what an ELF file for a 64-bit little-endian machine asks for, whatever processor it is for (System V ABI, chapters 4 and 5).
 * `undefined` for a file of another kind. Raises DefectError when its tables lead outside it.
 */
export function readElfNeeds(file: Buffer): ElfNeeds | undefined {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46 || file[4] !== 2 || file[5] !== 1) return undefined;
  try {
    const segments = readSegments(file);
    const loader = segments.find(({ type }) => type === PT_INTERP);
    return {
      machine: file.readUInt16LE(18),
      loader: loader === undefined ? undefined : textAt(file, loader.offset),
      libraries: readLibraries(file, segments),
    };
  } catch (cause) {
    throw new DefectError("reading the tables of an ELF file", { code: "release.elf", cause });
  }
}

function readSegments(file: Buffer): readonly Segment[] {
  const [start, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return {
      type: file.readUInt32LE(at),
      offset: Number(file.readBigUInt64LE(at + 8)),
      address: Number(file.readBigUInt64LE(at + 16)),
      size: Number(file.readBigUInt64LE(at + 32)),
    };
  });
}

function readLibraries(file: Buffer, segments: readonly Segment[]): readonly string[] {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return [];
  const needed: number[] = [];
  let names = 0;
  for (let at = dynamic.offset; at < dynamic.offset + dynamic.size; at += 16) {
    const tag = file.readBigUInt64LE(at);
    const value = Number(file.readBigUInt64LE(at + 8));
    if (tag === DT_NULL) break;
    if (tag === DT_NEEDED) needed.push(value);
    if (tag === DT_STRTAB) names = offsetOf(value, segments);
  }
  return needed.map((name) => textAt(file, names + name));
}

function offsetOf(address: number, segments: readonly Segment[]): number {
  const segment = segments.find((each) => each.type === PT_LOAD && each.address <= address && address < each.address + each.size);
  if (segment === undefined) throw new RangeError(`no segment holds the address ${address}`);
  return segment.offset + address - segment.address;
}

function textAt(file: Buffer, offset: number): string {
  const end = file.indexOf(0, offset);
  if (end === -1) throw new RangeError(`no text ends behind ${offset}`);
  return file.toString("utf8", offset, end);
}
