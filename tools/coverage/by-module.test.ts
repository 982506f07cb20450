import { expect, it } from "vitest";
import { coverageByModule, gaps, modulesBelow, percent, sum } from "./by-module.ts";

const FILES = {
  "src/scheduler/score.ts": { total: 10, covered: 9 },
  "src/scheduler/ring/points.ts": { total: 10, covered: 5 },
  "src/scheduler/controller.ts": { total: 10, covered: 0 },
  "src/scheduler/port.ts": { total: 10, covered: 0 },
  "src/scheduler/adapters/memory/ring.ts": { total: 10, covered: 0 },
  "src/scheduler/testing/rows.ts": { total: 10, covered: 0 },
  "src/runtime/heap.ts": { total: 10, covered: 0 },
  "src/config.ts": { total: 10, covered: 0 },
  "src/domain/ids.ts": { total: 0, covered: 0 },
};

it("counts the core files of each room and nothing else", () => {
  expect(coverageByModule(FILES)).toEqual([
    { module: "domain", files: 1, total: 0, covered: 0 },
    { module: "scheduler", files: 2, total: 20, covered: 14 },
  ]);
});

it("names each room with too little, however much the others have", () => {
  const modules = coverageByModule({ ...FILES, "src/shard/large.ts": { total: 10_000, covered: 10_000 } });
  expect(percent(sum(modules))).toBeGreaterThan(99);
  expect(modulesBelow(modules, 95)).toEqual(["scheduler"]);
  expect(modulesBelow(modules, 70)).toEqual([]);
});

it("lists what is left out, the worst first", () => {
  expect(gaps(FILES)).toEqual(["src/scheduler/ring/points.ts: 5 of 10 lines", "src/scheduler/score.ts: 1 of 10 lines"]);
});

it("takes a file of types for covered", () => {
  expect([percent({ total: 0, covered: 0 }), percent(sum(coverageByModule(FILES)))]).toEqual([100, 70]);
});
