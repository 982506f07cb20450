import { describe, expect, it } from "vitest";
import { type ContainerOptions, type ContainerRecord, createContainer } from "./container.ts";
import type { Run } from "./run.ts";
import { aContainer } from "./testing/a-pod.ts";

/** Runs that end on request, and a clock that moves on request. */
function aWorld(changes: Partial<ContainerOptions> = {}) {
  const ends: ((code: number) => void)[] = [];
  const records: ContainerRecord[] = [];
  const world = { nowMs: 1_000_000, memory: 0, changes: 0, missing: undefined as string | undefined };
  const start = (record: ContainerRecord): Promise<Run> => {
    records.push(record);
    let end = (_code: number): void => undefined;
    const ended = new Promise<number>((resolve) => {
      end = resolve;
    });
    ends.push(end);
    return Promise.resolve({
      id: `run-${ends.length}`,
      pid: undefined,
      ended,
      stop: () => end(143),
      kill: () => end(137),
      memory: () => world.memory,
      share: () => undefined,
      detach: () => Promise.resolve(),
    });
  };
  const options: ContainerOptions = {
    ...{ podIP: "127.20.0.1", restartPolicy: "Always", backoff: { minMs: 1000, maxMs: 4000 }, neverReady: false },
    nowMs: () => world.nowMs,
    onChange: () => world.changes++,
    prepare: () =>
      Promise.resolve(
        world.missing === undefined
          ? { ok: true, start }
          : { ok: false, reason: "CreateContainerConfigError", message: world.missing, retryMs: 500 },
      ),
    ...changes,
  };
  const container = createContainer(aContainer(), options);
  const signal = new AbortController().signal;
  return {
    ...{ world, container, records, options },
    step: (spec = aContainer()) => container.step(spec, signal),
    async end(code: number) {
      ends.at(-1)?.(code);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe("a container", () => {
  it("waits for missing objects, with a kubelet's reason, then runs", async () => {
    const { world, container, step } = aWorld();
    world.missing = 'secret "x" not found';
    expect(await step()).toBe(500);
    expect(container.view()).toMatchObject({
      state: { kind: "waiting", reason: "CreateContainerConfigError", message: world.missing },
      isReady: false,
    });
    world.missing = undefined;
    await step();
    expect(container.view()).toMatchObject({ state: { kind: "running" }, isReady: true, restartCount: 0 });
  });

  it("restarts after an end: at once, then after waits that double", async () => {
    const { world, container, step, end } = aWorld();
    const waits: number[] = [];
    await step();
    for (let crash = 0; crash < 5; crash++) {
      await end(1);
      const { state } = container.view();
      const waitMs = (await step()) ?? 0;
      expect(state).toMatchObject({ kind: "waiting", reason: waitMs === 0 ? "ContainerCreating" : "CrashLoopBackOff" });
      waits.push(waitMs);
      world.nowMs += waitMs;
      if (waitMs > 0) await step();
    }
    expect(waits).toEqual([0, 1000, 2000, 4000, 4000]);
    expect(container.view()).toMatchObject({ state: { kind: "running" }, last: { exitCode: 1, reason: "Error" }, restartCount: 5 });
  });

  it("stays ended under the restart policies that say so", async () => {
    for (const [restartPolicy, code, restarts] of [
      ["Never", 1, false],
      ["OnFailure", 0, false],
      ["OnFailure", 1, true],
    ] as const) {
      const { container, step, end } = aWorld({ restartPolicy });
      await step();
      await end(code);
      await step();
      expect([restartPolicy, code, container.view().state.kind]).toEqual([restartPolicy, code, restarts ? "running" : "terminated"]);
    }
  });

  it("is killed when it uses more memory than its limit, and says so", async () => {
    const { world, container, step } = aWorld();
    const limited = aContainer({ resources: { limits: { memory: "1Mi" } } });
    await step(limited);
    world.memory = 2 ** 20;
    container.checkMemory();
    expect(container.run()).toBeDefined();
    world.memory += 1;
    container.checkMemory();
    await new Promise((resolve) => setImmediate(resolve));
    expect(container.view().last).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
  });

  it("is replaced when its image changes, without that counting as a crash", async () => {
    const { container, step, records } = aWorld();
    await step();
    await step(aContainer({ image: "example/web:2" }));
    await new Promise((resolve) => setImmediate(resolve));
    await step(aContainer({ image: "example/web:2" }));
    expect(container.view()).toMatchObject({ image: "example/web:2", restartCount: 1, state: { kind: "running" } });
    expect(records.map(({ crashes }) => crashes)).toEqual([0, 0]);
  });

  it("does not start again once it was stopped", async () => {
    const { container, step, records } = aWorld();
    await step();
    container.stop(1000);
    await new Promise((resolve) => setImmediate(resolve));
    await step();
    expect(container.isGone()).toBe(true);
    expect(container.view().state).toMatchObject({ kind: "terminated", termination: { exitCode: 143 } });
    expect(records.length).toBe(1);
  });

  it("continues a run that a predecessor started, and counts its end", async () => {
    const first = aWorld();
    await first.step();
    const record = first.records[0];
    const run = first.container.run();
    if (record === undefined) throw new Error("not started");
    const second = aWorld({ found: { record, run, exitCode: 255 } });
    expect(second.container.view()).toMatchObject({ state: { kind: "running" }, restartCount: 0 });
    const third = aWorld({ found: { record, run: undefined, exitCode: 9 } });
    await third.step();
    expect(third.container.view()).toMatchObject({ state: { kind: "running" }, restartCount: 1, last: { exitCode: 9 } });
  });

  it("is never ready when its pod asks for that", async () => {
    const { container, step } = aWorld({ neverReady: true });
    await step();
    expect(container.view()).toMatchObject({ state: { kind: "running" }, isReady: false });
  });
});
