import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findConnection, parseEnvFile } from "./connection.ts";

const emptyDirectory = () => mkdtempSync(join(tmpdir(), "argosy-cli-"));

describe("finding the fleet", () => {
  it("takes flags before the environment and the environment before the state directory", () => {
    const state = emptyDirectory();
    writeFileSync(join(state, "env"), "ARGOSY_URL=http://file\nARGOSY_TOKEN=file\n");
    expect(findConnection({ state }, {})).toEqual({ url: "http://file", token: "file" });
    expect(findConnection({ state }, { ARGOSY_URL: "http://env/" })).toEqual({ url: "http://env", token: "file" });
    expect(findConnection({ state, url: "http://flag" }, { ARGOSY_URL: "http://env" })).toEqual({ url: "http://flag", token: "file" });
  });

  it("says which of address and token is missing and how to give it", () => {
    const env = { ARGOSY_STATE: emptyDirectory() };
    expect(() => findConnection({}, env)).toThrowError(
      expect.objectContaining({ path: "ARGOSY_URL", remedy: expect.stringContaining("npm run up") }),
    );
    expect(() => findConnection({ url: "http://x" }, env)).toThrowError(expect.objectContaining({ path: "ARGOSY_TOKEN" }));
  });

  it("refuses a state directory that was named but holds no fleet", () => {
    expect(() => findConnection({ state: emptyDirectory() }, { ARGOSY_URL: "http://x", ARGOSY_TOKEN: "y" })).toThrowError(
      expect.objectContaining({ code: "cli.no-state" }),
    );
  });

  it("reads NAME=value lines and skips everything else", () => {
    expect(parseEnvFile("# comment\n\nA=1\n B_2 = not a name\nC=x=y \nlower=no")).toEqual({ A: "1", C: "x=y" });
  });
});
