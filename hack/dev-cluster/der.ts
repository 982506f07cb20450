/**
 * Writes DER (ITU-T X.690): every value is a tag, a length and content. Only what a certificate of this development
 * cluster consists of.
 */
export type Der = Buffer;

function tagged(tag: number, ...content: readonly Buffer[]): Der {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

export const sequence = (...content: readonly Der[]): Der => tagged(0x30, ...content);
export const setOf = (...content: readonly Der[]): Der => tagged(0x31, ...content);
export const octets = (content: Buffer): Der => tagged(0x04, content);
export const utf8 = (text: string): Der => tagged(0x0c, Buffer.from(text, "utf8"));
export const boolean = (value: boolean): Der => tagged(0x01, Buffer.from([value ? 0xff : 0]));

/** Context-specific tag `number`: constructed if it wraps whole values, primitive if it replaces the tag of one. */
export const context = (number: number, content: Buffer, options: { readonly constructed: boolean }): Der =>
  tagged((options.constructed ? 0xa0 : 0x80) | number, content);

/** An integer that is not negative, from its big-endian bytes. */
export function integer(bytes: Buffer): Der {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  // A first bit that is set would make it negative.
  return tagged(0x02, (shortest[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), shortest]) : shortest);
}

/** Bits whose number is a multiple of eight, unless `unused` of the last byte do not count. */
export const bits = (bytes: Buffer, unused = 0): Der => tagged(0x03, Buffer.from([unused]), bytes);

/** An object identifier from its dotted form. */
export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A time in the form certificates want it: two digits of year before 2050, four after (RFC 5280 §4.1.2.5). */
export function time(at: Date): Der {
  const digits = `${at.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
  return at.getUTCFullYear() < 2050 ? tagged(0x17, Buffer.from(digits.slice(2), "latin1")) : tagged(0x18, Buffer.from(digits, "latin1"));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) | 0x80);
  return digits;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
