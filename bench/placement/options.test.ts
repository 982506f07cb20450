import { describe, expect, it } from "vitest";
import { InputError } from "../../src/domain/errors.ts";
import { PARTS, parsePlacementOptions } from "./options.ts";

describe("the options of the bench of placement", () => {
  it("select everything with five seeds by default", () => {
    expect(parsePlacementOptions([])).toEqual({ parts: PARTS, seeds: 5, help: false });
  });

  it("put parts into their own order and drop repeated ones", () => {
    expect(parsePlacementOptions(["split", "events", "split", "--seeds", "2"])).toMatchObject({ parts: ["events", "split"], seeds: 2 });
  });

  it.each([["nothing"], ["--seeds=0"], ["--seeds=101"], ["--seeds=two"], ["--seeds"], ["--sedes=1"]])(
    "refuse %s with the remedy",
    (arg) => {
      expect(() => parsePlacementOptions([arg])).toThrow(InputError);
    },
  );
});
