/** An IP address as a number of 32 or 128 bits. */
export interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

export interface AddressRange {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly prefix: number;
}

/** Dotted IPv4, or IPv6 with or without brackets; `undefined` for anything else, zones included. */
export function parseAddress(text: string): Address | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  const v4 = parseDotted(bare);
  if (v4 !== undefined) return { bits: 32, value: v4 };
  const v6 = bare.includes(":") ? parseColoned(bare) : undefined;
  return v6 === undefined ? undefined : { bits: 128, value: v6 };
}

/** `address/prefix`, or one address; `undefined` if it is neither. */
export function parseRange(text: string): AddressRange | undefined {
  const [base = "", prefix, ...rest] = text.split("/");
  const address = parseAddress(base);
  const length = prefix === undefined ? address?.bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : undefined;
  if (address === undefined || length === undefined || length > address.bits || rest.length > 0) return undefined;
  return { bits: address.bits, first: address.value, prefix: length };
}

export function isInRange({ bits, value }: Address, range: AddressRange): boolean {
  const shift = BigInt(range.bits - range.prefix);
  return bits === range.bits && value >> shift === range.first >> shift;
}

/** The IPv4 address an IPv6 one stands for (mapped, NAT64 or 6to4), which is what would really be reached. */
export function embeddedIpv4({ bits, value }: Address): Address | undefined {
  if (bits === 32) return undefined;
  const high = value >> 32n;
  const low = { bits: 32, value: value & 0xffff_ffffn } as const;
  if (high === 0xffffn || high === 0x64_ff9bn << 64n || (high === 0n && value > 0xffffn)) return low;
  return value >> 112n === 0x2002n ? { bits: 32, value: (value >> 80n) & 0xffff_ffffn } : undefined;
}

function parseDotted(text: string): bigint | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined;
  const parts = text.split(".").map(Number);
  return parts.some((part) => part > 255) ? undefined : parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function parseColoned(text: string): bigint | undefined {
  const [head = "", tail, ...rest] = text.split("::");
  if (rest.length > 0) return undefined;
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  if (left === undefined || right === undefined) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...left, ...Array.from({ length: missing }, () => 0), ...right].reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** Groups of 16 bits; the last may be written as dotted IPv4, which makes two. */
function groupsOf(text: string): readonly number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const dotted = parseDotted(parts.at(-1) ?? "");
  const hex = dotted === undefined ? parts : parts.slice(0, -1);
  if (!hex.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return undefined;
  const groups = hex.map((part) => Number.parseInt(part, 16));
  return dotted === undefined ? groups : [...groups, Number(dotted >> 16n), Number(dotted & 0xffffn)];
}

const LOOPBACK = parseRange("127.0.0.0/8");

/**
 * What makes two mentions of an address and port the same listener: however the address is written, and wherever on loopback
 * it is. Text that is no address stands for itself.
 */
export function endpointKey(address: string, port: number): string {
  const parsed = parseAddress(address);
  if (parsed === undefined) return `${address.toLowerCase().replace(/\.$/, "")}|${port}`;
  const real = embeddedIpv4(parsed) ?? parsed;
  const isLoopback = (real.bits === 128 && real.value === 1n) || (LOOPBACK !== undefined && isInRange(real, LOOPBACK));
  return isLoopback ? `loopback|${port}` : `${real.bits}:${real.value}|${port}`;
}
