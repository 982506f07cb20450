import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CostReportView } from "../api/routes/cost.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import { millis } from "../domain/clock.ts";
import type { InstanceId, WorkspaceId } from "../domain/ids.ts";
import { loadVector } from "../domain/load.ts";
import type { Usage } from "../domain/usage.ts";
import { aDecision, aFleet, anInstance, CLASS } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

const HOUR = 3_600_000;
const signal = AbortSignal.timeout(60_000);
/** Whole hours, so that sums can be read. */
const usage = (cores: number, gib = 0): Usage => ({ controllerCpuMs: cores * HOUR, repoServerCpuMs: 0, memoryKibS: gib * 2 ** 20 * 3_600 });

describe("argosy cost", () => {
  let served: Served;
  const now = Date.now();
  beforeAll(async () => {
    served = await serveApi();
    const { store } = served;
    const share = (name: string, taken: Usage) => ({ workspaceId: `w-${name}` as WorkspaceId, namespace: name, usage: taken });
    for (const [index, name] of ["standard-1", "standard-2"].entries()) {
      const instanceId = name as InstanceId;
      const capacity = loadVector(() => 1_000);
      const instance = anInstance({ id: instanceId, name, class: index === 0 ? CLASS : "us/shared/public", capacity });
      await store.fleet.insertInstance(instance, aDecision({ subject: name }), signal);
      const mark = (hoursAgo: number) => ({ until: millis(now - hoursAgo * HOUR), processes: {} });
      const workspaces = [share("team-a", usage(2, 1)), ...(index === 0 ? [share("team-b", usage(4, 2))] : [])];
      const nobody = { base: usage(1, 8), unattributed: usage(index === 0 ? 1 : 0) };
      await store.usages.record({ instanceId, after: undefined, mark: mark(50), workspaces: [], ...nobody }, signal);
      await store.usages.record({ instanceId, after: mark(50).until, mark: mark(3), workspaces, ...nobody }, signal);
    }
    await store.intents.recordLabels([{ workspaceId: "w-team-a" as WorkspaceId, labels: { team: "red" } }], signal);
  });
  afterAll(() => served.close());
  const run = (...args: readonly string[]) =>
    runCommand(["cost", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("viewer") });
  const declare = (cost: ReturnType<typeof aFleet>["cost"]) =>
    served.store.fleet.applyFleet(aFleet(cost === undefined ? {} : { cost }), "ada", signal);
  const table = async (...args: readonly string[]) =>
    (await run(...args)).out
      .split("\n")
      .slice(1)
      .map((line) => line.split(/\s{2,}/));

  it("says who took what within a day, who took most first, with what is nobody's", async () => {
    expect(await table()).toEqual([
      ["WORKSPACE", "OF", "CORE H", "CPU", "GIB H", "COST"],
      ["team-a", "workspace", "4", "36 %", "2", "-"],
      ["team-b", "workspace", "4", "36 %", "2", "-"],
      ["-", "base", "2", "18 %", "16", "-"],
      ["-", "unattributed", "1", "9 %", "0", "-"],
    ]);
    expect((await run()).out.split("\n")[0]).toMatch(/^from .* to .*$/);
    expect((await table("--since", "7d", "--by", "instance")).slice(1)).toEqual([
      ["standard-1", "workspace", "6", "43 %", "3", "-"],
      ["standard-1", "base", "2", "14 %", "16", "-"],
      ["standard-1", "unattributed", "2", "14 %", "0", "-"],
      ["standard-2", "base", "2", "14 %", "16", "-"],
      ["standard-2", "workspace", "2", "14 %", "1", "-"],
    ]);
    expect(await table("--by", "class", "--limit", "1")).toEqual([
      ["CLASS", "OF", "CORE H", "CPU", "GIB H", "COST"],
      [CLASS, "workspace", "6", "55 %", "3", "-"],
    ]);
    expect((await run("--since", "1m")).out).toContain("nothing was measured in that time");
  });

  it("multiplies with the prices of the fleet, and sums up by the labels that it names", async () => {
    const refused = await run("--by", "label=team");
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining("label: team is not recorded. Name one that cost.labels of fleet.yaml declares"),
    });
    await declare({ prices: { cpuCoreHour: 10, memoryGibHour: 1 }, labels: ["team", "other"] });
    expect(await table("--by", "label=team")).toEqual([
      ["TEAM", "OF", "CORE H", "CPU", "GIB H", "COST"],
      ["-", "workspace", "4", "36 %", "2", "42"],
      ["red", "workspace", "4", "36 %", "2", "42"],
      ["-", "base", "2", "18 %", "16", "36"],
      ["-", "unattributed", "1", "9 %", "0", "10"],
    ]);
    const report = JSON.parse((await run("-o", "json")).out) as CostReportView;
    expect(report).toMatchObject({ prices: { cpuCoreHour: 10, memoryGibHour: 1 }, labels: ["team", "other"] });
    expect(report.items[0]).toEqual({
      ...{ name: "team-a", of: "workspace", ...usage(4, 2), cpuCoreHours: 4, memoryGibHours: 2, cpuShare: 4 / 11, cost: 42 },
    });
    await declare({ labels: ["other"] });
    expect((await run("--by", "label=team")).err).toContain("those are other");
    await declare(undefined);
  });

  it("names who takes more of an instance than the class allows, with the instance", async () => {
    const taken = async () => (await run("--limit", "1")).out.split("\n").slice(3);
    expect(await taken()).toEqual([]);
    const { workspaces } = aFleet();
    const allow = (share: number) =>
      served.store.fleet.applyFleet(aFleet({ workspaces: { ...workspaces, cpuShares: [{ class: CLASS, share }] } }), "ada", signal);
    await allow(1);
    expect(await taken()).toEqual([]);
    await allow(0.01);
    const [first, second] = (JSON.parse((await run("-o", "json")).out) as CostReportView).exceeded;
    expect([first, second]).toMatchObject([
      { workspace: "team-b", instance: "standard-1", class: CLASS, limit: 0.01 },
      { workspace: "team-a", instance: "standard-1" },
    ]);
    expect((await taken())[0]).toMatch(/^team-b takes \d+ % of the CPU that standard-1 bears, where its class allows 1 %/);
    await declare(undefined);
  });

  it("writes a file for spreadsheets", async () => {
    expect((await run("--by", "class", "-o", "csv")).out.split("\r\n")).toEqual([
      "name,of,cpuCoreHours,memoryGibHours,cpuShare,cost,controllerCpuMs,repoServerCpuMs,memoryKibS",
      `${CLASS},workspace,6,3,${6 / 11},,21600000,0,11324620800`,
      `us/shared/public,workspace,2,1,${2 / 11},,7200000,0,3774873600`,
      ...[`${CLASS},base,1,8,${1 / 11},,3600000,0,30198988800`, `${CLASS},unattributed,1,0,${1 / 11},,3600000,0,0`],
      `us/shared/public,base,1,8,${1 / 11},,3600000,0,30198988800`,
    ]);
  });

  it("comes in pages that together are the whole", async () => {
    const page = async (after: string) =>
      (await served.call("GET", `/v1/cost?limit=1&after=${encodeURIComponent(after)}`)).body as unknown as CostReportView;
    const names: (readonly [string | null, string])[] = [];
    for (let next = "", pages = 0; pages < 10; pages += 1) {
      const found = await page(next);
      names.push(...found.items.map(({ name, of }) => [name, of] as const));
      next = found.next;
      if (next === "") break;
    }
    expect(names).toEqual([
      [null, "base"],
      [null, "unattributed"],
      ["team-a", "workspace"],
      ["team-b", "workspace"],
    ]);
    for (const odd of ["x", "[]", "null", '["nobody"]', "{}"]) expect((await page(odd)).items).toHaveLength(1);
  });

  it("leaves out what a caller asks to leave out, hour by hour", async () => {
    const at = (hoursAgo: number) => new Date(now - hoursAgo * HOUR).toISOString();
    const sums = async (query: string) => {
      const { items } = (await served.call("GET", `/v1/cost?by=class&${query}`)).body as unknown as CostReportView;
      return items.reduce((sum, { cpuCoreHours }) => sum + cpuCoreHours, 0);
    };
    expect(await sums(`since=${at(60)}`)).toBe(14);
    expect(await sums(`since=${at(60)}&until=${at(4)}`)).toBe(3);
    expect(await sums(`since=${at(3)}`)).toBe(11);
    expect(await sums(`since=${at(2)}`)).toBe(0);
  });

  it.each([
    [["--by", "ship"], "--by: ship is nothing to sum up by. Use workspace, class, instance or label=KEY."],
    [["--since", "yesterday"], "--since: yesterday is no length of time. Give one like 90m, 4h or 7d."],
    [["--limit", "0"], "--limit: 0 is no number of lines. Give one like 20."],
  ])("answers %j with what to do", async (args, err) => expect(await run(...args)).toEqual({ out: "", err, code: 2 }));
});
