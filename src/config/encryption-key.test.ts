import { expect, it } from "vitest";
import { decodeEncryptionKey } from "./encryption-key.ts";

it("reads 32 bytes in base64 with white space around", () => {
  expect(decodeEncryptionKey(` ${Buffer.alloc(32, 200).toString("base64")}\n`)).toEqual(new Uint8Array(32).fill(200));
});

it.each(["", "c2hvcnQ=", Buffer.alloc(33).toString("base64"), `${"A".repeat(42)}!=`, "A".repeat(44), "00".repeat(32)])(
  "refuses %j",
  (text) => {
    expect(decodeEncryptionKey(text)).toBeUndefined();
  },
);
