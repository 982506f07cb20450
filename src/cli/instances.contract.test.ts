import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { idleDeps, type Served, serveApi } from "../api/testing/served.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { aDecision, aFleet, anInstance, aPool } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

describe("argosy instance", () => {
  let served: Served;
  const signal = AbortSignal.timeout(60_000);
  beforeAll(async () => {
    served = await serveApi((store) => ({ ...idleDeps(store), planFleet }));
    await served.store.fleet.applyFleet(aFleet({ pools: [{ ...aPool("standard"), instances: { min: 1, max: 2 } }] }), "ada", signal);
    const instance = anInstance({ name: "standard-1", class: "eu/shared/public" });
    await served.store.fleet.insertInstance(instance, aDecision({ subject: instance.id }), signal);
  });
  afterAll(() => served.close());
  const run = (...args: readonly string[]) =>
    runCommand(["instance", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") });

  it("says what a creation comes to, and what to write into fleet.yaml", async () => {
    expect(await run("create", "standard-2", "--dry-run")).toMatchObject({
      code: 0,
      out: [
        "instance standard-2 would be asked for",
        "pool standard would ask for 2 instances instead of 1",
        "then write instances.min: 2 into fleet.yaml, or the next `argosy apply -f`",
        "  takes it back",
        "nothing was done",
      ].join("\n"),
    });
    expect((await run("create", "standard-2")).out).toContain("instance standard-2 is asked for");
    expect(JSON.parse((await run("create", "standard-2", "-o", "json")).out)).toMatchObject({ change: "none", min: null });
  });

  it("says what a deletion comes to, and fails where it is refused", async () => {
    expect((await run("delete", "standard-1", "--reason", "odd disk")).out).toContain("instance standard-1 is let go");
    expect(await run("delete", "nobody")).toMatchObject({ code: 1, out: "", err: expect.stringContaining("there is no instance nobody") });
  });
});
