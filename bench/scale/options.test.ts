import { describe, expect, it } from "vitest";
import { InputError } from "../../src/domain/errors.ts";
import { parseScaleOptions, SCALE_HELP } from "./options.ts";

describe("the options of the scale bench", () => {
  it("measure one process on fifty instances at two sizes by default, with two workspaces for five applications", () => {
    expect(parseScaleOptions([])).toMatchObject({
      ...{ applications: [1_000, 5_000], workspaces: 2_000, instances: 50, replicas: [1], resources: [1, 10, 30] },
      ...{ idleSeconds: 60, creations: 60, keep: false, help: false },
    });
  });

  it("sort sizes and drop repeated ones", () => {
    const options = parseScaleOptions(["--applications", "500,100,500", "--replicas", "4,1", "--workspaces", "7"]);
    expect(options).toMatchObject({ applications: [100, 500], replicas: [1, 4], workspaces: 7 });
  });

  it.each([
    [["--replicas", "1,none"], "--replicas is none, not a number from 1 to 100000"],
    [["--idle", "0"], "--idle is 0, not a number from 1 to 100000"],
    [["--nonsense"], /nonsense/],
    [["P1"], /P1/],
  ])("refuse %j in words", (args, message) => {
    expect(() => parseScaleOptions(args)).toThrow(InputError);
    expect(() => parseScaleOptions(args)).toThrow(message);
  });

  it("are all in the help text", () => {
    for (const option of Object.keys(parseScaleOptions([])))
      expect(SCALE_HELP).toContain(`--${option === "idleSeconds" ? "idle" : option}`);
  });
});
