import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embeddedIpv4, isInRange, parseAddress, parseRange } from "./address.ts";

describe("reading an address", () => {
  it.each([
    ["10.0.0.1", { bits: 32, value: 0x0a00_0001n }],
    ["::1", { bits: 128, value: 1n }],
    ["[::1]", { bits: 128, value: 1n }],
    ["::", { bits: 128, value: 0n }],
    ["2001:DB8::10", { bits: 128, value: 0x2001_0db8_0000_0000_0000_0000_0000_0010n }],
    ["::ffff:10.0.0.1", { bits: 128, value: 0xffff_0a00_0001n }],
    ["1:2:3:4:5:6:7:8", { bits: 128, value: 0x0001_0002_0003_0004_0005_0006_0007_0008n }],
  ])("reads %s", (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each([
    "",
    "10.0.0",
    "10.0.0.256",
    "10.0.0.0.1",
    "git.example",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "::g",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7:8::",
    "::12345",
  ])("refuses %j", (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it("takes for an address exactly what the platform does", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.]{0,24}$/)), (text) => {
        // The platform also takes leading zeros of IPv4 for a mistake, and so do four decimal numbers here.
        const isOne = isIPv4(text) || isIPv6(text);
        if (/(^|[.:])0\d/.test(text)) return;
        expect(parseAddress(text) !== undefined).toBe(isOne);
      }),
    );
  });
});

describe("a range", () => {
  it.each([
    ["10.0.0.0/8", "10.255.255.255", true],
    ["10.0.0.0/8", "11.0.0.0", false],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.8", false],
    ["fe80::/10", "febf::1", true],
    ["fe80::/10", "fec0::1", false],
    ["::/0", "10.0.0.1", false],
  ])("%s holds %s: %s", (range, address, isInside) => {
    const [parsedRange, parsedAddress] = [parseRange(range), parseAddress(address)];
    expect(parsedRange !== undefined && parsedAddress !== undefined && isInRange(parsedAddress, parsedRange)).toBe(isInside);
  });

  it.each(["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/8/8", "git.example/8", "10.0.0.0/a"])("refuses %j", (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});

describe("the IPv4 address inside an IPv6 one", () => {
  it.each([
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["64:ff9b::10.0.0.1", "10.0.0.1"],
    ["::10.0.0.1", "10.0.0.1"],
    ["2002:0a00:0001::", "10.0.0.1"],
    ["2001:db8::1", undefined],
    ["::1", undefined],
    ["10.0.0.1", undefined],
  ])("%s stands for %s", (text, inner) => {
    const address = parseAddress(text);
    expect(address && embeddedIpv4(address)).toEqual(inner === undefined ? undefined : parseAddress(inner));
  });
});
