import { describe, expect, it } from "vitest";
import { parseFleetText } from "./apply.ts";
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
