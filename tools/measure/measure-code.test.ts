import { describe, expect, it } from "vitest";
import { projectOf } from "../checks/project.ts";
import { measureCode } from "./measure-code.ts";
import { renderMeasures } from "./render-measures.ts";
import { retiredWordsIn } from "./retired-words.ts";

const controller = (body: string): string => `import { b } from "./b.ts";\nexport function createA() {\n${body}\n}\n`;

describe("the measures of a checkout", () => {
  const measures = measureCode(
    projectOf({
      "src/a/controller.ts": controller("  return createKeyedQueue({ ...{ name: b } });"),
      "src/a/b.ts": 'import { c } from "./deep/c.ts";\nexport const b = () => c;\n',
      "src/a/deep/c.ts": "export const c = 1;\nexport type Same = 1;\n",
      "src/e/one/controller.ts": controller("  return 1;"),
      "src/e/b.ts": "export type Same = 2;\n",
      "src/e/b.test.ts": "export type Same = 3; // seat\n",
      "src/e/testing/d.ts": "export type Same = 4;\n",
    }),
  );

  it("count production files, and leave tests and what is for them out", () => {
    expect(measures.files).toEqual({ count: 5, median: 2, p90: 4, max: 4 });
    expect(measures.lines).toBe(4 + 2 + 2 + 4 + 1);
  });

  it("tell controllers with a loop from those without", () => {
    expect(measures.controllersWithLoop).toEqual(["src/a/controller.ts"]);
    expect(measures.controllersWithoutLoop).toEqual(["src/e/one/controller.ts"]);
  });

  it("find folders of one file, names with several meanings, and literals spread into others", () => {
    expect(measures.foldersOfOneFile).toEqual(["src/a/deep", "src/e/one"]);
    expect(measures.sharedNames).toEqual({
      Same: ["src/a/deep/c.ts", "src/e/b.ts"],
      createA: ["src/a/controller.ts", "src/e/one/controller.ts"],
    });
    expect(measures.spreadLiterals).toBe(1);
  });

  it("find the longest chain of imports inside a module", () => {
    expect(measures.modules["a"]).toEqual({
      files: 3,
      lines: 8,
      longestImportChain: ["src/a/controller.ts", "src/a/b.ts", "src/a/deep/c.ts"],
    });
  });

  it("count retired words in everything that people write", () => {
    expect(measures.retiredWords).toEqual({ seat: 1 });
  });

  it("are a table, and stand beside earlier ones where these are given", () => {
    expect(renderMeasures(measures)).toMatch(/^controller\.ts without one +1$/m);
    expect(renderMeasures(measures, { ...measures, lines: 99 })).toMatch(/^lines +99 → +13$/m);
  });
});

describe("retired words", () => {
  it.each(["chooseSeat", "seat-traits", "SEATS", "a seat is", "looks at it", "home.ts", "the register", "has a Lack"])(
    "are found in %s",
    (text) => {
      expect([...retiredWordsIn(text)]).toHaveLength(1);
    },
  );

  it.each([
    "look up",
    "lookupHost",
    "the background",
    "makes room for it",
    "without room",
    "$HOME",
    "/home/me",
    "a CA bundle",
    "registered",
  ])("are told from others: %s", (text) => {
    expect([...retiredWordsIn(text)]).toEqual([]);
  });
});
