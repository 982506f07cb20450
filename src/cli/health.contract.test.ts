import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HealthReportView } from "../api/routes/health.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import { millis } from "../domain/clock.ts";
import type { HealthCause, HealthSample, InstanceVerdict, VerdictState } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import { systemClock } from "../runtime/clock.ts";
import { createWorld } from "../store/testing/world.ts";
import { sparkline } from "./health.ts";
import { runCommand } from "./testing/run-command.ts";

const signal = () => AbortSignal.timeout(10_000);

describe("argosy health", () => {
  let served: Served;
  const now = systemClock.now();
  const judged = async (instanceId: InstanceId, verdict: readonly [VerdictState, HealthCause], over: Partial<InstanceVerdict> = {}) => {
    const [state, cause] = verdict;
    const base: InstanceVerdict = {
      ...{ instanceId, state, cause, at: now, since: millis(Date.UTC(2026, 0, 1)), text: "because", evidence: [] },
      ...{ component: undefined, baseline: undefined },
    };
    const samples: readonly HealthSample["signals"][] = [{ gitS: 0.01 }, {}, { gitS: Number.NaN }, { gitS: 5.01, gitSlowShare: 1 }];
    for (const [index, signals] of samples.entries()) {
      const at = millis(now - 45_000 + index * 15_000);
      await served.store.health.record([{ sample: { at, signals }, verdict: { ...base, ...over, at }, keepSince: millis(0) }], signal());
    }
  };
  beforeAll(async () => {
    served = await serveApi();
    const { addInstance } = createWorld(served.store);
    const [git, broken, stuck] = [
      await addInstance({ name: "git" }),
      await addInstance({ name: "broken" }),
      await addInstance({ name: "stuck" }),
    ];
    await addInstance({ name: "unseen" });
    await addInstance({ name: "gone", state: "RETIRED" });
    // What could not be measured is not always left out: it may be no number at all.
    const evidence: InstanceVerdict["evidence"] = [
      { signal: "gitS", value: 5.01234 },
      { signal: "gitSlowShare", value: Number.NaN },
      { signal: "canaryS", value: undefined },
      { signal: "no such signal" as "canaryS", value: Number.POSITIVE_INFINITY },
    ];
    await judged(git.id, ["degraded", "git"], { evidence });
    await judged(broken.id, ["healthy", "workspace"], { evidence: [{ signal: "troubledUnits", value: undefined }] });
    await judged(stuck.id, ["stalled", "redis"], { component: "redis" });
    const details = { text: "restart its redis" };
    await served.store.decisions.append(
      [{ at: now, subject: stuck.id, kind: "health", verdict: "RESTART", rule: "REDIS", details }],
      signal(),
    );
  });
  afterAll(() => served.close());
  const run = (...args: readonly string[]) =>
    runCommand(["health", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });

  it("lists instances, the worst first, and says by its exit code that one needs somebody", async () => {
    const { out, code } = await run();
    expect(out.split("\n").map((line) => line.split(/\s{2,}/).slice(0, 4))).toEqual([
      ["INSTANCE", "STATE", "CAUSE", "FOR"],
      ["stuck", "stalled", "redis", expect.stringMatching(/^\d+d$/)],
      ["unseen", "unknown", "no-samples", "-"],
      ["git", "degraded", "git", expect.stringMatching(/^\d+d$/)],
      ["broken", "healthy", "workspace", expect.stringMatching(/^\d+d$/)],
    ]);
    expect(code).toBe(1);
  });

  it("shows what a verdict rests on, whatever of that could not be measured", async () => {
    const { out, code } = await run("git");
    expect(code).toBe(0);
    expect(out.split("\n")[0]).toBe("git is degraded (git) since 2026-01-01T00:00:00Z: because");
    expect(out).toMatch(/gitS +5\.01 +▁··█ +s a request to Git took, mean/);
    expect(out).toMatch(/canaryS +- +···· /);
    const report = JSON.parse((await run("git", "-o", "json")).out) as HealthReportView;
    expect(report.evidence.map(({ value, series }) => [value, series])).toEqual([
      [5.01234, [0.01, null, null, 5.01]],
      [null, [null, null, null, 1]],
      [null, [null, null, null, null]],
      [null, [null, null, null, null]],
    ]);
  });

  it.each([
    ["broken", 0, "broken is healthy (workspace) since"],
    ["stuck", 1, "stuck is stalled (redis, redis) since"],
    ["unseen", 1, "unseen is unknown (no-samples): nobody has observed it yet"],
  ])("tells how %s is with exit code %i", async (name, code, text) =>
    expect(await run(name)).toMatchObject({ code, out: expect.stringContaining(text) }),
  );

  it("tells what was done about it", async () =>
    expect((await run("stuck")).out).toMatch(/lately:\n {2}\S+ {1,2}RESTART: restart its redis/));

  it("takes no verdict of long ago for what is so now", async () => {
    const { id } = await createWorld(served.store).addInstance({ name: "left" });
    const at = millis(now - 301_000);
    const well = { state: "healthy", cause: "none", component: undefined, baseline: undefined, text: "", evidence: [] } as const;
    const record = { sample: { at, signals: {} }, verdict: { ...well, instanceId: id, at, since: at }, keepSince: millis(0) };
    await served.store.health.record([record], signal());
    expect(await run("left")).toMatchObject({ code: 1, out: expect.stringContaining("left is unknown (no-samples) since") });
  });

  it("knows no other instance", async () =>
    expect(await run("nowhere")).toMatchObject({ out: "", err: expect.stringContaining("there is no instance nowhere") }));
});

it.each([
  [[], ""],
  [[null], "·"],
  [[3, 3], "▁▁"],
  [[0, 7, null, 3.5], "▁█·▅"],
])("draws %j as %s", (series, line) => expect(sparkline(series)).toBe(line));
