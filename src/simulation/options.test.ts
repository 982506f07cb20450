import { describe, expect, it } from "vitest";
import { parseSimulateOptions, renderHelp } from "./options.ts";

describe("arguments of the simulation", () => {
  it("have defaults, and take every option", () => {
    expect(parseSimulateOptions([])).toEqual({
      scenario: "steady",
      seed: 1,
      seeds: 1,
      output: "text",
      isHunt: false,
      help: false,
      moves: undefined,
      addUp: undefined,
    });
    expect(parseSimulateOptions(["--marathon"])).toMatchObject({ scenario: "move-marathon", moves: 1_000 });
    expect(parseSimulateOptions(["--marathon", "--moves", "5", "--scenario", "move-one"])).toMatchObject({
      scenario: "move-one",
      moves: 5,
    });
    expect(parseSimulateOptions(["--add-up", "parts.jsonl"])).toMatchObject({ addUp: "parts.jsonl" });
    expect(parseSimulateOptions(["--moves", "20000"])).toMatchObject({ moves: 20_000 });
    expect(parseSimulateOptions(["--scenario", "burst", "--seed", "42", "--seeds", "3", "-o", "json", "--hunt"])).toMatchObject({
      ...{ scenario: "burst", seed: 42, seeds: 3, output: "json", isHunt: true },
    });
  });

  it.each([[["--seed", "0"]], [["--seed", "many"]], [["-o", "yaml"]], [["--moves", "some"]], [["--speed", "9"]], [["burst"]]])(
    "refuse %j with a remedy",
    (args) => {
      expect(() => parseSimulateOptions(args)).toThrow(
        expect.objectContaining({ code: "simulation.arguments", remedy: expect.any(String) }),
      );
    },
  );

  it("explain themselves, scenarios included", () => {
    expect(renderHelp([{ name: "burst", about: "Everybody at once." }])).toContain("burst                Everybody at once.");
  });
});
