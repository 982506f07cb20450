import { expect, it } from "vitest";
import { openModelStage } from "../testing/model-stage.ts";
import { SCRIPTS } from "./scripts.ts";

it.each(SCRIPTS)("the model plays twice with the same outcome: $name", async ({ play }) => {
  const observations = await play(await openModelStage());
  expect(observations.length).toBeGreaterThan(0);
  expect(await play(await openModelStage())).toEqual(observations);
});
