import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { runMarathon } from "./marathon/marathon.ts";
import { addUp, renderSum } from "./marathon/part.ts";
import { drawOutcome } from "./picture.ts";
import { runSeed } from "./run.ts";
import { loadScenario, scenarioNames } from "./scenarios/load.ts";
import { summarize } from "./summary.ts";

const GOLDEN = new URL("./scenarios/golden.txt", import.meta.url);
const SEED = 7;
const never = new AbortController().signal;

describe("the scenarios", () => {
  it(`give the same trace twice under seed ${SEED}, to the byte, and the summaries of golden.txt`, async () => {
    const summaries: string[] = [];
    for (const name of scenarioNames()) {
      const scenario = loadScenario(name);
      // A scenario that no commit runs is for long runs: too long to be run twice here.
      if (scenario.commitRuns === 0) continue;
      const [first, second] = [await runSeed({ scenario, seed: SEED }), await runSeed({ scenario, seed: SEED })];
      expect({ name, hash: second.traceHash, entries: second.history.entries().length }).toEqual({
        ...{ name, hash: first.traceHash, entries: first.history.entries().length },
      });
      expect(drawOutcome(first)).toContain("Every property held");
      summaries.push(...summarize(first));
    }
    const text = `${summaries.join("\n")}\n`;
    if (process.env["ARGOSY_WRITE_GOLDEN"] === "1") writeFileSync(GOLDEN, text);
    expect(text).toBe(readFileSync(GOLDEN, "utf8"));
  });

  it("give the same long run of hand-overs twice", async () => {
    const options = { scenario: "move-one", seed: 3, moves: 3 };
    const [first, second] = [await runMarathon(options, never), await runMarathon(options, never)];
    expect(first).toMatchObject({ runs: 3, ends: { DONE: 3 }, failed: [], trace: second.trace, code: second.code });
    expect(renderSum(addUp([first]))).toContain("3 (3 DONE) in 3 runs of 1 parts");
    expect((await runMarathon({ ...options, seed: 4 }, never)).trace).not.toBe(first.trace);
  });

  it("end a marathon after its present run when they are asked to, and report what was done", async () => {
    const ending = new AbortController();
    const part = await runMarathon({ scenario: "move-one", seed: 3, moves: 1_000, onRun: () => ending.abort() }, ending.signal);
    expect(part).toMatchObject({ runs: 1, ends: { DONE: 1 } });
  });

  it("give other traces under other seeds", async () => {
    const scenario = loadScenario("steady");
    const [one, other] = [await runSeed({ scenario, seed: 1 }), await runSeed({ scenario, seed: 2 })];
    expect(one.traceHash).not.toBe(other.traceHash);
  });

  it("are refused with a remedy if there is none of that name", () => {
    expect(() => loadScenario("nonsense")).toThrow(
      expect.objectContaining({ code: "simulation.scenario", remedy: expect.stringContaining("steady") }),
    );
  });
});
