import { describe, expect, it } from "vitest";
import { importGraph } from "./import-graph.ts";

const graph = importGraph([
  { path: "src/a/a.test.ts", text: 'import { a } from "./a.ts";\nimport type { T } from "../types.ts";' },
  { path: "src/a/a.ts", text: 'import {\n  b,\n} from "../b/b.ts";\nimport { z } from "zod";' },
  { path: "src/b/b.ts", text: 'const page = readFileSync("docs/page.md");\nconst again = await import("../a/a.ts");' },
  { path: "src/types.ts", text: "export type T = 1;" },
  { path: "e2e/start.ts", text: 'spawn(new URL("../src/b/b.ts", import.meta.url))' },
  { path: "docs/page.md", text: 'names "src/types.ts", and imports nothing' },
]);

describe("what files lead to", () => {
  it("is what they import, start and read, and what that does in turn", () => {
    expect([...graph.reachedFrom(["src/a/a.test.ts"])].sort()).toEqual(["docs/page.md", "src/a/a.test.ts", "src/a/a.ts", "src/b/b.ts"]);
    expect(graph.reachedFrom(["e2e/start.ts"])).toContain("src/b/b.ts");
  });

  it("is not what only their types are of", () => {
    expect([...graph.leadingTo(["src/types.ts"])]).toEqual(["src/types.ts"]);
  });

  it("is found backwards as well", () => {
    expect([...graph.leadingTo(["docs/page.md"])].sort()).toEqual([
      "docs/page.md",
      "e2e/start.ts",
      "src/a/a.test.ts",
      "src/a/a.ts",
      "src/b/b.ts",
    ]);
  });
});
