import { describe, expect, it } from "vitest";
import { corePurity } from "./core-purity.ts";
import { dependencies } from "./dependencies.ts";
import { errorCodes } from "./error-codes.ts";
import { invariants } from "./invariants.ts";
import { lockfile } from "./lockfile.ts";
import { oldFaults } from "./old-faults.ts";
import type { OwnCheck } from "./own-check.ts";
import { projectOf } from "./project.ts";
import { sleeps } from "./sleeps.ts";
import { threats } from "./threats.ts";
import { words } from "./words.ts";

const problems = (check: OwnCheck, files: Readonly<Record<string, string>>): readonly string[] => check.find(projectOf(files)).problems;

describe("old faults", () => {
  const all = [...Array.from({ length: 14 }, (_, index) => `W${index + 1}`), ...Array.from({ length: 8 }, (_, index) => `S${index + 1}`)];
  const list = (ids: readonly string[]): string =>
    ["| | was | is | test |", "|---|---|---|---|", ...ids.map((id) => `| ${id} | a | b | \`src/a.test.ts\` |`)].join("\n");
  const tests = all.map((id) => `it("${id}: holds", () => {});`).join("\n");

  it("are each in the list, with a test of their name", () => {
    expect(problems(oldFaults, { "docs/compatibility.md": list(all), "src/a.test.ts": tests })).toEqual([]);
  });

  it("are missed in the list, and in the file it names", () => {
    const files = { "docs/compatibility.md": list(all.slice(1)), "src/a.test.ts": tests.replace("S8: holds", "holds what S8 broke") };
    expect(problems(oldFaults, files)).toEqual([
      "docs/compatibility.md has 0 rows for W1",
      'src/a.test.ts: no title of a test begins with "S8: "',
    ]);
  });
});

describe("error codes", () => {
  const list = (...rows: readonly string[]): string => ["| code | class | meaning | what to do |", "|---|---|---|---|", ...rows].join("\n");
  const source = 'throw new GoneError("reading", { ...options, code: late ? "room.late" : "room.gone" });';

  it("finds a code that the list has not", () => {
    expect(problems(errorCodes, { "src/room/a.ts": source, "docs/errors.md": list("| `room.gone` | GoneError | a | b |") })).toEqual([
      "src/room/a.ts:1 room.late (GoneError) is not in docs/errors.md",
    ]);
  });

  it("finds a comparison with a code that no error has", () => {
    const files = {
      "src/room/a.ts":
        'if (error.code === "room.late" || "room.gone" !== code || name === "a.b") throw new GoneError("x", { code: "room.late" });',
      "docs/errors.md": list("| room.late | GoneError | |"),
    };
    expect(problems(errorCodes, files)).toEqual(["src/room/a.ts:1 compares with room.gone, which no error has"]);
  });

  it("finds a code handed to a function that makes the error", () => {
    expect(problems(errorCodes, { "hack/a.ts": 'throw stateError("writing", "up.state", cause);' })).toHaveLength(1);
  });

  it("finds a code in another style than the others", () => {
    const files = {
      "hack/a.ts": 'throw stateError("writing", "up.stateLost", cause);',
      "docs/errors.md": list("| `up.stateLost` | InputError | |"),
    };
    expect(problems(errorCodes, files)).toEqual(["hack/a.ts:1 up.stateLost is not written like-this.like-this"]);
  });

  it("finds a listed code that nothing uses, and a class that is not the one listed", () => {
    const files = {
      "src/room/a.ts": source,
      "docs/errors.md": list("| room.late | GoneError | |", "| room.gone | StaleError | |", "| room.old | GoneError | |"),
    };
    expect(problems(errorCodes, files)).toEqual([
      "docs/errors.md lists room.old, which nothing uses",
      "src/room/a.ts:1 room.gone is a GoneError, and docs/errors.md says otherwise",
    ]);
  });

  it("leaves tests and other strings alone", () => {
    expect(problems(errorCodes, { "src/a.test.ts": source, "src/a.ts": 'read("room.yaml"); f({ code: "23505", name: "a.b" });' })).toEqual(
      [],
    );
  });
});

