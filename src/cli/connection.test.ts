import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findConnection, findDatabase, parseEnvFile } from "./connection.ts";

const emptyDirectory = () => mkdtempSync(join(tmpdir(), "argosy-cli-"));

describe("finding the fleet", () => {
  const stateOf = (lines: string) => {
    const state = emptyDirectory();
    writeFileSync(join(state, "env"), lines);
    return state;
  };
  const state = stateOf("ARGOSY_URL=http://file\nARGOSY_TOKEN=file\nARGOSY_DATABASE_URL=postgres://file\n");

  it("takes what was typed before the environment, and the environment before the usual state directory", () => {
    const env = { ARGOSY_URL: "http://env/", ARGOSY_TOKEN: "env" };
    expect(findConnection({ state, url: "http://flag", token: "flag" }, env)).toEqual({ url: "http://flag", token: "flag" });
    expect(findConnection({ state }, env)).toEqual({ url: "http://file", token: "file" });
    expect(findConnection({}, { ...env, ARGOSY_STATE: state })).toEqual({ url: "http://env", token: "env" });
    expect(findConnection({}, { ARGOSY_STATE: state })).toEqual({ url: "http://file", token: "file" });
  });

  it("sends the token of a directory nobody typed to the address found there only", () => {
    const env = { ARGOSY_STATE: state };
    expect(() => findConnection({ url: "http://elsewhere" }, env)).toThrowError(expect.objectContaining({ path: "ARGOSY_TOKEN" }));
    expect(findConnection({ url: "http://file" }, env)).toEqual({ url: "http://file", token: "file" });
    expect(findConnection({ url: "http://elsewhere", state }, {})).toEqual({ url: "http://elsewhere", token: "file" });
  });

  it.each(["nonsense", "ftp://x", "/v1"])("refuses %s as an address", (url) => {
    expect(() => findConnection({ url, token: "t" }, {})).toThrowError(expect.objectContaining({ code: "cli.url" }));
  });

  it("finds the database of tokens the same way", () => {
    const env = { DATABASE_URL: "postgres://env" };
    expect(findDatabase({ database: "postgres://flag", state }, env)).toBe("postgres://flag");
    expect(findDatabase({ state }, env)).toBe("postgres://file");
    expect(findDatabase({}, { ...env, ARGOSY_STATE: state })).toBe("postgres://env");
    expect(findDatabase({}, { ARGOSY_STATE: state })).toBe("postgres://file");
    expect(() => findDatabase({}, { ARGOSY_STATE: emptyDirectory() })).toThrowError(expect.objectContaining({ code: "cli.no-database" }));
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
