import { describe, expect, it } from "vitest";
import { parseAddress } from "./address.ts";
import { isAddressAllowed } from "./egress.ts";

const isAllowed = (text: string, allow: readonly string[] = []): boolean => {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(text);
  return isAddressAllowed(address, { allow });
};

describe("addresses that lead inside, or nowhere", () => {
  it.each([
    ["this network", "0.0.0.0", "0.255.255.255"],
    ["private", "10.0.0.0", "10.255.255.255"],
    ["shared by carriers", "100.64.0.0", "100.127.255.255"],
    ["loopback", "127.0.0.1", "127.255.255.255"],
    ["link-local, metadata of clouds", "169.254.0.0", "169.254.169.254"],
    ["private", "172.16.0.0", "172.31.255.255"],
    ["of protocols", "192.0.0.0", "192.0.0.255"],
    ["documentation", "192.0.2.0", "192.0.2.255"],
    ["relays of 6to4", "192.88.99.0", "192.88.99.255"],
    ["private", "192.168.0.0", "192.168.255.255"],
    ["benchmarks", "198.18.0.0", "198.19.255.255"],
    ["documentation", "198.51.100.0", "203.0.113.255"],
    ["multicast", "224.0.0.0", "239.255.255.255"],
    ["reserved, broadcast", "240.0.0.0", "255.255.255.255"],
    ["unspecified and loopback", "::", "::1"],
    ["mapped IPv4 inside", "::ffff:10.0.0.1", "::ffff:169.254.169.254"],
    ["translated IPv4 (SIIT)", "::ffff:0:10.0.0.1", "::ffff:0:8.8.8.8"],
    ["compatible IPv4 inside", "::10.0.0.1", "::127.0.0.1"],
    ["NAT64 of IPv4 inside", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe"],
    ["NAT64 of one's own", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
    ["discarded", "100::1", "100:0:0:1::1"],
    ["of protocols: Teredo, benchmarks, ORCHID", "2001::1", "2001:1ff:ffff::1"],
    ["documentation", "2001:db8::1", "2001:db8:ffff::1"],
    ["6to4 of IPv4 inside", "2002:a00:1::1", "2002:7f00:1::"],
    ["documentation", "3fff::1", "3fff:fff:ffff::1"],
    ["segment routing", "5f00::1", "5fff::1"],
    ["unique local", "fc00::1", "fdff::1"],
    ["link-local", "fe80::1", "febf::1"],
    ["site-local", "fec0::1", "feff::1"],
    ["multicast", "ff00::1", "ff02::1"],
    ["assigned to nobody", "400::1", "1fff::1"],
    ["assigned to nobody", "4000::1", "e000::1"],
  ])("are refused: %s (%s, %s)", (_what, first, last) => {
    expect(isAllowed(first)).toBe(false);
    expect(isAllowed(last)).toBe(false);
  });

  it.each([
    ["8.8.8.8"],
    ["100.63.255.255"],
    ["100.128.0.0"],
    ["172.15.255.255"],
    ["172.32.0.0"],
    ["198.17.255.255"],
    ["198.20.0.0"],
    ["223.255.255.255"],
    ["2001:200::1"],
    ["2606:4700::1111"],
    ["2a00:1450::1"],
    ["3ffe::1"],
    ["3fff:1000::1"],
    ["::ffff:8.8.8.8"],
    ["64:ff9b::8.8.8.8"],
    ["2002:808:808::1"],
  ])("are not those of the others: %s", (address) => {
    expect(isAllowed(address)).toBe(true);
  });

  it.each([
    ["10.1.2.3", "10.1.0.0/16", true],
    ["::ffff:10.1.2.3", "10.1.0.0/16", true],
    ["64:ff9b::10.1.2.3", "10.1.0.0/16", true],
    ["64:ff9b:1::1", "64:ff9b:1::/48", true],
    ["fd00::1", "fd00::/64", true],
    ["fd00:0:0:1::1", "fd00::/64", false],
    ["10.2.0.1", "10.1.0.0/16", false],
    ["10.2.0.1", "no range", false],
  ])("are reached where the administrator allows it: %s by %s is %s", (address, range, isReached) => {
    expect(isAllowed(address, [range])).toBe(isReached);
  });
});
