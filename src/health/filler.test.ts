import { describe, expect, it } from "vitest";
import type { UnitId } from "../domain/ids.ts";
import { fillerOf, type ReadingUnit } from "./filler.ts";
import type { Filled } from "./quarantine/schema.ts";

const unit = (unitId: string, repositories: ReadingUnit["repositories"]): ReadingUnit => ({ unitId: unitId as UnitId, repositories });
const MANY = unit("many", { "https://g/big-1": 1, "https://g/big-2": 1 });
const SMALL = unit("small", { "https://g/small": 3 });
const OTHER = unit("other", { "https://g/other": 1 });
type Amounts = Readonly<Record<string, number>>;
const of = (units: readonly ReadingUnit[], amounts: Amounts, filled: Filled = "disk") =>
  fillerOf(units, { disk: new Map(), memory: new Map(), [filled]: new Map(Object.entries(amounts)) }, filled);
const found = (...about: Parameters<typeof of>) => of(...about)?.unitId;

describe("the unit that fills a repo-server", () => {
  it.each<readonly [string, readonly ReadingUnit[], Readonly<Record<string, number>>, string | undefined]>([
    ["has most of all fetches", [SMALL, MANY], { "https://g/big-1": 20, "https://g/big-2": 20, "https://g/small": 1 }, "many"],
    ["is nobody without two units", [MANY], { "https://g/big-1": 20 }, undefined],
    ["is nobody where nothing was fetched", [SMALL, MANY], {}, undefined],
    ["is nobody below ten seconds", [SMALL, MANY], { "https://g/big-1": 9.9 }, undefined],
    ["from ten seconds on it is somebody", [SMALL, MANY], { "https://g/big-1": 10 }, "many"],
    ["is nobody below half of all, whoever had the rest", [SMALL, MANY], { "https://g/big-1": 40, "https://g/gone": 41 }, undefined],
    ["with half of all it is somebody", [SMALL, MANY], { "https://g/big-1": 40, "https://g/gone": 40 }, "many"],
    [
      "is nobody where another unit has more than a third of that",
      [SMALL, MANY],
      { "https://g/big-1": 60, "https://g/small": 21 },
      undefined,
    ],
    ["with three times as much as any other it is somebody", [SMALL, MANY], { "https://g/big-1": 60, "https://g/small": 20 }, "many"],
    [
      "shares what others read too by applications",
      [SMALL, OTHER, unit("guest", { "https://g/small": 1 })],
      { "https://g/small": 40 },
      "small",
    ],
    [
      "is not who reads as much as another",
      [unit("a", { "https://g/x": 1 }), unit("b", { "https://g/x": 1 })],
      { "https://g/x": 40 },
      undefined,
    ],
    ["is known by another spelling", [SMALL, unit("x", { "HTTPS://G:443/Big": 1 })], { "https://g:0443/Big": 40 }, "x"],
    ["is not who reads a place that differs in case", [SMALL, unit("x", { "https://g/big": 1 })], { "https://g/Big": 40 }, undefined],
  ])("%s", (_what, units, seconds, expected) => expect(found(units, seconds)).toBe(expected));

  it("comes with its share of the time of all fetches", () => {
    expect(of([SMALL, MANY], { "https://g/big-1": 30, "https://g/gone": 10 })).toEqual({ unitId: "many", share: 0.75 });
  });
});

describe("the unit that takes the memory of a repo-server", () => {
  it.each<readonly [string, Amounts, string | undefined]>([
    ["was under way at two ends", { "https://g/big-1": 2 }, "many"],
    ["also where the first one was half an hour ago", { "https://g/big-1": 1.5 }, "many"],
    ["with several of its repositories", { "https://g/big-1": 1, "https://g/big-2": 0.5 }, "many"],
    ["is nobody for one end alone: anybody's work may be under way at one", { "https://g/small": 1 }, undefined],
    ["is nobody where others were under way as often", { "https://g/big-1": 1.5, "https://g/small": 1.5 }, undefined],
    ["is nobody where most was of nobody here", { "https://g/big-1": 2, "https://g/gone": 2.1 }, undefined],
  ])("%s", (_what, ends, expected) => expect(found([SMALL, OTHER, MANY], ends, "memory")).toBe(expected));

  it("is not who fetched for longest, and the other way round", () => {
    const taken = { disk: new Map([["https://g/small", 60]]), memory: new Map([["https://g/big-1", 2]]) };
    expect([fillerOf([SMALL, MANY], taken, "memory")?.unitId, fillerOf([SMALL, MANY], taken, "disk")?.unitId]).toEqual(["many", "small"]);
  });
});
