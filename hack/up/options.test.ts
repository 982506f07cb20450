import { describe, expect, it } from "vitest";
import { InputError } from "../../src/domain/errors.ts";
import { parseDownOptions, parseUpOptions } from "./options.ts";

function refusalOf(parse: () => unknown): InputError {
  try {
    parse();
  } catch (error) {
    if (error instanceof InputError) return error;
  }
  throw new Error("not refused");
}

describe("options of up", () => {
  it("have defaults that need no argument", () => {
    expect(parseUpOptions([])).toEqual({
      ...{
        state: ".argosy",
        kubeconfig: undefined,
        yes: false,
        kind: false,
        realNode: false,
        exitWhenReady: false,
        detach: false,
        help: false,
      },
    });
  });

  it("are taken in both spellings", () => {
    const given = parseUpOptions(["--state=/a b", "--kubeconfig", "k", "--yes", "--exit-when-ready"]);
    expect(given).toMatchObject({ state: "/a b", kubeconfig: "k", yes: true, exitWhenReady: true });
    expect(parseUpOptions(["--node", "real"])).toMatchObject({ realNode: true });
    expect(parseUpOptions(["--node=processes"])).toMatchObject({ realNode: false });
  });

  it.each([
    [["--bogus"], /--bogus/],
    [["extra"], /extra/],
    [["--state"], /--state/],
    [["--state", ""], /--state is empty/],
    [["--kubeconfig="], /--kubeconfig is empty/],
    [["--yes=no"], /--yes/],
    [["--kind", "--kubeconfig", "k"], /exclude each other/],
    [["--detach", "--exit-when-ready"], /exclude each other/],
    [["--node", "virtual"], /--node virtual is none of processes, real/],
    [["--node="], /--node is empty/],
    [["--node", "real", "--kind"], /--node and --kind exclude each other/],
    [["--node", "real", "--kubeconfig", "k"], /--node and --kubeconfig exclude each other/],
  ])("%j are refused in one sentence that leads to the help", (args, message) => {
    const error = refusalOf(() => parseUpOptions(args));
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain("\n");
    expect([error.code, error.remedy]).toEqual(["up.options", "`npm run up -- --help` lists the options"]);
  });
});

describe("options of down", () => {
  it("are the directory and the help", () => {
    expect(parseDownOptions([])).toEqual({ state: ".argosy", help: false });
    expect(parseDownOptions(["--state", "x"])).toEqual({ state: "x", help: false });
  });

  it.each([[["--yes"]], [["--state="]], [["x"]]])("%j are refused", (args) => {
    expect(refusalOf(() => parseDownOptions(args)).path).toBe("npm run down");
  });
});
