import { asObject } from "../domain/json.ts";
import { readString } from "./string-in-json.ts";

/** What the filter has to know of an event of a watch. */
export interface SeenEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  /** `undefined` for an object without one. */
  readonly namespace: string | undefined;
  readonly version: string;
}

const TYPES = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"] as const;

/** Reads one line of a watch. What is no event counts as an error: the client is to see it, and to begin anew. */
export function readEvent(line: Buffer): SeenEvent {
  const found = readString(line, ["type"]);
  const type = TYPES.find((one) => one === found);
  const version = readString(line, ["object", "metadata", "resourceVersion"]);
  if (type === undefined || version === undefined) return { type: "ERROR", namespace: undefined, version: "" };
  return { type, namespace: readString(line, ["object", "metadata", "namespace"]), version };
}

/** The kind of the objects of a collection, as objects name it. */
export interface ObjectKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** An object that exists, as the event by which a watch says so. Lists leave out of their items what kind they are, so it is added. */
export function addedEvent(item: Buffer, { apiVersion, kind }: ObjectKind): Buffer {
  if (readString(item, ["kind"]) !== undefined) return Buffer.concat([ADDED, item, END]);
  const named = Buffer.from(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)},`);
  return Buffer.concat([ADDED, named, item.subarray(item.indexOf("{") + 1), END]);
}

const ADDED = Buffer.from('{"type":"ADDED","object":');
const END = Buffer.from("}\n");

/** The event by which a client learns from where on to resume, and nothing else. */
export function bookmark(token: string, { apiVersion, kind }: ObjectKind): string {
  const object = { kind, apiVersion, metadata: { resourceVersion: token, creationTimestamp: null } };
  return `${JSON.stringify({ type: "BOOKMARK", object })}\n`;
}

/** A bookmark of the API server with the client's token in place of the version; annotations of it mean something to clients. */
export function withToken(line: Buffer, token: string): string {
  const event = asObject(JSON.parse(line.toString("utf8")));
  const object = asObject(event["object"]);
  const metadata = { ...asObject(object["metadata"]), resourceVersion: token };
  return `${JSON.stringify({ ...event, object: { ...object, metadata } })}\n`;
}

/** What makes a client list again, as API servers say it of a version that they have forgotten. */
export function expired(message: string): string {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: "Expired", code: 410 };
  return `${JSON.stringify({ type: "ERROR", object: status })}\n`;
}

/** Puts lines together from chunks that break anywhere. */
export function createLineReader(): (chunk: Buffer) => readonly Buffer[] {
  let carry: Buffer[] = [];
  return (chunk) => {
    const lines: Buffer[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      carry.push(chunk.subarray(from, end + 1));
      lines.push(carry.length === 1 ? (carry[0] as Buffer) : Buffer.concat(carry));
      carry = [];
      from = end + 1;
    }
    if (from < chunk.length) carry.push(Buffer.from(chunk.subarray(from)));
    return lines;
  };
}

const LINE_FEED = 0x0a;
