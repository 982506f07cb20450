import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { InputError, RefusedError, UnavailableError } from "../domain/errors.ts";
import { exitCodeOf } from "./exit-code.ts";

const refused = (code: string) => new RefusedError("is wrong", { code });
const input = (code: string) => new InputError("is wrong", { code, path: "x", remedy: "Mend it" });

describe("the exit code", () => {
  it.each([
    ["help that was asked for", new CommanderError(0, "commander.helpDisplayed", ""), 0],
    ["a missing command", new CommanderError(1, "commander.help", ""), 2],
    ["an unknown option", new CommanderError(1, "commander.unknownOption", ""), 2],
    ["a kind that does not exist", input("cli.resource"), 2],
    ["a value that the server refuses", refused("api.invalid-request"), 2],
    ["a beginning that means several ids", refused("api.ambiguous-id"), 2],
    ["a token that may not do this", refused("api.role"), 1],
    ["a document that is no YAML", input("cli.not-yaml"), 1],
    ["a server that is away", new UnavailableError("asking", { code: "cli.no-answer" }), 1],
    ["anything else", new TypeError("x"), 1],
  ])("of %s", (_what, error, code) => {
    expect(exitCodeOf(error)).toBe(code);
  });
});
