/** Distinguished encoding rules (ITU-T X.690), as much of them as certificates need. Each function returns one complete element. */
export function sequence(...elements: readonly Buffer[]): Buffer {
  return element(0x30, Buffer.concat(elements));
}

export function setOf(single: Buffer): Buffer {
  return element(0x31, single);
}

/** A positive whole number from its bytes, the most significant first. */
export function integer(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const significant = start < 0 ? Buffer.from([0]) : bytes.subarray(start);
  // A leading one bit would make it negative.
  return element(0x02, (significant[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), significant]) : significant);
}

export function yes(): Buffer {
  return element(0x01, Buffer.from([0xff]));
}

export function octets(content: Buffer): Buffer {
  return element(0x04, content);
}

/** A string of bits of which the last `unused` do not count. */
export function bits(content: Buffer, unused = 0): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

export function text(value: string): Buffer {
  return element(0x0c, Buffer.from(value, "utf8"));
}

/** A time in UTC with whole seconds. RFC 5280 §4.1.2.5: two digits of the year up to 2049, four from then on. */
export function time(epochMs: number): Buffer {
  const iso = new Date(epochMs).toISOString();
  const digits = `${iso.slice(0, 19).replace(/\D/g, "")}Z`;
  return Number(iso.slice(0, 4)) < 2050
    ? element(0x17, Buffer.from(digits.slice(2), "ascii"))
    : element(0x18, Buffer.from(digits, "ascii"));
}

/** An object identifier in dotted form: the first two arcs share a byte, the others have seven bits a byte. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** `[tag]`: a wrapper around elements when constructed, else an implicit type of its own. */
export function tagged(tag: number, content: Buffer, form: "constructed" | "primitive"): Buffer {
  return element((form === "constructed" ? 0xa0 : 0x80) | tag, content);
}

function base128(arc: number): readonly number[] {
  const low = [arc & 0x7f];
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) low.unshift((rest & 0x7f) | 0x80);
  return low;
}

function element(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
