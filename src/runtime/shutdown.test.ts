import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { installShutdown, type ProcessEvents, type Shutdown } from "./shutdown.ts";
import { createVirtualClock, settle, type VirtualClock } from "./testing/virtual-clock.ts";

function aProcess(): {
  readonly emitter: EventEmitter;
  readonly exits: number[];
  readonly clock: VirtualClock;
  readonly shutdown: Shutdown;
  readonly logged: unknown[];
} {
  const emitter = new EventEmitter();
  const exits: number[] = [];
  const logged: unknown[] = [];
  const clock = createVirtualClock();
  const events = Object.assign(emitter, { exit: (code: number) => void exits.push(code) }) satisfies ProcessEvents;
  const shutdown = installShutdown({
    events,
    clock,
    log: { ...silentLog, error: (fields) => void logged.push(fields) },
    metrics: noMetrics,
    deadlineMs: 1000,
  });
  return { emitter, exits, clock, shutdown, logged };
}

describe("shutdown", () => {
  it.each(["SIGTERM", "SIGINT"])("stops the last added first, one after the other, on %s", async (name) => {
    const { emitter, exits, shutdown } = aProcess();
    const order: string[] = [];
    for (const part of ["database", "queue", "server"]) {
      shutdown.add(part, async () => {
        order.push(`${part} begins`);
        await settle();
        order.push(`${part} ends`);
      });
    }
    expect(shutdown.signal.aborted).toBe(false);
    emitter.emit(name, name);
    expect(shutdown.signal.aborted).toBe(true);
    await shutdown.stop("again");
    expect(order).toEqual(["server begins", "server ends", "queue begins", "queue ends", "database begins", "database ends"]);
    expect(exits).toEqual([0]);
  });

  it("goes on after a part that fails to stop, and says so with its exit code", async () => {
    const { exits, shutdown, logged } = aProcess();
    const stopped: string[] = [];
    shutdown.add("database", async () => void stopped.push("database"));
    shutdown.add("queue", () => Promise.reject(new Error("no")));
    await shutdown.stop("test");
    expect(stopped).toEqual(["database"]);
    expect(exits).toEqual([1]);
    expect(logged).toMatchObject([{ step: "queue" }]);
  });

  it("leaves when the time is up and names what has not stopped", async () => {
    const { exits, shutdown, clock, logged } = aProcess();
    let seen: AbortSignal | undefined;
    shutdown.add("database", () => Promise.resolve());
    shutdown.add("queue", (signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    const ended = shutdown.stop("test");
    await clock.advance(999);
    expect(exits).toEqual([]);
    expect(seen?.aborted).toBe(false);
    await clock.advance(1);
    await ended;
    expect(seen?.aborted).toBe(true);
    expect(exits).toEqual([1]);
    expect(logged).toMatchObject([{ step: "queue", notStopped: ["database"] }]);
  });

  it("lets others prepare to take over before anything stops", async () => {
    const { emitter, exits, shutdown } = aProcess();
    const order: string[] = [];
    const prepared = Promise.withResolvers<void>();
    shutdown.handOver(async () => {
      order.push("others prepare");
      await prepared.promise;
    });
    shutdown.add("queue", async () => void order.push("queue stops"));
    emitter.emit("SIGTERM", "SIGTERM");
    await settle();
    expect([shutdown.asked.aborted, shutdown.signal.aborted]).toEqual([true, false]);
    expect(order).toEqual(["others prepare"]);
    prepared.resolve();
    await shutdown.stop("again");
    expect(order).toEqual(["others prepare", "queue stops"]);
    expect(exits).toEqual([0]);
  });

  it("waits for others during a fifth of its time at most, and stops in the rest of it", async () => {
    const { exits, shutdown, clock } = aProcess();
    let seen: AbortSignal | undefined;
    shutdown.handOver((signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    shutdown.add("queue", () => new Promise(() => {}));
    const ended = shutdown.stop("test");
    await clock.advance(199);
    expect([seen?.aborted, shutdown.signal.aborted]).toEqual([false, false]);
    await clock.advance(1);
    expect([seen?.aborted, shutdown.signal.aborted]).toEqual([true, true]);
    await clock.advance(799);
    expect(exits).toEqual([]);
    await clock.advance(1);
    await ended;
    expect(exits).toEqual([1]);
  });

  it("stops as always where others cannot be asked to prepare", async () => {
    const { exits, shutdown } = aProcess();
    shutdown.handOver(() => Promise.reject(new Error("the database is away")));
    await shutdown.stop("test");
    expect(exits).toEqual([0]);
  });

  it("leaves at once on the second signal", async () => {
    const { emitter, exits, shutdown } = aProcess();
    shutdown.add("queue", () => new Promise(() => {}));
    emitter.emit("SIGINT", "SIGINT");
    await settle();
    expect(exits).toEqual([]);
    emitter.emit("SIGINT", "SIGINT");
    expect(exits).toEqual([1]);
  });

  it.each(["unhandledRejection", "uncaughtException"])("logs an %s and leaves with 1", (event) => {
    const { emitter, exits, logged } = aProcess();
    const err = new Error("oops");
    emitter.emit(event, err);
    expect(exits).toEqual([1]);
    expect(logged).toMatchObject([{ err }]);
  });

  it("stops once, with the code of the first call", async () => {
    const { exits, shutdown } = aProcess();
    await Promise.all([shutdown.stop("first", 3), shutdown.stop("second", 4)]);
    expect(exits).toEqual([3]);
  });
});
