import { expect, it } from "vitest";
import { createMessageReader } from "./postgres-messages.ts";

const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const value = (of: string | null): Buffer => (of === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(of)), Buffer.from(of)]));

const STARTUP = message("", int32(196_608), text("user"), text("argosy"), Buffer.from([0]));
const BIND = message(
  "B",
  text(""),
  text("enter_move_phase"),
  int16(1),
  int16(0),
  int16(3),
  value("mv-ü"),
  value(null),
  value("GRANT"),
  int16(0),
);
const COMMIT = message("Q", text("commit"));
const SYNC = message("S");
const ALL = Buffer.concat([STARTUP, BIND, SYNC, COMMIT]);

it.each([1, 3, 7, 1_000])("separates messages that come in pieces of %i bytes, and loses none", (size) => {
  const read = createMessageReader();
  const pieces = Array.from({ length: Math.ceil(ALL.length / size) }, (_, index) => ALL.subarray(index * size, (index + 1) * size));
  const messages = pieces.flatMap((piece) => read(piece));
  expect(messages.map(({ said }) => said)).toEqual([
    { kind: "other" },
    { kind: "bind", statement: "enter_move_phase", values: ["mv-ü", "", "GRANT"] },
    { kind: "other" },
    { kind: "query", text: "commit" },
  ]);
  expect(Buffer.concat(messages.map(({ raw }) => raw))).toEqual(ALL);
});
