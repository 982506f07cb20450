/** One question of a DNS query (RFC 1035 §4.1). */
export interface DnsQuestion {
  /** In lower case, without a dot at the end. */
  readonly name: string;
  /** Type of the record: 1 for an IPv4 address, 28 for an IPv6 address. */
  readonly type: number;
}

const headerBytes = 12;
const typeA = 1;
/** Time to live of answers, in s. */
const ttlSeconds = 5;

/** The first question of a query. `undefined`: the message is no query. Names in queries are never compressed. */
export function parseQuery(message: Buffer): DnsQuestion | undefined {
  const isQuery = message.length > headerBytes && (message.readUInt8(2) & 0xf8) === 0 && message.readUInt16BE(4) >= 1;
  const labels: string[] = [];
  let at = headerBytes;
  for (let length = isQuery ? message[at] : undefined; length !== undefined && length > 0; length = message[at]) {
    if (length > 63) return undefined;
    labels.push(message.toString("latin1", at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  if (!isQuery || message.length < at + 5) return undefined;
  return { name: labels.join("."), type: message.readUInt16BE(at + 1) };
}

/** Answers a query: with an address, for other types only with the existence of the name, or that there is no such name. */
export function answerQuery(query: Buffer, question: DnsQuestion, address: string | undefined): Buffer {
  const questionEnd = headerBytes + question.name.length + (question.name === "" ? 1 : 2) + 4;
  const hasAnswer = address !== undefined && question.type === typeA;
  const response = Buffer.from(query.subarray(0, questionEnd));
  // An authoritative answer, with recursion as desired. "No such name" is code 3.
  response.writeUInt16BE(0x8480 | (query.readUInt16BE(2) & 0x0100) | (address === undefined ? 3 : 0), 2);
  for (const [field, count] of [
    [4, 1],
    [6, hasAnswer ? 1 : 0],
    [8, 0],
    [10, 0],
  ] as const)
    response.writeUInt16BE(count, field);
  if (!hasAnswer) return response;
  const record = Buffer.alloc(16);
  // The name is a pointer to the one in the question.
  record.writeUInt16BE(0xc000 | headerBytes, 0);
  record.writeUInt16BE(typeA, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(ttlSeconds, 6);
  record.writeUInt16BE(4, 10);
  for (const [at, part] of address.split(".").entries()) record.writeUInt8(Number(part), 12 + at);
  return Buffer.concat([response, record]);
}
