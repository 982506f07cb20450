import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, serveApi } from "../api/testing/served.ts";
import { loadVector } from "../domain/load.ts";
import { AT } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { runCommand } from "./testing/run-command.ts";

describe("argosy top", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveApi();
    const { addInstance, record, unit, place } = createWorld(served.store);
    const capacity = { ...loadVector(() => 1000), applications: 10_000, gitPerMinute: 10_000 };
    const instance = await addInstance({ name: "standard-1", capacity });
    await addInstance({ name: "standard-2", capacity });
    for (const namespace of ["shop", "blog"]) await place((await unit((await record({ namespace })).applicationId)).id, instance.id);
    const [first] = await served.store.loads.countUnits(instance.id, AbortSignal.timeout(10_000));
    const load = { planning: loadVector(() => 1), recent: { ...loadVector(() => 1), milliCpu: 300.4 }, at: AT };
    const whole = { ...loadVector(() => 1), milliCpu: 250 };
    await served.store.loads.recordSample(
      {
        ...{ instanceId: instance.id, at: AT, total: loadVector(() => 2000), cachedObjects: 700 },
        observation: { milliCpu: 320, requests: 1, resources: 1, applications: 2 },
        units: [{ unitId: first?.unitId ?? ("" as never), epoch: first?.epoch ?? 0, load, whole }],
      },
      AbortSignal.timeout(10_000),
    );
  });
  afterAll(() => served.close());
  const run = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });

  it("shows instances, the fullest first, and what was measured", async () => {
    const { out } = await run("top", "instances");
    expect(out.split("\n").map((line) => line.split(/\s{2,}/))).toEqual([
      ["NAME", "USED", "UNITS", "APPS", "MILLICPU", "CACHED", "MEASURED"],
      ["standard-1", "25 %", "2", "2/10", "320", "700", expect.stringMatching(/^\d+d$/)],
      ["standard-2", "0 %", "0", "0/10", "-", "-", "-"],
    ]);
  });

  it("shows workspaces by their share, and what they take now", async () => {
    const { out } = await run("top", "workspaces");
    expect(out.split("\n").map((line) => line.split(/\s{2,}/))).toEqual([
      ["WORKSPACE", "INSTANCE", "SHARE", "APPS", "MILLICPU", "NOW", "RESOURCES"],
      ["shop", "standard-1", "25 %", "1", "250", "300", "1"],
      ["blog", "standard-1", "10 %", "1", "0", "-", "0"],
    ]);
    expect(JSON.parse((await run("top", "workspaces", "--limit", "1", "-o", "json")).out)).toMatchObject([
      { workspace: "shop", part: 0, share: 0.25, measuredAt: "2026-01-01T00:00:00Z" },
    ]);
  });

  it.each([
    [["top", "ships"], 2, "resource: there is no list of ships by load. Use instances or workspaces."],
    [["top", "instances", "--limit", "1"], 2, "--limit: says nothing about instances. Leave it out."],
  ])("answers %j with exit code %i", async (args, code, err) => expect(await run(...args)).toEqual({ out: "", err, code }));
});
