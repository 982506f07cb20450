import { isIPv4, isIPv6 } from "node:net";

export type Family = 4 | 6;

export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** All addresses from `first` to `last`, both included. */
export interface AddressRange {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export const FAMILIES: readonly Family[] = [4, 6];

const bitsOf = (family: Family): number => (family === 4 ? 32 : 128);
const lastOf = (family: Family): bigint => (1n << BigInt(bitsOf(family))) - 1n;

/** `undefined`: the text is no address. An address with a zone (`fe80::1%eth0`) is none: it means nothing outside its machine. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, value: join(text.split(".").map(Number), 8n) };
  if (!isIPv6(text) || text.includes("%")) return undefined;
  return { family: 6, value: join(groupsOf(text), 16n) };
}

/** Parses `10.0.0.0/8` or `fd00::/8`. Bits behind the prefix are ignored, as Kubernetes does. `undefined`: the text is no CIDR. */
export function parseCidr(text: string): AddressRange | undefined {
  const [, host = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(host);
  if (address === undefined || Number(length) > bitsOf(address.family)) return undefined;
  const size = 1n << BigInt(bitsOf(address.family) - Number(length));
  const first = address.value - (address.value % size);
  return { family: address.family, first, last: first + size - 1n };
}

export function rangeOf({ family, value }: Address): AddressRange {
  return { family, first: value, last: value };
}

/** Writes an address in full: an IPv6 address in eight groups, without `::`. */
export function formatAddress({ family, value }: Address): string {
  const [count, bits, separator] = family === 4 ? [4, 8, "."] : [8, 16, ":"];
  const parts = Array.from({ length: count }, (_, at) => (value >> BigInt(bits * (count - 1 - at))) & ((1n << BigInt(bits)) - 1n));
  return parts.map((part) => part.toString(family === 4 ? 10 : 16)).join(separator);
}

/** Writes a range as one address or a CIDR where it is one, else as `first-last`. */
export function formatRange({ family, first, last }: AddressRange): string {
  const start = formatAddress({ family, value: first });
  const size = last - first + 1n;
  if (size === 1n) return start;
  const bits = size.toString(2).length - 1;
  const isCidr = size === 1n << BigInt(bits) && first % size === 0n;
  return isCidr ? `${start}/${bitsOf(family) - bits}` : `${start}-${formatAddress({ family, value: last })}`;
}

/** The same addresses in as few ranges as possible, sorted by family and address. */
export function mergeRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const merged: AddressRange[] = [];
  for (const next of [...ranges].sort((a, b) => a.family - b.family || order(a.first, b.first))) {
    const before = merged.at(-1);
    if (before === undefined || before.family !== next.family || next.first > before.last + 1n) merged.push(next);
    else if (next.last > before.last) merged[merged.length - 1] = { ...before, last: next.last };
  }
  return merged;
}

/** The addresses of `range` that are in none of `without`, sorted. */
export function subtractRanges(range: AddressRange, without: readonly AddressRange[]): readonly AddressRange[] {
  const left: AddressRange[] = [];
  let { first } = range;
  for (const hole of mergeRanges(without)) {
    if (hole.family !== range.family || hole.last < first || hole.first > range.last) continue;
    if (hole.first > first) left.push({ ...range, first, last: hole.first - 1n });
    first = hole.last + 1n;
  }
  return first > range.last ? left : [...left, { ...range, first }];
}

export function isInRanges(ranges: readonly AddressRange[], { family, value }: Address): boolean {
  return ranges.some((range) => range.family === family && range.first <= value && value <= range.last);
}

/** Whether every address of `inner` is in `outer`. */
export function isWithin(outer: AddressRange, inner: AddressRange): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

/** Whether the range holds every address of its family. */
export function isWholeFamily({ family, first, last }: AddressRange): boolean {
  return first === 0n && last === lastOf(family);
}

export function compareAddresses(a: Address, b: Address): number {
  return a.family - b.family || order(a.value, b.value);
}

function order(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function join(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | BigInt(part), 0n);
}

/** The eight groups of a valid IPv6 address, whose end may be written as an IPv4 address. */
function groupsOf(text: string): readonly number[] {
  const [head = [], tail] = text.split("::").map(groupsBetween);
  if (tail === undefined) return head;
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function groupsBetween(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const value = Number(join(group.split(".").map(Number), 8n));
    return [Math.floor(value / 65_536), value % 65_536];
  });
}
