import process from "node:process";
import { describe, expect, it } from "vitest";
import { createSeededRng } from "../../runtime/rng.ts";
import { createDemandModel } from "./demand-model.ts";
import { type DayFigures, type GrowingFigures, INSTANCE_CPU, runGrowing } from "./growing-fleet.ts";
import { fewestFor, oracleHours, peakInstances } from "./oracle.ts";

const IS_LONG = process.env["ARGOSY_LONG"] === "1";
const DEADLINE_MS = 120 * 60_000;
/** The short form has one week, as long as a forecast needs, with one launch and one dead instance after it. */
const { workspaces, days, launchDay } = IS_LONG
  ? { workspaces: 2_000, days: 90, launchDay: 60 }
  : { workspaces: 200, days: 10, launchDay: 8 };
const SEED = "growing";
/** On the mean of the first day: about half of what six instances bear, or three. */
const MILLI_CPU = IS_LONG ? 6 * INSTANCE_CPU * 0.55 : 3 * INSTANCE_CPU * 0.5;

const demand = createDemandModel({ workspaces, days, milliCpu: MILLI_CPU, growth: IS_LONG ? 3 : 1.3, launchDay }, createSeededRng(SEED));
const first = fewestFor(demand.total(12 * 3_600_000));
const run = (name: string, scales: boolean, rebalances: boolean, instances = first) =>
  runGrowing({
    ...{ demand, workspaces, days, seed: SEED, instances, scales, rebalances },
    ...(IS_LONG ? { onDay: (day: DayFigures) => progress(name, day) } : {}),
  });
/** The long form takes minutes for each of its fleets. */
const progress = (name: string, { day, serving, instanceHours, p99S, worstS }: DayFigures): void => {
  const hours = `${serving} instances, ${Math.round(instanceHours)} instance-hours so far`;
  process.stdout.write(`growing: ${name}: day ${day}: ${hours}; waits ${p99S.toFixed(2)} s at p99, ${worstS.toFixed(1)} s at worst\n`);
};
const report = (name: string, figures: GrowingFigures, more = ""): void => {
  const { instanceHours, most, p99S, worstS, moves, perWorkspaceYear, again, kept, broken, grown, shrunk, died } = figures;
  process.stdout.write(
    `growing: ${name}: ${instanceHours} instance-hours (at most ${most} at once)${more}; waits ${p99S.toFixed(2)} s at p99, ${worstS.toFixed(1)} s at worst; ` +
      `${moves} moves, ${perWorkspaceYear.toFixed(2)} per workspace and year, ${again} within a day of another; promises ${kept} kept, ${broken} broken; ` +
      `grown ${grown}, shrunk ${shrunk}; ${died} died\n`,
  );
};

describe(`${days} days of ${workspaces} workspaces that grow`, () => {
  it("take about as many instance-hours as by somebody who knows the load, and nobody waits for long", {
    timeout: DEADLINE_MS,
  }, async () => {
    const oracle = oracleHours(demand, days);
    const auto = await run("auto", true, true);
    report("auto", auto, `, ${((100 * auto.instanceHours) / oracle - 100).toFixed(1)} % more than the ${oracle} of an oracle`);
    expect(auto.instanceHours).toBeLessThanOrEqual(oracle * 1.15);
    expect(auto.worstS).toBeLessThanOrEqual(10);
    expect(auto.p99S).toBeLessThanOrEqual(1);
    // Only what leaves an overloaded instance may move twice a day.
    expect(auto.again).toBeLessThanOrEqual(auto.moves / 20);
    const peak = await run("sized for the peak", false, true, peakInstances(demand, days));
    report("sized for the peak", peak);
    expect(auto.instanceHours).toBeLessThan(peak.instanceHours);
    const without = await run("without either", false, false);
    report("without either", without);
    expect(without.worstS).toBeGreaterThan(auto.worstS);
  });
});
