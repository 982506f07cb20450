import { describe, expect, it } from "vitest";
import { soon, type World } from "../world.ts";

export function describeReservedServers(world: () => World): void {
  describe("what reserved servers were given away by", () => {
    it("is kept for each of them, as it was read last", async () => {
      const { reservedServers } = world().store;
      const one = { server: "https://one.example:6443", listeners: ["one.example:6443", "[2001:db8::1]:6443"], certificate: "AB:CD" };
      const two = { server: "http://two.example", listeners: ["two.example:80"], certificate: undefined };
      expect(await reservedServers.read(one.server, soon())).toBeUndefined();
      for (const each of [one, two, two]) await reservedServers.keep(each, soon());
      expect(await reservedServers.read(one.server, soon())).toEqual(one);
      expect(await reservedServers.read(two.server, soon())).toEqual(two);
      const moved = { ...one, listeners: [], certificate: "EF" };
      await reservedServers.keep(moved, soon());
      expect(await reservedServers.read(one.server, soon())).toEqual(moved);
      await reservedServers.keep({ ...two, certificate: "01" }, soon());
      expect(await reservedServers.read(two.server, soon())).toEqual({ ...two, certificate: "01" });
    });
  });
}
