import { describe, expect, it } from "vitest";
import { InputError } from "../src/domain/errors.ts";
import { parseBenchOptions, renderHelp } from "./options.ts";

const MEASURES = ["P1", "P1b", "P2"].map((name) => ({ name, about: `what ${name} is` }));
const parse = (...args: readonly string[]) => parseBenchOptions(args, MEASURES);

describe("the options of the bench", () => {
  it("select every measure at one size by default", () => {
    expect(parse()).toMatchObject({ names: ["P1", "P1b", "P2"], applications: [200], engine: "scripted", compare: undefined, help: false });
  });

  it("put measures into their own order, and ignore upper and lower case", () => {
    expect(parse("p2", "P1B").names).toEqual(["P1b", "P2"]);
  });

  it("sort sizes and drop repeated ones", () => {
    expect(parse("--applications", "1000,200,1000").applications).toEqual([200, 1000]);
  });

  it.each([
    [["--compare"], "latest"],
    [["--compare", "--json", "x"], "latest"],
    [["--compare", "old.json"], "old.json"],
    [["P1", "--compare", "old.json", "--keep"], "old.json"],
  ])("compare by %j with %s", (args, expected) => {
    expect(parse(...args).compare).toBe(expected);
  });

  it.each([
    [["P7"], "P7 is no measure: use P1, P1b, P2"],
    [["--rate", "0"], "--rate is 0, not a number from 1 to 100000"],
    [["--applications", "200,many"], "--applications is many, not a number from 1 to 100000"],
    [["--burst", "1e3"], "--burst is 1e3, not a number from 1 to 100000"],
    [["--engine", "steam"], "--engine is steam, not scripted or argo-cd"],
    [["--nonsense"], /nonsense/],
  ])("refuse %j in words", (args, message) => {
    expect(() => parse(...args)).toThrow(InputError);
    expect(() => parse(...args)).toThrow(message);
  });

  it("are all in the help text", () => {
    const help = renderHelp(MEASURES);
    for (const { name, about } of MEASURES) expect(help).toContain(`${name.padEnd(4)} ${about}`);
    for (const option of Object.keys(parse()).filter((key) => !["names", "idleSeconds"].includes(key)))
      expect(help).toContain(`--${option}`);
  });
});
