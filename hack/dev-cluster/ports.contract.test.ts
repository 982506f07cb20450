import { expect, it } from "vitest";
import { freePort, isFree } from "./ports.ts";

it("finds a port that nobody listens on", async () => {
  expect(await isFree(await freePort())).toBe(true);
});
