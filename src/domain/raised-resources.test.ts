import { describe, expect, it } from "vitest";
import { aPool } from "../store/testing/builders.ts";
import type { RaisedAmounts } from "./instance.ts";
import { loadVector } from "./load.ts";
import { amountInForce, capacityFor, raisesInForce, resourcesFor } from "./raised-resources.ts";

const resources = {
  controller: { cpu: "2", memory: "4Gi" },
  repoServer: { cpu: "1", memory: "1Gi", replicas: 2 },
  redis: { cpu: "250m", memory: "256Mi" },
};
const max = { controller: { cpu: "4", memory: "8Gi" }, repoServer: { disk: "40Gi" } };
const pool = aPool("standard", { resources: { ...resources, max }, capacity: { ...loadVector(() => 100), milliCpu: 1_500 } });
const undeclared = aPool("standard", { resources });

describe("what an instance has of an amount", () => {
  it.each<readonly [string, string, RaisedAmounts | undefined, string]>([
    ["is what its pool declares", "controller.memory", undefined, "4Gi"],
    ["or what it was raised to", "controller.memory", { "controller.memory": "6Gi" }, "6Gi"],
    ["but never more than its pool allows now", "controller.memory", { "controller.memory": "16Gi" }, "8Gi"],
    ["nor less than its pool declares now", "controller.memory", { "controller.memory": "2Gi" }, "4Gi"],
    ["nor anything else where its pool allows none of it", "repoServer.memory", { "repoServer.memory": "2Gi" }, "1Gi"],
    ["also of the disk that nobody declared", "repoServer.disk", { "repoServer.disk": "30Gi" }, "30Gi"],
    ["which is the usual one otherwise", "repoServer.disk", {}, "20Gi"],
  ])("%s", (_what, amount, raised, expected) => {
    expect(amountInForce(pool, raised, amount as keyof RaisedAmounts)).toBe(expected);
  });

  it("is compared by its size, however it is written", () => {
    expect(amountInForce(pool, { "controller.cpu": "3500m" }, "controller.cpu")).toBe("3500m");
    expect(amountInForce(pool, { "controller.cpu": "4500m" }, "controller.cpu")).toBe("4");
  });
});

describe("the resources of an instance", () => {
  it("are those of its pool, as they are written there, where nothing was raised", () => {
    expect(resourcesFor(pool, undefined)).toEqual(resources);
    expect(resourcesFor(undeclared, { "controller.memory": "8Gi" })).toEqual(resources);
  });

  it("are larger by what was raised alone", () => {
    const raised = { "controller.memory": "6Gi", "repoServer.disk": "30Gi" };
    expect(resourcesFor(pool, raised)).toEqual({
      ...resources,
      controller: { cpu: "2", memory: "6Gi" },
      repoServer: { ...resources.repoServer, disk: "30Gi" },
    });
    expect(raisesInForce(pool, raised)).toEqual([
      { amount: "controller.memory", declared: "4Gi", given: "6Gi" },
      { amount: "repoServer.disk", declared: "20Gi", given: "30Gi" },
    ]);
  });
});

describe("what an instance bears", () => {
  it("is more CPU in proportion to what its controller was given, and nothing else", () => {
    expect(capacityFor(pool, { "controller.cpu": "3", "controller.memory": "8Gi" })).toEqual({ ...pool.capacity, milliCpu: 2_250 });
    expect(capacityFor(pool, { "controller.memory": "8Gi" })).toBe(pool.capacity);
  });
});