describe("core purity", () => {
  it.each([
    ["async function f() {}", "is asynchronous"],
    ["const f = () => g(async () => 1);", "is asynchronous"],
    ["await f();", "waits"],
    ["throw new Error();", "throws something other than a DefectError"],
    ["throw cause;", "throws something other than a DefectError"],
    ["Math.random();", "draws with Math.random"],
    ["new Date();", "reaches for Date"],
    ["Date.now();", "reaches for Date"],
    ["process.env;", "reaches for process"],
    ["console.log();", "reaches for console"],
    ["setTimeout(f, 1);", "reaches for setTimeout"],
  ])("finds that `%s` %s", (text, what) => {
    expect(problems(corePurity, { "src/room/a.ts": text })).toEqual([`src/room/a.ts:1 ${what}`]);
  });

  it("leaves defects, keys, own names and files that are not core alone", () => {
    const files = {
      "src/room/a.ts": 'throw new DefectError("x", o); const f = (process: P, b: Date) => [process.pid, b.process, { Date: 1 }];',
      "src/room/controller.ts": "await f();",
      "src/room/apply-a.ts": "await f();",
      "src/room/adapters/postgres/a.ts": "await f();",
      "src/room/a.test.ts": "await f();",
      "src/runtime/a.ts": "await f();",
      "src/domain/clock.ts": "new Date(at).toISOString();",
    };
    expect(problems(corePurity, files)).toEqual([]);
  });
});

describe("invariants", () => {
  const list = "| id | holds | enforced by |\n|---|---|---|\n| I1 | one owner | the register |\n| I2 | no deletion | planned: moves |\n";

  it("finds one that no test names in its title", () => {
    expect(problems(invariants, { "docs/invariants.md": list, "src/a.test.ts": 'it("keeps I11", () => expect("I1"));' })).toEqual([
      "docs/invariants.md: no test names I1",
    ]);
  });

  it("is content with a title, and says when one that is called planned has a test", () => {
    const files = { "docs/invariants.md": list, "src/a.test.ts": 'it.each(rows)("I1: %s", f); describe("I2", f);' };
    expect(invariants.find(projectOf(files))).toEqual({
      problems: [],
      notes: ["docs/invariants.md: I2 is called planned, and a test names it"],
    });
  });

  it("does not take an empty list for a good one", () => {
    expect(problems(invariants, {})).toEqual(["docs/invariants.md lists no invariant"]);
  });
});

describe("words", () => {
  it.each(["// TO" + "DO: later", "cd /wo" + "rk/main", '"/ro' + 'ot/.npmrc"', "https://registry.npm" + "js.org/"])("finds %s", (text) => {
    expect(problems(words, { "src/a.ts": text })).toHaveLength(1);
  });

  it("leaves addresses and relative paths alone", () => {
    expect(problems(words, { "src/a.ts": "https://example.com/wo" + "rk/a src/wo" + "rk/a todos" })).toEqual([]);
  });

  it("finds words that the field says otherwise in names, sentences and pages, and leaves honest uses and the past alone", () => {
    const text = 'export const planSeats = 1;\n// no room for it\nconst said = "a seat";\nconst lookup = planSeats;\n';
    const has = 'has "seat": say candidate; placement, or tell this use apart in tools/measure/retired-words.ts';
    expect(problems(words, { "src/a.ts": text })).toEqual([`src/a.ts:1 ${has}`, `src/a.ts:3 ${has}`, `src/a.ts:4 ${has}`]);
    expect(problems(words, { "src/choose-seat.ts": "" })).toEqual(['src/choose-seat.ts: its name has "seat": say candidate; placement']);
    expect(problems(words, { "docs/a.md": "a seat" })).toHaveLength(1);
    expect(problems(words, { "CHANGELOG.md": "a seat", "migrations/0001-a.sql": "a seat" })).toEqual([]);
  });
});

describe("sleeping tests", () => {
  it.each([
    'import { setTimeout as delay } from "node:timers/promises";\nawait delay(5);',
    'import * as timers from "node:timers/promises";\nawait timers.setTimeout(5);',
    "await sleep(100);",
    "await clock.sleep(100);",
    "await sleep(systemClock, 100, signal);",
    "await new Promise((resolve) => setTimeout(resolve, 100));",
    "await new Promise((resolve) => { setTimeout(resolve, 100); });",
  ])("finds `%s`", (text) => {
    expect(problems(sleeps, { "src/a.test.ts": text })).toHaveLength(1);
  });

  it("leaves deadlines and production code alone", () => {
    const files = {
      "src/a.test.ts": [
        'import { setImmediate } from "node:timers/promises";',
        "const timer = setTimeout(() => abort(), 60_000); clock.after(5, f);",
        "void sleep(clock, 100, signal); await setImmediate();",
      ].join("\n"),
      "src/runtime/a.ts": "await sleep(5);",
    };
    expect(problems(sleeps, files)).toEqual([]);
  });
});

