import { expect, it } from "vitest";
import {
  controllerNeed,
  mostEnvironmentObjects,
  mostEnvironments,
  usualEnvironmentObjects,
  usualEnvironments,
} from "./controller-memory.ts";

it("adds up what a full controller needs, part by part", () => {
  expect(controllerNeed({ applications: 1_000, clusterEntries: 60, cachedResources: 250_000 })).toEqual({
    ...{ empty: 97, entries: 2_370, resources: 1_250, applications: 60, total: 3_777 },
  });
});

it("gives one workspace a quarter of the entries, one at least, and no more than fifty by itself", () => {
  const most = [1, 7, 60, 1_000].map((clusterEntries) => mostEnvironments({ clusterEntries }));
  expect(most).toEqual([1, 1, 15, 250]);
  expect(most.map(usualEnvironments)).toEqual([1, 1, 15, 50]);
});

it("counts a workspace's own entry as one of its quarter", () => {
  const most = (clusterEntries: number) => mostEnvironments({ clusterEntries, entries: "per-workspace" });
  expect([2, 8, 12, 60].map(most)).toEqual([1, 1, 2, 14]);
});

it("lets the objects of one environment take a tenth of the memory by itself, and half of it at most", () => {
  expect([64, 2_048, 4_096, 65_536].map(usualEnvironmentObjects)).toEqual([1_000, 10_240, 20_480, 100_000]);
  expect([64, 2_048, 4_096].map(mostEnvironmentObjects)).toEqual([1_600, 51_200, 100_000]);
});
