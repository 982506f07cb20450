import { describe, expect, it } from "vitest";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSeededRng } from "../rng.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createPartitionedQueue } from "./partitioned-queue.ts";

/** A queue of keys such as `a/1`, of group `a`, that runs one key at a time. */
function aQueue(mine: ReadonlySet<string>) {
  const clock = createVirtualClock();
  const runs: string[] = [];
  const queue = createPartitionedQueue({
    ...{ name: "test", concurrency: 1, clock, rng: createSeededRng(1), log: silentLog, metrics: noMetrics },
    partition: { isMine: (group) => mine.has(group) },
    groupOf: (key) => key.split("/")[0] ?? "",
    work: async (key) => void runs.push(key),
  });
  return { queue, clock, runs };
}

describe("a partitioned queue", () => {
  it("takes only keys of groups that are this process's", async () => {
    const mine = new Set(["a"]);
    const { queue, clock, runs } = aQueue(mine);
    queue.start();
    queue.add(["a/1", "b/1"]);
    await clock.advance(0);
    mine.add("b");
    queue.add(["b/2"]);
    await clock.advance(0);
    expect(runs).toEqual(["a/1", "b/2"]);
  });

  it("lets groups take turns", async () => {
    const { queue, clock, runs } = aQueue(new Set(["a", "b"]));
    queue.add(["a/1", "a/2", "a/3", "b/1"]);
    queue.start();
    await clock.advance(0);
    expect(runs.indexOf("b/1")).toBe(1);
    expect(runs).toHaveLength(4);
  });

  it("waits with keys for as long as it is asked to", async () => {
    const { queue, clock, runs } = aQueue(new Set(["a"]));
    queue.start();
    queue.add(["a/1"], { afterMs: 500 });
    await clock.advance(499);
    expect(runs).toEqual([]);
    await clock.advance(1);
    expect(runs).toEqual(["a/1"]);
  });

  it("takes over what was gained behind what is new, and after as long as it is asked to wait", async () => {
    const { queue, clock, runs } = aQueue(new Set(["a", "b", "c"]));
    queue.takeOver(["a/1", "b/1", "b/2", "c/1"], (group) => group !== "c");
    queue.takeOver(["a/2"], () => true, { afterMs: 500 });
    queue.add(["c/2", "c/3"]);
    queue.start();
    await clock.advance(499);
    expect(runs).toEqual(["a/1", "c/2", "b/1", "c/3", "b/2"]);
    await clock.advance(1);
    expect(runs.slice(5)).toEqual(["a/2"]);
  });

  it("works on nothing before it is started and after it was stopped", async () => {
    const { queue, clock, runs } = aQueue(new Set(["a"]));
    queue.add(["a/1"]);
    await clock.advance(1000);
    expect(runs).toEqual([]);
    await queue.stop();
    queue.start();
    queue.add(["a/2"]);
    await clock.advance(1000);
    expect(runs).toEqual([]);
  });
});
