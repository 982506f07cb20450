import { afterEach, beforeEach, describe, test } from "vitest";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { passes } from "../testing/until.ts";
import { startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

describe("the role that deployments are made under", () => {
  test.each([403, 500])("is read again after the API server answered %i, as one does that has just been started", async (status) => {
    const clock = createVirtualClock();
    const observations = () =>
      world.apiServer.requests().filter(({ method, url }) => method === "GET" && url.endsWith("/clusterroles/argosy-deployer")).length;
    world.apiServer.faults.fail({ method: "GET", path: /\/clusterroles\/argosy-deployer$/, status });
    await world.startReconciler(undefined, { clock });
    await passes({ clock, withinMs: 600_000 }, "it was read again and again", () => observations() >= 3);
  });
});
