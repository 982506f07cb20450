import { describe, expect, it } from "vitest";
import { InputError } from "../../src/domain/errors.ts";
import { parseScaleOptions, SCALE_HELP } from "./options.ts";

describe("the options of the scale bench", () => {
  it("measure one and four processes on fifty instances at four sizes by default, with two workspaces for five applications", () => {
    expect(parseScaleOptions([])).toMatchObject({
      ...{ applications: [1_000, 5_000, 12_000, 25_000], workspaces: 10_000, instances: 50, replicas: [1, 4], resources: [1, 10, 30] },
      ...{
        idleSeconds: 60,
        creations: 60,
        history: 5,
        reconciliationSeconds: 120,
        probes: 32,
        only: ["idle", "latencies", "kill", "rolling"],
      },
      ...{ output: "table", keep: false, help: false },
    });
  });

  it("sort sizes and drop repeated ones", () => {
    const options = parseScaleOptions(["--applications", "500,100,500", "--replicas", "4,1", "--workspaces", "7"]);
    expect(options).toMatchObject({ applications: [100, 500], replicas: [1, 4], workspaces: 7 });
  });

  it("take parts in their order, compare with the latest result where no file is named, and print JSON", () => {
    expect(parseScaleOptions(["--only", "kill,idle", "--compare", "-o", "json"])).toMatchObject({
      ...{ only: ["idle", "kill"], compare: "latest", output: "json" },
    });
  });

  it.each([
    [["--only", "idle,sleep"], "--only is sleep, not one of idle, latencies, kill, rolling"],
    [["-o", "xml"], "--output is xml, not table or json"],
    [["--replicas", "1,none"], "--replicas is none, not a number from 1 to 100000"],
    [["--idle", "0"], "--idle is 0, not a number from 1 to 100000"],
    [["--nonsense"], /nonsense/],
    [["P1"], /P1/],
  ])("refuse %j in words", (args, message) => {
    expect(() => parseScaleOptions(args)).toThrow(InputError);
    expect(() => parseScaleOptions(args)).toThrow(message);
  });

  it("are all in the help text", () => {
    for (const option of Object.keys(parseScaleOptions([]))) expect(SCALE_HELP).toContain(`--${option.replace(/Seconds$/, "")}`);
  });
});
