import { expect, test } from "vitest";
import { summaryOf } from "./summary.ts";

test("a summary counts what tests noticed among what they could, file by file and in all, and names what is not known", () => {
  const mutants = (...statuses: readonly string[]) => ({ mutants: statuses.map((status) => ({ status })) });
  const files = {
    "src/a/two.ts": mutants("Killed", "Timeout", "Survived", "NoCoverage", "Ignored", "RuntimeError"),
    "src/a/one.ts": mutants("Killed", "Killed"),
    "src/a/types.ts": mutants("Ignored"),
    "src/a/gone.ts": mutants("Survived"),
  };
  expect(summaryOf({ files }, ["src/a/one.ts", "src/a/two.ts", "src/a/types.ts", "src/a/new.ts"])).toEqual([
    "100.00 %      2 of     2  src/a/one.ts",
    " 50.00 %      2 of     4  src/a/two.ts",
    "       -      0 of     0  src/a/types.ts",
    " 66.67 %      4 of     6  all",
    "nothing is kept of 1 more: src/a/new.ts",
  ]);
});
