import process from "node:process";
import { expect, it } from "vitest";
import { MOVE_BUGS } from "../bugs/move-bugs.ts";
import { type CrashScript, crashAt, crashComplaintsOf, listCrashPoints, ONE_MOVE, REDIRECTS } from "./crash-points.ts";

/** Complaints about all crash points of a script; these kinds of write have to be among them. */
async function complaintsAt(script: CrashScript, kinds: readonly string[]): Promise<readonly string[]> {
  const points = await listCrashPoints(script);
  const names = new Set(points.map(({ name }) => name));
  for (const kind of kinds) expect(names).toContain(kind);
  const complaints: string[] = [];
  for (const point of points) complaints.push(...crashComplaintsOf(await crashAt(script, point)));
  const where = `${script.scenario}, seed ${script.seed}`;
  process.stdout.write(`crash points of ${where}: ${points.length} of ${names.size} kinds of write, ${complaints.length} complaints\n`);
  return complaints;
}

const WRITES = ["store.moves.commit", "api.PATCH.rolebindings", "engine.POST.applications"];

it("carries a move to its end wherever its worker dies: before each external write, and after its effect (I4, I5)", async () => {
  expect(await complaintsAt(ONE_MOVE, [...WRITES, "engine.DELETE.applications"])).toEqual([]);
});

it.each(REDIRECTS)(
  "carries a fail-over that ends a move past COMMIT to its end, wherever its worker dies, seed $seed (I4, I5)",
  async (script) => {
    expect(await complaintsAt(script, [...WRITES, "far-engine.POST.applications"])).toEqual([]);
  },
);

it("notices when nobody takes up a move in which a worker died", async () => {
  const deaf = MOVE_BUGS.find(({ name }) => name === "moves-by-events");
  const [point] = (await listCrashPoints(ONE_MOVE)).filter(({ name }) => name === "engine.POST.applications");
  if (deaf === undefined || point === undefined) throw new Error("neither may be missing");
  expect(crashComplaintsOf(await crashAt(ONE_MOVE, point, deaf.breaker)).join()).toContain("I4");
});
