import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { countTests, type VitestReport } from "./count-tests.ts";
import { isGood, renderResults, runStages } from "./run-stages.ts";
import type { Stage, StageOptions, StageResult } from "./stage.ts";

const REPORT: VitestReport = { success: true, numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };
const options = (changes: Partial<StageOptions> = {}): StageOptions => ({
  filters: [],
  bail: false,
  print: () => {},
  signal: new AbortController().signal,
  ...changes,
});
const stage = (name: string, counts: Partial<StageResult> = {}): Stage => ({
  name,
  run: () => Promise.resolve({ passed: 1, failed: 0, skipped: 0, ...counts }),
});
const names = (results: readonly StageResult[]): readonly string[] => results.map(({ name }) => name);

describe("counting tests", () => {
  it("takes the numbers of a run in order", () => {
    const report = { ...REPORT, numPassedTests: 5, numPendingTests: 1, numTodoTests: 1 };
    expect(countTests({ status: 0, report, files: 2 })).toEqual({ passed: 5, failed: 0, skipped: 2, failures: [] });
  });

  it("counts a file that could not be loaded, and not one whose tests failed", () => {
    const failed = { status: "failed", fullName: "the doctor passes", failureMessages: ["Error: code 1\n\n  of 0\n    at doctor.ts:1:2"] };
    const passed = { status: "passed", fullName: "the doctor ends", failureMessages: [] };
    const testResults = [
      { name: resolve("a.test.ts"), status: "failed", message: `no such module ${"a".repeat(300)}`, assertionResults: [] },
      { name: resolve("b.test.ts"), status: "failed", message: "", assertionResults: [passed, failed] },
    ];
    expect(countTests({ status: 1, report: { ...REPORT, numPassedTests: 5, numFailedTests: 1, testResults }, files: 2 })).toMatchObject({
      failed: 2,
      failures: [`a.test.ts: no such module ${"a".repeat(285)}…`, "b.test.ts > the doctor passes: Error: code 1 of 0"],
    });
  });

  it("counts a run that failed outside its tests", () => {
    expect(countTests({ status: 1, report: { ...REPORT, numPassedTests: 5 }, files: 2 })).toMatchObject({ passed: 5, failed: 1 });
    expect(countTests({ status: 1, report: undefined, files: 2 })).toMatchObject({ passed: 0, failed: 1 });
  });

  it("believes the report of a run that had to be ended", () => {
    const report = { ...REPORT, numPassedTests: 5 };
    expect(countTests({ status: "lingered", report, files: 2 })).toMatchObject({ passed: 5, failed: 0 });
    expect(countTests({ status: "lingered", report: { ...report, success: false }, files: 2 })).toMatchObject({ passed: 5, failed: 1 });
    expect(countTests({ status: "lingered", report: undefined, files: 2 })).toMatchObject({ failed: 1 });
  });

  it("counts a suite that ran no test although it has files", () => {
    expect(countTests({ status: 0, report: { ...REPORT, numPendingTests: 3 }, files: 2 })).toMatchObject({ failed: 1, skipped: 3 });
  });
});

describe("running stages", () => {
  it("goes on after a failure", async () => {
    expect(names(await runStages([stage("a", { failed: 1 }), stage("b")], options()))).toEqual(["a", "b"]);
  });

  it("stops after a failure when asked to bail, and after a fatal one always", async () => {
    expect(names(await runStages([stage("a", { failed: 1 }), stage("b")], options({ bail: true })))).toEqual(["a"]);
    expect(names(await runStages([stage("a", { failed: 1, isFatal: true }), stage("b")], options()))).toEqual(["a"]);
  });

  it("starts nothing once it was cancelled", async () => {
    expect(await runStages([stage("a")], options({ signal: AbortSignal.abort() }))).toEqual([]);
  });

  it("runs a background stage beside those after it, and prints each in order and in one piece", async () => {
    const said: string[] = [];
    const happened: string[] = [];
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const background: Stage = {
      name: "slow",
      isBackground: true,
      async run({ print, isBeside }) {
        print(`beside: ${isBeside}`);
        await released;
        happened.push("slow");
        return { passed: 2, failed: 0, skipped: 0 };
      },
    };
    const next = {
      ...stage("next"),
      run: () =>
        stage("")
          .run(options())
          .finally(() => happened.push("next")),
    };
    const last = { ...stage("last"), run: () => stage("").run(options()).finally(release) };
    const results = await runStages([background, next, last], options({ print: (line) => void said.push(line) }));
    expect(names(results)).toEqual(["slow", "next", "last"]);
    expect(happened).toEqual(["next", "slow"]);
    expect(said.at(-1)).toBe("\n━━ slow, beside others ━━\nbeside: true");
    expect(said.join()).toMatch(/^\n━━ next ━━,\n━━ last ━━/);
  });

  it("ends a background stage with whatever keeps others from running, and runs it as any other where nothing comes after it", async () => {
    const run = (given: StageOptions) => {
      if (given.isBeside !== true) return Promise.resolve({ passed: 1, failed: 0, skipped: 0 });
      return new Promise<Omit<StageResult, "name" | "seconds">>((resolve) => {
        given.signal.addEventListener("abort", () => resolve({ passed: 0, failed: 1, skipped: 0 }));
      });
    };
    const background: Stage = { name: "slow", isBackground: true, run };
    const results = await runStages([background, stage("b", { failed: 1, isFatal: true }), stage("c")], options());
    expect(names(results)).toEqual(["slow", "b"]);
    expect(await runStages([stage("a"), background], options())).toMatchObject([{ passed: 1 }, { passed: 1 }]);
  });

  it("fails with a stage that cannot be run, whichever it is, and leaves none running", async () => {
    const broken = (isBackground: boolean): Stage => ({
      name: "broken",
      isBackground,
      run: () => Promise.reject(new Error("no such program")),
    });
    const begun: string[] = [];
    const other: Stage = {
      name: "other",
      run: () =>
        stage("")
          .run(options())
          .finally(() => begun.push("other")),
    };
    let isEnded = false;
    const background: Stage = {
      name: "slow",
      isBackground: true,
      run: ({ signal }) => {
        signal.addEventListener("abort", () => (isEnded = true));
        return new Promise(() => undefined);
      },
    };
    await expect(runStages([background, broken(false), other], options())).rejects.toThrow("no such program");
    expect([isEnded, begun]).toEqual([true, []]);
    await expect(runStages([broken(true), other, other], options())).rejects.toThrow("no such program");
    expect(begun).toEqual(["other"]);
  });

  it("ends with the sum alone on its line", () => {
    const results: readonly StageResult[] = [
      { name: "static", passed: 3, failed: 1, skipped: 0, seconds: 1.26 },
      { name: "core", passed: 40, failed: 1, skipped: 2, seconds: 12, note: "no test failed", failures: ["a.test.ts > b: c"] },
    ];
    expect(renderResults(results)).toBe(
      [
        "",
        "failed: a.test.ts > b: c",
        "stage          passed   failed  skipped  seconds",
        "static              3        1        0      1.3",
        "core               40        1        2     12.0",
        "core: no test failed",
        "",
        "43 passed, 2 failed",
      ].join("\n"),
    );
  });

  it("calls a run good when something passed and nothing failed", () => {
    const result = { name: "a", passed: 1, failed: 0, skipped: 0, seconds: 0 };
    expect([isGood([result]), isGood([{ ...result, failed: 1 }]), isGood([{ ...result, passed: 0 }]), isGood([])]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