describe("dependencies", () => {
  it("finds what is unlisted, listed in another version, gone, loose or without an address", () => {
    const files = {
      "package.json": JSON.stringify({ dependencies: { "left-pad": "1.0.0" }, devDependencies: { a: "^2.0.0", b: "npm:c@3.0.0" } }),
      "docs/dependencies.md": "| package | version |\n|---|---|\n| `a` | 1.0.0 |\n| b | 3.0.0 |\n| gone | 1.0.0 |\n",
    };
    const found = problems(dependencies, files);
    expect(found.filter((problem) => !problem.includes("no dependency any more"))).toEqual([
      "package.json: a ^2.0.0 is no exact version",
      "docs/dependencies.md does not list left-pad 1.0.0",
      "docs/dependencies.md does not list a ^2.0.0",
      "docs/dependencies.md lists gone, which package.json has not",
      "tools/layers/addresses.ts: left-pad has no address",
    ]);
    expect(found).toContain("tools/layers/addresses.ts: pg is no dependency any more");
  });

  it("lets production code load a package of development where it is installed", () => {
    const files = {
      "package.json": JSON.stringify({ devDependencies: { pg: "1.0.0" } }),
      "docs/dependencies.md": "| p | v |\n|---|---|\n| pg | 1.0.0 |\n",
    };
    expect(problems(dependencies, files).filter((problem) => / pg /.test(problem))).toEqual([]);
  });
});

describe("threats", () => {
  const list = (...rows: readonly string[]): Readonly<Record<string, string>> => ({
    "docs/threat-model.md": ["| | Threat | Proof |", "|---|---|---|", ...rows].join("\n"),
    "src/a.test.ts": 'describe("a user", () => { it("reads nothing", () => {}); });',
  });

  it("each name a test that is there, or are accepted", () => {
    const rows = ['| W1 | reads | `src/a.test.ts`: "reads nothing", `src/a.test.ts`: "a user" |', "| A1 | is root | accepted: it is |"];
    expect(problems(threats, list(...rows))).toEqual([]);
  });

  it("are found without a test, with one that is not there, twice, and not at all", () => {
    expect(problems(threats, list("| W1 | reads | by care |"))).toEqual(["docs/threat-model.md: W1 names no test and is not accepted"]);
    for (const proof of ['`src/a.test.ts`: "reads all"', '`src/b.test.ts`: "reads nothing"'])
      expect(problems(threats, list(`| W1 | reads | ${proof} |`))).toEqual([expect.stringContaining("W1 names the test")]);
    const row = '| W1 | reads | `src/a.test.ts`: "reads nothing" |';
    expect(problems(threats, list(row, row))).toEqual(["docs/threat-model.md: W1 is given twice"]);
    expect(problems(threats, list())).toEqual(["docs/threat-model.md lists no threat"]);
  });
});

describe("lockfile", () => {
  const integrity = `sha512-${"a".repeat(86)}==`;
  const locks = (packages: unknown): Readonly<Record<string, string>> => ({
    "package-lock.json": JSON.stringify({ packages }),
    "tools/node/package-lock.json": "{}",
  });

  it("finds an optional package that is left out", () => {
    const packages = {
      "node_modules/a": { integrity, optionalDependencies: { b: "1.0.0", c: "1.0.0" } },
      "node_modules/a/node_modules/b": { integrity },
      "node_modules/c": { integrity },
    };
    expect(problems(lockfile, locks(packages))).toEqual([]);
    expect(problems(lockfile, locks({ ...packages, "node_modules/c": undefined }))).toEqual([
      "package-lock.json: c is missing, which node_modules/a may install",
    ]);
  });

  it("finds the address of a registry, and a lockfile that is not there", () => {
    expect(problems(lockfile, locks({ "node_modules/a": { integrity, resolved: "https://example.com/a.tgz" } }))).toEqual([
      "package-lock.json: node_modules/a names the address it was fetched from",
    ]);
    expect(problems(lockfile, {})).toHaveLength(2);
  });

  it("finds a package that would be installed whatever it holds", () => {
    const root = { "": { optionalDependencies: {} }, "node_modules/here": { link: true } };
    expect(problems(lockfile, locks({ ...root, "node_modules/a": { integrity } }))).toEqual([]);
    for (const broken of [undefined, "", "sha512-", `sha1-${"a".repeat(27)}=`])
      expect(problems(lockfile, locks({ ...root, "node_modules/a": { integrity: broken } }))).toEqual([
        "package-lock.json: node_modules/a has no integrity: whatever is fetched would be installed",
      ]);
  });
});
