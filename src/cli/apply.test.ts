import { describe, expect, it } from "vitest";
import { parseFleetText, renderApplied } from "./apply.ts";
import { errorText } from "./error-text.ts";

describe("reading a fleet file", () => {
  it("returns the document as it stands", () => {
    expect(parseFleetText("kind: Fleet\npools: []\n", "fleet.yaml")).toEqual({ kind: "Fleet", pools: [] });
  });

  it.each([
    ["nothing", ""],
    ["two documents", "a: 1\n---\nb: 2\n"],
    ["broken YAML", "a: [1\n"],
  ])("refuses %s and names the file", (_what, text) => {
    expect(() => parseFleetText(text, "fleet.yaml")).toThrowError(expect.objectContaining({ path: "fleet.yaml", code: "cli.not-yaml" }));
  });
});

it("names every mistake of the YAML at once", () => {
  const text = "kind: Fleet\nkind: Fleet\npools: []\nversions: {default: 1, default: 2}\n";
  const message = errorText(catchError(() => parseFleetText(text, "fleet.yaml")));
  for (const place of ["line 2, column 1", "line 4, column 24"]) expect(message).toContain(place);
  expect(message).toMatch(/\n *\^+\nGive one YAML document of kind Fleet\.$/);
});

describe("telling what an apply changed", () => {
  it("marks what comes, goes and changes, with the fields that differ", () => {
    const changes = [
      { path: "pools.a", change: "changed" as const, fields: [{ path: "instances.min", before: "1", after: "2" }] },
      { path: "pools.b", change: "added" as const, fields: [] },
      { path: "pools.c", change: "removed" as const, fields: [] },
    ];
    const instances = [
      { instance: "c-1", pool: "c", change: "retired" as const, units: 0, reason: "its pool was removed from fleet.yaml" },
      { instance: "c-2", pool: "c", change: "waits" as const, units: 2, reason: "its pool was removed from fleet.yaml" },
    ];
    expect(
      renderApplied({
        revision: 3,
        changed: true,
        dryRun: true,
        pools: ["a", "b"],
        changes,
        instances,
        lostKinds: [{ group: "example.org", kind: "Widget", applications: 2 }],
        needs: [],
      }).split("\n"),
    ).toEqual([
      "fleet would change (revision 3 is in force)",
      "  ~ pools.a",
      "      instances.min: 1 → 2",
      "  + pools.b",
      "  - pools.c",
      "deployed now, and not allowed any more",
      "  Widget of example.org: 2 applications",
      "instances",
      "  c-1 is retired: its pool was removed from fleet.yaml",
      "  c-2 waits to be retired (holds 2 units): its pool was removed from fleet.yaml",
    ]);
  });

  it("says that nothing changed, and that nothing was declared before a first dry run", () => {
    expect(
      renderApplied({ revision: 3, changed: false, dryRun: false, pools: [], changes: [], instances: [], lostKinds: [], needs: [] }),
    ).toBe("fleet unchanged (revision 3 is in force)");
    expect(
      renderApplied({ revision: 0, changed: true, dryRun: true, pools: [], changes: [], instances: [], lostKinds: [], needs: [] }),
    ).toBe("fleet would change (none is declared yet)");
  });
});

describe("telling a person what failed", () => {
  it("gives the field, what is wrong and the remedy of an input error", () => {
    const error = catchError(() => parseFleetText("", "fleet.yaml"));
    expect(errorText(error)).toBe("fleet.yaml: expected exactly one document. Give one YAML document of kind Fleet.");
  });

  it("adds the causes of any other error once each", () => {
    expect(errorText(new Error("reading rows", { cause: new Error("connection refused") }))).toBe("reading rows (connection refused)");
    expect(errorText("text")).toBe("text");
  });
});

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}
