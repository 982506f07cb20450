/**
 * Reads a string at a path of members in JSON text without parsing the rest: of an object of a megabyte, only where it stands is of interest.
 * `undefined` where there is no such member, or it is no string. The text has to be one JSON object; it is not checked to be well formed.
 */
export function readString(json: Uint8Array, path: readonly string[]): string | undefined {
  const at = valueAt(json, path);
  if (at === undefined || json[at] !== QUOTE) return undefined;
  return JSON.parse(textOf(json, at, endOfString(json, at))) as string;
}

/** Where the value of a member begins, for each name of the path one object further in. */
function valueAt(json: Uint8Array, path: readonly string[]): number | undefined {
  let at: number | undefined = 0;
  for (const name of path) {
    at = memberAt(json, skipSpace(json, at), name);
    if (at === undefined) return undefined;
  }
  return at;
}

/** Where the value of a member of the object that begins at `from` begins. */
function memberAt(json: Uint8Array, from: number, name: string): number | undefined {
  if (json[from] !== OPEN_OBJECT) return undefined;
  let at = skipSpace(json, from + 1);
  while (json[at] === QUOTE) {
    const end = endOfString(json, at);
    const isIt = end - at === name.length + 2 && textOf(json, at + 1, end - 1) === name;
    const value = skipSpace(json, skipSpace(json, end) + 1);
    if (isIt) return value;
    at = skipSpace(json, endOfValue(json, value));
    if (json[at] !== COMMA) return undefined;
    at = skipSpace(json, at + 1);
  }
  return undefined;
}

function endOfValue(json: Uint8Array, from: number): number {
  const first = json[from];
  if (first === QUOTE) return endOfString(json, from);
  if (isOpening(first)) return endOfNested(json, from);
  let at = from;
  while (!isEnd(json[at])) at += 1;
  return at;
}

/** The place behind what closes the object or array that begins at `from`. */
function endOfNested(json: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at) - 1;
    else if (isOpening(byte)) depth += 1;
    else if (isClosing(byte)) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return json.length;
}

/** The place behind the closing quote of the string that begins at `from`. */
function endOfString(json: Uint8Array, from: number): number {
  let at = json.indexOf(QUOTE, from + 1);
  while (at > 0 && isEscaped(json, at)) at = json.indexOf(QUOTE, at + 1);
  return at < 0 ? json.length : at + 1;
}

/** Whether an odd number of backslashes stands before it. */
function isEscaped(json: Uint8Array, at: number): boolean {
  let before = at - 1;
  while (json[before] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 0;
}

function skipSpace(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && (json[at] as number) <= SPACE) at += 1;
  return at;
}

function isOpening(byte: number | undefined): boolean {
  return byte === OPEN_OBJECT || byte === OPEN_ARRAY;
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_OBJECT || byte === CLOSE_ARRAY;
}

function isEnd(byte: number | undefined): boolean {
  return byte === undefined || byte === COMMA || isClosing(byte) || byte <= SPACE;
}

function textOf(json: Uint8Array, from: number, to: number): string {
  return Buffer.from(json.buffer, json.byteOffset + from, to - from).toString("utf8");
}

const [QUOTE, BACKSLASH, COMMA, SPACE] = [0x22, 0x5c, 0x2c, 0x20];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
