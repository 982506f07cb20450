import { expect, test } from "vitest";
import { insideAddressesOf } from "./inside-addresses-of.ts";

const { signal } = new AbortController();
const named: Readonly<Record<string, readonly string[]>> = {
  "api.example": ["10.1.2.3", "8.8.8.8", "10.0.0.1"],
  "public.example": ["8.8.8.8"],
};
const resolve = async (host: string) => named[host] ?? [];

test.each([
  ["https://10.96.0.1:443", ["10.96.0.1"]],
  ["https://[fd00::1]:6443/x", ["fd00::1"]],
  ["https://8.8.8.8", []],
  ["https://127.0.0.1:6443", []],
  ["https://[::1]:6443", []],
  ["https://api.example:6443", ["10.0.0.1", "10.1.2.3"]],
  ["https://public.example", []],
  ["https://nowhere.example", []],
])("of %s only the inside reaches %j", async (url, expected) => {
  expect(await insideAddressesOf(url, signal, resolve)).toEqual(expected);
});
