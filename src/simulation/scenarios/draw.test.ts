import { expect, it } from "vitest";
import { drawScenario } from "./draw.ts";
import { loadScenario } from "./load.ts";
import { scenarioSchema } from "./schema.ts";

const MOST = loadScenario("anything");
const SEEDS = Array.from({ length: 300 }, (_, index) => index);

it("draws something else for each seed, the same for the same seed, and only what a scenario may have", () => {
  const drawn = SEEDS.map((seed) => drawScenario(MOST, seed));
  expect(new Set(drawn.map((each) => JSON.stringify(each))).size).toBe(SEEDS.length);
  expect(drawScenario(MOST, 17)).toEqual(drawn[17]);
  for (const each of drawn) expect(scenarioSchema.parse(each)).toEqual({ ...each });
});

it("never takes more of anything than the scenario has, sometimes all of it, and often none", () => {
  const drawn = SEEDS.map((seed) => drawScenario(MOST, seed));
  const [instances, far] = [drawn.map((each) => each.instances), drawn.map((each) => each.far)];
  expect([Math.min(...instances), Math.max(...instances)]).toEqual([2, MOST.instances]);
  expect([Math.min(...far), Math.max(...far)]).toEqual([0, MOST.far]);
  for (const kind of ["edit", "push", "recreate"] as const) {
    const counts = drawn.map(({ users }) => users[kind]);
    expect([Math.min(...counts), Math.max(...counts)]).toEqual([0, MOST.users[kind]]);
  }
  const kinds = drawn.map(({ troubles }) => troubles.length);
  expect(Math.min(...kinds)).toBeLessThan(4);
  expect(Math.max(...kinds)).toBeGreaterThan(8);
  for (const { far: count, moves, troubles } of drawn.filter((each) => each.far === 0))
    expect([count, moves?.failOver, troubles.some(({ kind }) => kind === "cut-off" || kind === "lose-target")]).toEqual([0, 0, false]);
});
