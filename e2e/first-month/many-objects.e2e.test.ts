import { describe, expect } from "vitest";
import { configMapFile, type DeploymentResource, IS_LONG } from "../world.ts";
import { story } from "./story.ts";

const COUNT = 2_000;
/** Argo CD applies some dozens of objects per second on a small machine. */
const TIMEOUT_MS = 10 * 60_000;

type Shown = DeploymentResource["status"] & { readonly resourceCount?: number };

/** In its own file: it takes the instance's whole controller, which would leave nothing to stories beside it. */
describe.runIf(IS_LONG)("a first month with many objects", () => {
  story("two thousand objects are deployed, and the status lists the first 500 and says how many there are", "many", async (user) => {
    const files = Array.from({ length: COUNT }, (_, index) => [`app/${index}.yaml`, configMapFile(`many-${index}`, {})] as const);
    await user.push(Object.fromEntries(files));
    await user.deploy();
    const status = (await user.ready(undefined, TIMEOUT_MS)).status as Shown;
    expect(status.resourceCount).toBe(COUNT);
    expect(status.resources).toHaveLength(500);
  });
});
