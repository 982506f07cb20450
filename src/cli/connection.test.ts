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
  const state = stateOf("ARGOSY_URL=https://file\nARGOSY_TOKEN=file\nARGOSY_DATABASE_URL=postgres://file\n");

  it("takes what was typed before the environment, and the environment before the usual state directory", () => {
    const env = { ARGOSY_URL: "https://env/", ARGOSY_TOKEN: "env" };
    expect(findConnection({ state, url: "https://flag", token: "flag" }, env)).toEqual({ url: "https://flag", token: "flag" });
    expect(findConnection({ state }, env)).toEqual({ url: "https://file", token: "file" });
    expect(findConnection({}, { ...env, ARGOSY_STATE: state })).toEqual({ url: "https://env", token: "env" });
    expect(findConnection({}, { ARGOSY_STATE: state })).toEqual({ url: "https://file", token: "file" });
  });

  it("sends the token of a directory nobody typed to the address found there only", () => {
    const env = { ARGOSY_STATE: state };
    expect(() => findConnection({ url: "https://elsewhere" }, env)).toThrowError(expect.objectContaining({ path: "ARGOSY_TOKEN" }));
    expect(findConnection({ url: "https://file" }, env)).toEqual({ url: "https://file", token: "file" });
    expect(findConnection({ url: "https://elsewhere", state }, {})).toEqual({ url: "https://elsewhere", token: "file" });
  });

  it("reads a token from a file anew each time, as that of a pod's account is replaced", () => {
    const file = join(emptyDirectory(), "token");
    writeFileSync(file, "first\n");
    const connection = findConnection({ url: "https://flag", tokenFile: file }, { ARGOSY_TOKEN: "env" });
    expect(connection).toMatchObject({ url: "https://flag", token: "first" });
    writeFileSync(file, "second\n");
    expect(connection.readToken?.()).toBe("second");
    expect(findConnection({ url: "https://flag" }, { ARGOSY_TOKEN_FILE: file }).token).toBe("second");
    expect(findConnection({ url: "https://flag" }, { ARGOSY_TOKEN_FILE: file, ARGOSY_TOKEN: "env" })).toEqual({
      url: "https://flag",
      token: "env",
    });
    expect(findConnection({ url: "https://flag", token: "flag" }, { ARGOSY_TOKEN_FILE: file })).toEqual({
      url: "https://flag",
      token: "flag",
    });
  });

  it("refuses a file that is not there, holds no token, or stands beside a token", () => {
    const file = join(emptyDirectory(), "token");
    const refused = expect.objectContaining({ code: "cli.token-file", path: "--token-file" });
    expect(() => findConnection({ url: "https://flag", tokenFile: file }, {})).toThrowError(refused);
    for (const text of ["", "\n", "two words", "two\nlines"]) {
      writeFileSync(file, text);
      expect(() => findConnection({ url: "https://flag", tokenFile: file }, {})).toThrowError(refused);
    }
    expect(() => findConnection({ url: "https://flag", tokenFile: file, token: "t" }, {})).toThrowError(refused);
  });

  it.each(["nonsense", "ftp://x", "/v1"])("refuses %s as an address", (url) => {
    expect(() => findConnection({ url, token: "t" }, {})).toThrowError(expect.objectContaining({ code: "cli.url" }));
  });

  it.each([
    "http://127.0.0.1:8080",
    "http://127.9.9.9",
    "http://localhost:8080",
    "http://LOCALHOST",
    "http://[::1]:8080",
    "http://127.1",
    "https://argosy.example",
  ])("sends a token to %s", (url) => expect(findConnection({ url, token: "t" }, {})).toEqual({ url, token: "t" }));

  it.each(
    [
      [
        "http://argosy.example",
        "http://10.0.0.1:8080",
        "http://[fe80::1]",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
      ],
      ["HTTP://argosy.example", "http://localhost@evil.example", "http://0.0.0.0", "http:\\\\argosy.example", "http://2130706434.example"],
    ].flat(),
  )("sends no token in plain HTTP to %s unless somebody insists", (url) => {
    expect(() => findConnection({ url, token: "t" }, {})).toThrowError(
      expect.objectContaining({ code: "cli.plain-http", remedy: expect.stringContaining("--insecure-plain-http") }),
    );
    expect(() => findConnection({ url, token: "t" }, { ARGOSY_INSECURE_PLAIN_HTTP: "false" })).toThrowError();
    expect(findConnection({ url, token: "t", insecurePlainHttp: true }, {})).toMatchObject({ token: "t" });
    expect(findConnection({ url, token: "t" }, { ARGOSY_INSECURE_PLAIN_HTTP: "true" })).toMatchObject({ token: "t" });
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
    expect(() => findConnection({ url: "https://x" }, env)).toThrowError(expect.objectContaining({ path: "ARGOSY_TOKEN" }));
  });

  it("refuses a state directory that was named but holds no fleet", () => {
    expect(() => findConnection({ state: emptyDirectory() }, { ARGOSY_URL: "https://x", ARGOSY_TOKEN: "y" })).toThrowError(
      expect.objectContaining({ code: "cli.no-state" }),
    );
  });

  it("reads NAME=value lines and skips everything else", () => {
    expect(parseEnvFile("# comment\n\nA=1\n B_2 = not a name\nC=x=y \nlower=no")).toEqual({ A: "1", C: "x=y" });
  });
});
