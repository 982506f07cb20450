import { isIPv4 } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { filterAddress } from "./filter-address.ts";
import type { InstanceId } from "./ids.ts";

it("gives each instance a loopback address that no pod of the development cluster has", () => {
  fc.assert(
    fc.property(fc.uuid(), (id) => {
      const address = filterAddress(id as InstanceId);
      const [net, first = 0, , last = 0] = address.split(".").map(Number);
      expect(isIPv4(address) && net === 127 && first >= 1 && first <= 15 && last >= 1 && last <= 254).toBe(true);
      expect(filterAddress(id as InstanceId)).toBe(address);
    }),
  );
});
