import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import { millis } from "../domain/clock.ts";
import type { Signals } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import { aDecision, aFleet, anInstance, aPool } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const OBSERVATIONS = 30;

describe("argosy calibrate", () => {
  let served: Served;
  const signal = AbortSignal.timeout(60_000);
  beforeAll(async () => {
    served = await serveApi((store) => idleDeps(store));
    await served.store.fleet.applyFleet(aFleet({ pools: [aPool("standard")] }), "ada", signal);
    for (const name of ["standard-1", "standard-2"]) {
      const instance = anInstance({ id: name as InstanceId, name, class: "eu/shared/public" });
      await served.store.fleet.insertInstance(instance, aDecision({ subject: instance.id }), signal);
    }
    await observe("standard-1", (index) => ({ applications: 100 + 10 * index, utilisation: 0.02 + (100 + 10 * index) / 1_000 }));
    await observe("standard-2", () => ({ applications: 5, utilisation: 0.01 }));
  });
  afterAll(() => served.close());

  const observe = async (name: string, of: (index: number) => Signals): Promise<void> => {
    const begun = Date.now() - OBSERVATIONS * 15_000;
    for (let index = 0; index < OBSERVATIONS; index += 1) {
      const at = millis(begun + index * 15_000);
      const base = { component: undefined, text: "well", evidence: [], baseline: undefined, state: "healthy", cause: "none" } as const;
      const verdict = { instanceId: name as InstanceId, at, since: at, ...base };
      await served.store.health.record([{ sample: { at, signals: of(index) }, verdict, keepSince: millis(0) }], signal);
    }
  };
  const run = (...args: readonly string[]) =>
    runCommand(["calibrate", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") });
  const declared = async () => (await served.store.fleet.readFleet(signal))?.spec.pools[0]?.capacity;

  it("says what an instance was seen to bear, by what evidence, and changes nothing", async () => {
    const before = await declared();
    const { code, out } = await run("standard-1");
    expect(code).toBe(0);
    expect(out).toMatch(/^samples of standard-1 from \S+ to \S+, the last with 390 applications$/m);
    expect(out).toContain(
      "workers: 30 samples with 100 to 390 applications, 41 % at most; 2 % and 10 % for each hundred applications (explains 100 % of what varied); 680 until 70 %",
    );
    expect(out).toMatch(/^ {2}applications: 680 instead of \d+$/m);
    expect(out).toContain("--apply declares it for pool standard");
    expect(JSON.parse((await run("standard-1", "-o", "json")).out)).toMatchObject({
      binding: "workers",
      applied: false,
      doubts: [],
      readings: [{ bears: 680 }],
    });
    expect(await declared()).toEqual(before);
  });

  it("declares it for the pool when asked to, and says what to write into fleet.yaml", async () => {
    expect((await run("standard-1", "--apply")).out).toContain("pool standard is declared so; now write this capacity into fleet.yaml");
    expect(await declared()).toMatchObject({ applications: 680_000 });
  });

  it("declares nothing that is doubted, and nothing of an instance that is not there", async () => {
    const before = await declared();
    expect((await run("standard-2")).out).toContain("doubt: workers were seen at 1 % at most, of 70 %: load it to 23 % at least");
    expect(await run("standard-2", "--apply")).toMatchObject({
      code: 1,
      err: expect.stringContaining("what standard-2 bears is doubted: workers were seen"),
    });
    expect(await run("nobody")).toMatchObject({ code: 1, err: expect.stringContaining("there is no instance nobody") });
    expect(await declared()).toEqual(before);
  });
});
