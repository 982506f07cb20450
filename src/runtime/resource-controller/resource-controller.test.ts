import { describe, expect, it } from "vitest";
import type { ShareChange } from "../../domain/partition.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSeededRng } from "../rng.ts";
import { createVirtualClock, settle } from "../testing/virtual-clock.ts";
import { createPartitionedQueue } from "./partitioned-queue.ts";
import { createResourceController, type Watch } from "./resource-controller.ts";
import { createSweeps } from "./sweeps.ts";

/** A watch that lists when the test says so, and tells its listeners what the test says. */
function aWatch(name: string, happened: string[]) {
  const listed = Promise.withResolvers<void>();
  const listeners = new Set<(key: string) => void>();
  let ended: AbortSignal | undefined;
  const watch: Watch = {
    start(signal) {
      happened.push(`${name} starts`);
      ended = signal;
    },
    synced: (signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        void listed.promise.then(resolve);
      }),
    async stopped() {
      happened.push(`${name} stopped${ended?.aborted === true ? "" : " while it watches"}`);
    },
  };
  return {
    ...watch,
    listed: async () => {
      listed.resolve();
      await settle();
    },
    emit: (key: string) => listeners.forEach((listener) => listener(key)),
    subscribe(listener: (key: string) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A controller of one kind, which reads objects of another. Keys such as `a/1`, of group `a`. */
function aController(join?: () => Promise<void>) {
  const clock = createVirtualClock();
  const happened: string[] = [];
  const abort = new AbortController();
  const [own, other] = [aWatch("own watch", happened), aWatch("other watch", happened)];
  const shares = new Set<(change: ShareChange) => void>();
  const mine = new Set(["a"]);
  const common = { name: "test", clock, rng: createSeededRng(1), log: silentLog, metrics: noMetrics };
  const queue = createPartitionedQueue({
    ...{ ...common, concurrency: 1, groupOf: (key: string) => key.split("/")[0] ?? "" },
    partition: { isMine: (group) => mine.has(group) },
    work: async (key) => void happened.push(key),
  });
  const sweeps = createSweeps({
    ...{ ...common, first: ["rows"], next: [] },
    sweeps: {
      rows: {
        everyMs: 60_000,
        async run() {
          happened.push("sweep");
          queue.add(["a/swept", "b/swept"]);
        },
      },
    },
  });
  const controller = createResourceController({
    ...{ name: "test", watches: [own], otherWatches: [other], sweeps, loops: [queue] },
    subscribe: () => [own.subscribe((key) => queue.add([key])), other.subscribe((key) => queue.add([key]))],
    partition: {
      ...(join === undefined ? {} : { join }),
      onChange(listener) {
        shares.add(listener);
        return () => void shares.delete(listener);
      },
    },
    takeOver(gained) {
      happened.push(`takes over ${["a", "b"].filter(gained).join()}`);
      sweeps.add("rows");
    },
  });
  const changeShare = (gained: string): void =>
    shares.forEach((listener) => listener({ mayGain: gained !== "", gained: (key) => gained.includes(key) }));
  return { controller, own, other, mine, changeShare, happened, clock, abort };
}

/** One that has listed everything, and has forgotten how it came to that. */
async function aRunningController() {
  const parts = aController();
  parts.controller.start(parts.abort.signal);
  await parts.own.listed();
  await parts.other.listed();
  await parts.clock.advance(0);
  parts.happened.length = 0;
  return parts;
}

describe("a resource controller", () => {
  it("takes its share once everything is listed, and sweeps nothing before it has it", async () => {
    const share = Promise.withResolvers<void>();
    let asked = 0;
    const { controller, own, other, happened, abort } = aController(() => {
      asked += 1;
      return share.promise;
    });
    controller.start(abort.signal);
    await own.listed();
    expect(asked).toBe(0);
    await other.listed();
    expect(asked).toBe(1);
    expect(happened).not.toContain("sweep");
    share.resolve();
    await settle();
    expect(happened).toContain("sweep");
    await controller.stop();
  });

  it("waits until every watch has listed everything, then sweeps, and only then works on keys", async () => {
    const { controller, own, other, happened, clock, abort } = aController();
    controller.start(abort.signal);
    expect(happened).toEqual(["own watch starts"]);
    own.emit("a/seen");
    await own.listed();
    await clock.advance(120_000);
    expect(happened).toEqual(["own watch starts"]);
    await other.listed();
    await clock.advance(0);
    expect(happened).toEqual(["own watch starts", "sweep", "a/seen", "a/swept"]);
  });

  it("works on what any of its watches tells of", async () => {
    const { own, other, happened, clock } = await aRunningController();
    own.emit("a/1");
    other.emit("a/2");
    other.emit("b/3");
    await clock.advance(0);
    expect(happened).toEqual(["a/1", "a/2"]);
  });

  it("finds by a sweep what a hand-over has made its own", async () => {
    const { mine, changeShare, happened, clock } = await aRunningController();
    mine.add("b");
    changeShare("b");
    await clock.advance(0);
    expect(happened).toEqual(["takes over b", "sweep", "a/swept", "b/swept"]);
  });

  it("does nothing when it has lost keys to somebody and gained none", async () => {
    const { changeShare, happened, clock } = await aRunningController();
    changeShare("");
    await clock.advance(0);
    expect(happened).toEqual([]);
  });

  it("hears of nothing after it was stopped, and ends only its own watches", async () => {
    const { controller, own, other, changeShare, happened, clock } = await aRunningController();
    await controller.stop();
    own.emit("a/1");
    other.emit("a/2");
    changeShare("b");
    await clock.advance(600_000);
    expect(happened).toEqual(["own watch stopped"]);
  });

  it("begins nothing when it is stopped before everything was listed", async () => {
    const { controller, own, other, happened, clock, abort } = aController();
    controller.start(abort.signal);
    await controller.stop();
    await own.listed();
    await other.listed();
    await clock.advance(600_000);
    expect(happened).toEqual(["own watch starts", "own watch stopped"]);
  });
});
