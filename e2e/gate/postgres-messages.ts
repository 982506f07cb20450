/**
 * The messages of a PostgreSQL client (protocol 3.0,
 * https://www.postgresql.org/docs/18/protocol-message-formats.html), as far as they matter here.
 */
export type Said =
  /** Values for the statement that was prepared under this name. */
  | { readonly kind: "bind"; readonly statement: string; readonly values: readonly string[] }
  /** A plain statement, such as `commit`. */
  | { readonly kind: "query"; readonly text: string }
  | { readonly kind: "other" };

/** One message as it came, and its meaning. */
export interface Message {
  readonly raw: Buffer;
  readonly said: Said;
}

const HEAD_BYTES = 5;
const OTHER: Said = { kind: "other" };

/** Cuts what a client sends into messages. The first one has no type. */
export function createMessageReader(): (chunk: Buffer) => readonly Message[] {
  let rest: Buffer = Buffer.alloc(0);
  let hasStarted = false;
  const next = (): Message | undefined => {
    const head = hasStarted ? HEAD_BYTES : HEAD_BYTES - 1;
    if (rest.length < head) return undefined;
    const length = rest.readInt32BE(head - 4) + head - 4;
    if (rest.length < length) return undefined;
    const raw = rest.subarray(0, length);
    rest = rest.subarray(length);
    const said = hasStarted ? parse(raw) : OTHER;
    hasStarted = true;
    return { raw, said };
  };
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Message[] = [];
    for (let message = next(); message !== undefined; message = next()) messages.push(message);
    return messages;
  };
}

function parse(raw: Buffer): Said {
  const type = String.fromCharCode(raw[0] ?? 0);
  const body = raw.subarray(HEAD_BYTES);
  if (type === "Q") return { kind: "query", text: body.toString("utf8", 0, body.length - 1) };
  return type === "B" ? parseBind(body) : OTHER;
}

/** Portal, statement, formats, values. Each value follows its length, which is −1 for null. */
function parseBind(body: Buffer): Said {
  const portalEnd = body.indexOf(0);
  const statementEnd = body.indexOf(0, portalEnd + 1);
  const statement = body.toString("utf8", portalEnd + 1, statementEnd);
  let at = statementEnd + 1;
  at += 2 + 2 * body.readInt16BE(at);
  const values: string[] = [];
  const count = body.readInt16BE(at);
  at += 2;
  for (let index = 0; index < count; index += 1) {
    const length = Math.max(0, body.readInt32BE(at));
    values.push(body.toString("utf8", at + 4, at + 4 + length));
    at += 4 + length;
  }
  return { kind: "bind", statement, values };
}
