/** What of a list was read: one item, whole; or text around the items, in pieces as it came. */
export interface ListReader {
  /** One whole object of `items`. What is returned is written in its place; `undefined`: it is left out. */
  readonly item: (json: Buffer) => Buffer | undefined;
  /** The list's own `metadata`, whole. What is returned is written in its place. */
  readonly metadata: (json: Buffer) => Buffer;
}

export interface ListSplitter {
  /** Takes the next bytes of the answer, and returns what is to be handed on. */
  push(chunk: Buffer): readonly Buffer[];
  /** Whether the list has come to its end. */
  isWhole(): boolean;
}

/** Where in the list the scanner stands: between members, in a member's name or value, between items, or in one. */
type Place = "members" | "name" | "value" | "items" | "item";

/**
 * Reads a list of an API server as it streams in, and holds one item of it at a time, however large the page is. Members may come in any order:
 * servers put `items` last for kinds of their own, and before `metadata` for those of definitions. The text has to be JSON as servers write it;
 * it is handed on byte for byte but for what the reader changes.
 */
export function createListSplitter(reader: ListReader): ListSplitter {
  let place: Place = "members";
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  let isWhole = false;
  let isFirstItem = true;
  let name = "";
  /** A name, the metadata or an item, as far as it has come; `undefined`: nothing is kept. */
  let kept: Buffer[] | undefined;
  let chunk: Buffer = NOTHING;
  /** From where on the chunk is not dealt with yet. */
  let from = 0;
  let out: Buffer[] = [];

  const handOn = (to: number): void => {
    if (to > from) {
      if (kept !== undefined) kept.push(chunk.subarray(from, to));
      // What stands between items is written anew.
      else if (place !== "items") out.push(chunk.subarray(from, to));
    }
    from = to;
  };
  const keepFrom = (at: number): void => {
    handOn(at);
    kept = [];
  };
  const takeUntil = (to: number): Buffer => {
    handOn(to);
    const whole = kept?.length === 1 ? (kept[0] as Buffer) : Buffer.concat(kept ?? []);
    kept = undefined;
    return whole;
  };
  const endName = (to: number): void => {
    const text = takeUntil(to);
    out.push(text);
    name = text.toString("utf8");
    place = "value";
  };
  const endValue = (to: number): void => {
    if (kept === undefined) handOn(to);
    else out.push(reader.metadata(takeUntil(to)));
    place = "members";
  };
  const endItem = (to: number): void => {
    const item = reader.item(takeUntil(to));
    place = "items";
    if (item === undefined) return;
    out.push(...(isFirstItem ? [item] : [SEPARATOR, item]));
    isFirstItem = false;
  };
  const beginString = (at: number): void => {
    isInString = true;
    if (place !== "members" || depth !== 1) return;
    keepFrom(at);
    place = "name";
  };
  const endString = (to: number): void => {
    isInString = false;
    if (place === "name") endName(to);
    else if (place === "value" && depth === 1) endValue(to);
  };
  const open = (at: number, byte: number): void => {
    if (place === "items") {
      keepFrom(at);
      place = "item";
    } else if (place === "value" && depth === 1 && byte === OPEN_ARRAY && name === ITEMS) {
      handOn(at + 1);
      place = "items";
    } else if (place === "value" && depth === 1 && byte === OPEN_OBJECT && name === METADATA) keepFrom(at);
    depth += 1;
  };
  const close = (at: number): void => {
    depth -= 1;
    if (depth === 0) isWhole = true;
    else if (place === "item" && depth === 2) endItem(at + 1);
    else if (place === "items") {
      handOn(at);
      place = "members";
    } else if (place === "value" && depth === 1) endValue(at + 1);
  };

  /** Goes on in a string; returns the place of the last byte it dealt with. */
  const scanString = (at: number): number => {
    if (isEscaped) {
      isEscaped = false;
      return at;
    }
    const quote = chunk.indexOf(QUOTE, at);
    const end = quote < 0 ? chunk.length : quote;
    const slash = chunk.subarray(at, end).indexOf(BACKSLASH);
    if (slash >= 0) {
      isEscaped = true;
      return at + slash;
    }
    if (quote >= 0) endString(end + 1);
    return end;
  };
  const scanByte = (at: number): void => {
    const byte = chunk[at] as number;
    if (byte === QUOTE) beginString(at);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) open(at, byte);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) close(at);
    else if (byte === COMMA && place === "value" && depth === 1) endValue(at);
  };

  return {
    push(next) {
      chunk = next;
      from = 0;
      out = [];
      for (let at = 0; at < chunk.length; at += 1) {
        if (isInString) at = scanString(at);
        else scanByte(at);
      }
      handOn(chunk.length);
      chunk = NOTHING;
      return out;
    },
    isWhole: () => isWhole,
  };
}

const NOTHING = Buffer.alloc(0);
const SEPARATOR = Buffer.from(",");
const [ITEMS, METADATA] = ['"items"', '"metadata"'];
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];
