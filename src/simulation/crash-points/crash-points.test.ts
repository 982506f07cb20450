import process from "node:process";
import { expect, it } from "vitest";
import { MOVE_BUGS } from "../bugs/move-bugs.ts";
import { complaintsOf, crashAt, listCrashPoints } from "./crash-points.ts";

it("carries a move to its end wherever its worker dies: before each external write, and after its effect (I4, I5)", async () => {
  const points = await listCrashPoints();
  const names = new Set(points.map(({ name }) => name));
  for (const name of ["store.moves.commit", "api.PATCH.rolebindings", "engine.POST.applications", "engine.DELETE.applications"])
    expect(names).toContain(name);
  const complaints: string[] = [];
  for (const point of points) complaints.push(...complaintsOf(await crashAt(point)));
  process.stdout.write(`crash points: ${points.length} of ${names.size} kinds of write, ${complaints.length} complaints\n`);
  expect(complaints).toEqual([]);
});

it("sees a worker that nobody's looks bring back to a move it died in", async () => {
  const deaf = MOVE_BUGS.find(({ name }) => name === "moves-by-events");
  const [point] = (await listCrashPoints()).filter(({ name }) => name === "engine.POST.applications");
  if (deaf === undefined || point === undefined) throw new Error("neither may be missing");
  expect(complaintsOf(await crashAt(point, deaf.breaker)).join()).toContain("I4");
});
