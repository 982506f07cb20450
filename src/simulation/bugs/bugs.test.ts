import process from "node:process";
import { expect, it } from "vitest";
import { BUGS } from "./bugs.ts";
import { huntBug, renderHunts } from "./hunt.ts";

/** Far fewer than the thousand that `--hunt` allows: a bug that takes longer makes every commit wait, and needs a scenario that finds it sooner. */
const LONGEST_HUNT = 60;

it("finds each deliberate bug through the property named for it", async () => {
  const hunts = [];
  for (const bug of BUGS) hunts.push(await huntBug(bug, LONGEST_HUNT, bug.seed));
  process.stdout.write(`${renderHunts(hunts)}\n`);
  expect(hunts.filter(({ runs }) => runs === undefined).map(({ bug }) => bug.name)).toEqual([]);
});
