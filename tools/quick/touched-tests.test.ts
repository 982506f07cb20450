import { describe, expect, it } from "vitest";
import { importGraph } from "../imports/import-graph.ts";
import { touchedTests } from "./touched-tests.ts";

const graph = importGraph([
  { path: "src/a.ts", text: "" },
  { path: "src/b.ts", text: 'import { a } from "./a.ts";' },
  { path: "src/b.test.ts", text: 'import { b } from "./b.ts";' },
  { path: "src/b.fault.test.ts", text: 'import { b } from "./b.ts";' },
  { path: "src/other.test.ts", text: "" },
  { path: "src/deep/golden.test.ts", text: "" },
  { path: "src/deep/golden/report.txt", text: "" },
  { path: "tools/suites.ts", text: 'const SETUPS = ["e2e/setup.ts", "tools/core-setup.ts"];' },
  { path: "e2e/setup.ts", text: 'import { a } from "../src/a.ts";' },
  { path: "tools/core-setup.ts", text: 'import { refuse } from "./refuse.ts";' },
  { path: "tools/refuse.ts", text: "" },
]);
const core = ["src/b.test.ts", "src/deep/golden.test.ts", "src/other.test.ts"];
const touchedBy = (...changed: readonly string[]) =>
  touchedTests(graph, changed, { core, setup: ["tools/core-setup.ts"], others: ["src/b.fault.test.ts"] });

describe("a change touches", () => {
  it("the tests that lead to it, however far", () => {
    expect(touchedBy("src/a.ts")).toEqual({ core: ["src/b.test.ts"], others: 1 });
  });

  it("a test that is changed itself", () => {
    expect(touchedBy("src/other.test.ts").core).toContain("src/other.test.ts");
  });

  it("the tests beside a file that nothing names", () => {
    expect(touchedBy("src/deep/golden/report.txt").core).toEqual(["src/deep/golden.test.ts"]);
  });

  it("no test where nothing changed, or a page at the top", () => {
    expect(touchedBy()).toEqual({ core: [], others: 0 });
    expect(touchedBy("README.md")).toEqual({ core: [], others: 0 });
  });

  it.each(["package-lock.json", "tools/suites.ts", "tools/core-setup.ts", "tools/refuse.ts"])(
    "every test where it is behind all: %s",
    (path) => {
      expect(touchedBy(path).core).toEqual(core);
    },
  );
});
