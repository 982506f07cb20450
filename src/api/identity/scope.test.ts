import { describe, expect, it } from "vitest";
import { grantsFor } from "./map-roles.ts";
import { covers, roleFor, type Subject, scopesFor, scopesText } from "./scope.ts";

const EU = "eu/shared/public";
const workspace = (namespace: string, ...classes: readonly string[]): Subject => ({ kind: "workspace", namespace, classes });
const instances = (name: string): Subject => ({ kind: "class", class: name });

describe("a scope", () => {
  it.each([
    [{ workspaces: ["team-*"] }, workspace("team-a", EU), true],
    [{ workspaces: ["team-*"] }, workspace("team-", EU), true],
    [{ workspaces: ["team-*"] }, workspace("team", EU), false],
    [{ workspaces: ["team-*"] }, workspace("my-team-a", EU), false],
    [{ workspaces: ["team"] }, workspace("team-a", EU), false],
    [{ workspaces: ["*"] }, workspace("anybody"), true],
    [{ workspaces: ["*"] }, instances(EU), false],
    [{ workspaces: [] }, workspace("team", EU), false],
    [{ classes: [EU] }, workspace("team", EU), true],
    [{ classes: [EU] }, workspace("team", EU, "us"), false],
    [{ classes: [EU] }, workspace("team"), false],
    [{ classes: [EU] }, instances(EU), true],
    [{ classes: [EU] }, instances("eu/shared/public/edge"), false],
    [{ classes: [EU], workspaces: ["team"] }, workspace("team", EU), true],
    [{ classes: [EU], workspaces: ["team"] }, workspace("team", "us"), false],
    [{ classes: [EU], workspaces: ["team"] }, workspace("other", EU), false],
    [{ classes: [EU], workspaces: ["team"] }, instances(EU), false],
    [{}, workspace("team", EU), false],
    [{}, instances(EU), false],
  ])("%j covers %j: %s", (scope, subject, is) => {
    expect(covers(scope, subject)).toBe(is);
  });

  it("counts for its own role alone", () => {
    const grants = [{ role: "operator", scope: { workspaces: ["team"] } } as const, { role: "viewer" } as const];
    expect(scopesFor(grants, "viewer")).toBeUndefined();
    expect(scopesFor(grants, "operator")).toEqual([{ workspaces: ["team"] }]);
    expect(scopesFor(grants, "approver")).toEqual([]);
    expect(roleFor(grants, [workspace("team", EU)])).toBe("operator");
    expect(roleFor(grants, [workspace("team", EU), workspace("other", EU)])).toBe("viewer");
    expect(roleFor([{ role: "approver", scope: { workspaces: ["team"] } }], [])).toBeUndefined();
    expect(roleFor([], [workspace("team", EU)])).toBeUndefined();
  });

  it("is said in words", () => {
    expect(scopesText([{ workspaces: ["a", "b-*"] }, { classes: [EU] }, { classes: [EU], workspaces: ["c"] }])).toBe(
      "workspaces a, b-*; classes eu/shared/public; workspaces c of the classes eu/shared/public",
    );
  });
});

describe("mappings", () => {
  const mapping = (role: "viewer" | "operator" | "approver", groups: readonly string[], scope?: object) => ({
    ...{ role, groups, names: [] },
    ...(scope === undefined ? {} : { scope }),
  });

  it("give the highest role first, and leave out what another includes", () => {
    const mappings = [
      mapping("viewer", ["a"]),
      mapping("operator", ["a"]),
      mapping("operator", ["b"]),
      mapping("approver", ["c"], { classes: ["x", "y"] }),
      mapping("operator", ["c"], { classes: ["y", "x"] }),
      mapping("viewer", ["c"], { classes: ["z"] }),
    ];
    expect(grantsFor(mappings, { name: "n", groups: ["a", "b"] })).toEqual([{ role: "operator" }]);
    expect(grantsFor(mappings, { name: "n", groups: ["c"] })).toEqual([
      { role: "approver", scope: { classes: ["x", "y"] } },
      { role: "viewer", scope: { classes: ["z"] } },
    ]);
    expect(grantsFor(mappings, { name: "n", groups: ["c", "a"] })).toEqual([
      { role: "approver", scope: { classes: ["x", "y"] } },
      { role: "operator" },
    ]);
    expect(grantsFor(mappings, { name: "a", groups: ["A", "a "] })).toEqual([]);
  });
});
