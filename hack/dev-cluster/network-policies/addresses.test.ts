import { BlockList, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AddressRange,
  formatAddress,
  formatRange,
  isInRanges,
  isWholeFamily,
  mergeRanges,
  parseAddress,
  parseCidr,
  subtractRanges,
} from "./addresses.ts";

const addressOf = (text: string) => parseAddress(text) as NonNullable<ReturnType<typeof parseAddress>>;
const rangeOf = (text: string) => parseCidr(text) as AddressRange;

describe("addresses", () => {
  it.each([
    ["10.1.2.3", "10.1.2.3"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "0:0:0:0:0:0:0:0"],
    ["fd00::5", "fd00:0:0:0:0:0:0:5"],
    ["1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"],
    ["::ffff:192.0.2.1", "0:0:0:0:0:ffff:c000:201"],
    ["2001:db8:0:1:2:3:4:5", "2001:db8:0:1:2:3:4:5"],
  ])("reads %s", (text, full) => {
    expect(formatAddress(addressOf(text))).toBe(full);
  });

  it.each(["", "10.1.2", "10.1.2.256", "010.1.2.3", "10.1.2.3/32", "fe80::1%eth0", ":::", "1:2:3", "web"])(
    "refuses %j as an address",
    (text) => {
      expect(parseAddress(text)).toBeUndefined();
    },
  );

  it.each(["", "10.0.0.0", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "/8", "10.0.0.0/8 "])(
    "refuses %j as a range",
    (text) => {
      expect(parseCidr(text)).toBeUndefined();
    },
  );

  it.each([
    ["10.1.2.3/8", "10.0.0.0/8"],
    ["10.1.2.3/32", "10.1.2.3"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    ["fd00::ffff/112", "fd00:0:0:0:0:0:0:0/112"],
    ["::/0", "0:0:0:0:0:0:0:0/0"],
  ])("writes %s as %s", (text, expected) => {
    expect(formatRange(rangeOf(text))).toBe(expected);
  });

  it("joins ranges that overlap or touch, and keeps families apart", () => {
    const ranges = ["10.0.0.4/30", "10.0.0.0/30", "10.0.0.6/32", "10.0.0.9/32", "::/128"].map(rangeOf);
    expect(mergeRanges(ranges).map(formatRange)).toEqual(["10.0.0.0/29", "10.0.0.9", "0:0:0:0:0:0:0:0"]);
  });

  it("takes parts out of a range", () => {
    const left = subtractRanges(rangeOf("10.0.0.0/24"), ["10.0.0.0/28", "10.0.0.20/32", "10.0.0.240/28", "fd00::/8"].map(rangeOf));
    expect(left.map(formatRange)).toEqual(["10.0.0.16/30", "10.0.0.21-10.0.0.239"]);
    expect(subtractRanges(rangeOf("10.0.0.0/24"), [rangeOf("10.0.0.0/8")])).toEqual([]);
  });

  it("knows a range that is everything", () => {
    expect(["0.0.0.0/0", "::/0", "0.0.0.0/1"].map((text) => isWholeFamily(rangeOf(text)))).toEqual([true, true, false]);
  });

  it("finds in what is left of a range exactly what Node finds in it and not in its exceptions", () => {
    const anyAddress = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.integer({ min: 0, max: 255 }).map((last) => `10.0.0.${last}`),
    );
    const anyCidr = fc
      .tuple(anyAddress, fc.integer({ min: 0, max: 32 }))
      .map(([host, fromEnd]) => `${host}/${(isIPv6(host) ? 128 : 32) - fromEnd}`);
    fc.assert(
      fc.property(anyCidr, fc.array(anyCidr, { maxLength: 3 }), fc.array(anyAddress, { minLength: 10 }), (block, except, addresses) => {
        const left = subtractRanges(rangeOf(block), except.map(rangeOf));
        for (const address of addresses) {
          const expected = isInside(block, address) && !except.some((each) => isInside(each, address));
          expect(isInRanges(left, addressOf(address))).toBe(expected);
        }
      }),
    );
  });
});

function isInside(cidr: string, address: string): boolean {
  const [network = "", prefix = ""] = cidr.split("/");
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), isIPv6(network) ? "ipv6" : "ipv4");
  return isIPv6(network) === isIPv6(address) && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
