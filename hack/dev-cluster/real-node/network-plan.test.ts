import { describe, expect, it } from "vitest";
import { API_SERVICE, NETWORKS, NODES, planCluster, planNode, podRange, SERVICES } from "./network-plan.ts";

const clusters = [...Array(NETWORKS).keys()].map(planCluster);
const nodes = clusters.flatMap((cluster) => Array.from({ length: NODES }, (_, at) => planNode(cluster, at + 1)));

describe("the networks of real nodes", () => {
  it("share no name, no address and no range, however many there are", () => {
    for (const all of [
      clusters.map(({ bridge }) => bridge),
      clusters.map(({ range }) => range),
      nodes.map(({ namespace }) => namespace),
      nodes.map(({ link }) => link),
      nodes.map(({ address }) => address),
      [...clusters.map(podRange), ...nodes.map(({ pods }) => pods), SERVICES],
    ])
      expect(new Set(all).size).toBe(all.length);
  });

  it("have names that the kernel takes for interfaces", () => {
    for (const name of [...clusters.map(({ bridge }) => bridge), ...nodes.map(({ link }) => link)])
      expect(name.length).toBeLessThanOrEqual(15);
  });

  it("stay in the ranges that are theirs", () => {
    for (const { host, range } of clusters) expect([host, range].every((text) => /^198\.18\.\d+\./.test(text))).toBe(true);
    for (const { pods } of nodes) expect(Number(pods.split(".")[1])).toSatisfy((second: number) => second >= 128 && second < 192);
    expect(API_SERVICE.startsWith(SERVICES.replace(/0\.0\/16$/, ""))).toBe(true);
  });
});
