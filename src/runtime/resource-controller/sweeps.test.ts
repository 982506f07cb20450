import { describe, expect, it } from "vitest";
import { UnavailableError } from "../../domain/errors.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createSeededRng } from "../rng.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createSweeps, type SweepsOptions } from "./sweeps.ts";

type Name = "policy" | "rows" | "leftovers" | "reports";

/** Sweeps that write down what happens; `failing` ones fail. */
function someSweeps(order: Partial<Pick<SweepsOptions<Name>, "first" | "next">> = {}) {
  const clock = createVirtualClock();
  const abort = new AbortController();
  const happened: string[] = [];
  const failing = new Set<Name>();
  const run = (name: Name) => async (): Promise<void> => {
    happened.push(name);
    if (failing.has(name)) throw new UnavailableError("reading", { code: "test.away" });
  };
  const sweeps = createSweeps<Name>({
    ...{ name: "test", clock, rng: createSeededRng(1), log: silentLog, metrics: noMetrics },
    sweeps: {
      policy: { everyMs: 60_000, run: run("policy") },
      rows: { everyMs: 60_000, run: run("rows") },
      leftovers: { everyMs: 600_000, run: run("leftovers") },
      reports: { everyMs: 15_000, run: run("reports") },
    },
    ...{ first: [], next: [], ...order },
  });
  const start = async (): Promise<void> => {
    sweeps.start(abort.signal, () => void happened.push("ready"));
    await clock.advance(0);
  };
  return { ...sweeps, start, clock, abort, happened, failing };
}

describe("sweeps", () => {
  it("run the first ones one after the other, say that they have ended, and go on with the next ones", async () => {
    const { start, happened } = someSweeps({ first: ["policy", "rows"], next: ["reports"] });
    await start();
    expect(happened).toEqual(["policy", "rows", "ready", "reports"]);
  });

  it("are ready at once where nothing has to come first", async () => {
    const { start, happened } = someSweeps({ next: ["rows", "policy"] });
    await start();
    expect(happened).toEqual(["ready", "rows", "policy"]);
  });

  it("hold everything back until a first one that failed has ended well", async () => {
    const { start, happened, failing, clock } = someSweeps({ first: ["policy", "rows"] });
    failing.add("policy");
    await start();
    await clock.advance(200);
    expect(happened).toEqual(["policy"]);
    failing.clear();
    await clock.advance(2_000);
    expect(happened).toEqual(["policy", "policy", "rows", "ready"]);
  });

  it("run what was asked for too early after the first ones, once", async () => {
    const { start, add, happened } = someSweeps({ first: ["policy"], next: ["rows"] });
    for (const name of ["leftovers", "rows", "leftovers"] as const) add(name);
    await start();
    expect(happened.slice(0, 2)).toEqual(["policy", "ready"]);
    expect(happened.slice(2).sort()).toEqual(["leftovers", "rows"]);
  });

  it("repeat a first one that has ended while another still fails", async () => {
    const { start, add, happened, failing, clock } = someSweeps({ first: ["policy", "rows"] });
    failing.add("rows");
    await start();
    add("policy");
    await clock.advance(0);
    expect(happened).toEqual(["policy", "rows", "policy"]);
  });

  it("say that the first ones have ended only once", async () => {
    const { start, add, happened, clock } = someSweeps({ first: ["policy"] });
    await start();
    add("policy");
    await clock.advance(0);
    expect(happened).toEqual(["policy", "ready", "policy"]);
  });

  it("run again and again until the signal aborts", async () => {
    const { start, happened, clock, abort } = someSweeps();
    await start();
    await clock.advance(60_000);
    expect(happened.filter((name) => name === "reports").length).toBeGreaterThanOrEqual(4);
    expect(happened).toContain("policy");
    expect(happened).not.toContain("leftovers");
    abort.abort();
    expect(clock.nextAt()).toBeUndefined();
  });

  it("run nothing after they were stopped", async () => {
    const { start, stop, add, happened, clock } = someSweeps({ first: ["policy"] });
    await start();
    await stop();
    happened.length = 0;
    add("rows");
    await clock.advance(600_000);
    expect(happened).toEqual([]);
  });
});
