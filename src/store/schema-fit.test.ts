import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BASELINE_HASH, judgeSchema, type KnownMigration, numberText, type RecordedMigration, whyNotServe } from "./schema-fit.ts";

const known = (...numbers: readonly number[]): readonly KnownMigration[] =>
  numbers.map((number) => ({ name: `${numberText(number)}-file`, hash: number === 1 ? BASELINE_HASH : `hash ${number}` }));
const recorded = (...numbers: readonly (number | readonly [number: number, needs: number])[]): readonly RecordedMigration[] =>
  numbers.map((each) => {
    const [number, needs] = typeof each === "number" ? [each, null] : each;
    return { ...(known(number)[0] as KnownMigration), needs };
  });
const THREE = known(1, 2, 3);

describe("a program and a database", () => {
  it.each([
    ["fits where all was run that it knows, and nothing else", recorded(1, 2, 3), "fits", "at 0003-file"],
    ["has to be migrated where there is nothing", [], "empty", "no schema yet"],
    ["has to be migrated where something is missing", recorded(1), "older", "it is at 0001-file"],
    ["fits a newer one whose last file needs what it knows", recorded(1, 2, 3, [4, 3], [5, 2]), "fits-newer", "0004-file, 0005-file"],
    [
      "does not fit a newer one that says nothing",
      recorded(1, 2, 3, 4),
      "newer",
      "has to know migration 0004, and this version's last is 0003-file",
    ],
    ["does not fit a newer one of which any file needs more", recorded(1, 2, 3, [4, 4], [5, 2]), "newer", "has to know migration 0004"],
    [
      "does not fit one with a file of its numbers that is not its own",
      recorded(1, 2, 3).with(1, { name: "0002-else", hash: "x", needs: 1 }),
      "other",
      "another 0002-else",
    ],
    [
      "does not fit one whose file of the same name was another",
      recorded(1, 2, 3).with(2, { name: "0003-file", hash: "x", needs: 1 }),
      "other",
      "another 0003-file",
    ],
    [
      "does not fit one whose file has no hash",
      recorded(1, 2, 3).with(2, { name: "0003-file", hash: null, needs: 1 }),
      "other",
      "another 0003-file",
    ],
    ["does not fit a newer one in which one of its own is missing", recorded(1, 3, [4, 1]), "other", "another 0004-file"],
  ])("%s", (_, rows, code, sentence) => {
    const fit = judgeSchema(rows, THREE);
    expect([fit.code, fit.sentence]).toEqual([code, expect.stringContaining(sentence)]);
    expect(fit.remedy !== "").toBe(!code.startsWith("fits"));
    expect(whyNotServe(fit) === undefined).toBe(code.startsWith("fits"));
  });

  it("names what is still to be run, in order, and what a program has to know", () => {
    expect(judgeSchema(recorded(1), THREE)).toMatchObject({
      pending: ["0002-file", "0003-file"],
      newest: "0001-file",
      needs: 1,
      known: "0003-file",
    });
    expect(judgeSchema(recorded(1, 2, 3, [4, 2]), THREE)).toMatchObject({ pending: [], newest: "0004-file", needs: 3 });
    expect(judgeSchema([], THREE)).toMatchObject({ newest: undefined, needs: 0 });
  });

  it.each([
    ["empty", [], "store.schema", { pending: "0001-file, 0002-file, 0003-file" }],
    ["older", recorded(1, 2), "store.schema", { pending: "0003-file" }],
    ["newer", recorded(1, 2, 3, 4), "store.schema-newer", { unknown: "0004-file" }],
    ["other", recorded(1, 2, 4), "store.schema-changed", { changed: "0004-file" }],
    ["cut off", [{ name: "007-step", hash: null, needs: null }], "store.schema-older", { last: "007-step" }],
  ])("says with a code why it is not served: %s", (_, rows, code, context) => {
    expect(whyNotServe(judgeSchema(rows, THREE))).toMatchObject({ name: "InputError", code, context, path: "database.url" });
  });
});

describe("a schema of the steps before the first file", () => {
  const STEPS = [...Array.from({ length: 28 }, (_, index) => `${String(index + 1).padStart(3, "0")}-step`), "035-repositories-by-hash"];
  const rows = (names: readonly string[]) => names.map((name) => ({ name, hash: null, needs: null }));

  it("is what the first file makes, where all of them were run", () => {
    expect(judgeSchema(rows(STEPS), THREE)).toMatchObject({ code: "older", isFromSteps: true, pending: ["0002-file", "0003-file"] });
  });

  it("leads nowhere where one is missing, one is too many, or the first file is another", () => {
    for (const names of [STEPS.slice(1), [...STEPS, "036-more"], [...STEPS.slice(1), "0001-file"]])
      expect(judgeSchema(rows(names), THREE).code).toBe("cut-off");
    expect(judgeSchema(rows(STEPS), [{ name: "0001-file", hash: "x" }]).code).toBe("cut-off");
  });
});

describe("any history of releases", () => {
  /** Files in turn, each with the number of the program that it needs. */
  const history = fc
    .array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1, maxLength: 12 })
    .map((draws) => draws.map((draw, index) => [index + 1, 1 + Math.floor(draw * (index + 1))] as const));

  it("lets in exactly the programs that every file lets in, and none that is newer before it has migrated", () => {
    fc.assert(
      fc.property(history, fc.nat(11), fc.nat(11), (files, programAt, databaseAt) => {
        const program = 1 + (programAt % files.length);
        const database = 1 + (databaseAt % files.length);
        const rows = recorded(...files.slice(0, database));
        const fit = judgeSchema(rows, known(...files.slice(0, program).map(([number]) => number)));
        const isLetIn = files.slice(0, database).every(([, needs]) => needs <= program);
        expect(whyNotServe(fit) === undefined).toBe(program <= database && isLetIn);
        expect(fit.pending).toHaveLength(Math.max(0, program - database));
      }),
    );
  });
});
