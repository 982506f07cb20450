import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, serveApi } from "../api/testing/served.ts";
import { aDecision, aFleet, anInstance, anIntent } from "../store/testing/builders.ts";
import { runCommand } from "./testing/run-command.ts";

describe("orders on the command line", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serveApi();
    const signal = AbortSignal.timeout(60_000);
    await served.store.intents.recordDeployments([anIntent({ namespace: "shop" })], signal);
    await served.store.fleet.insertInstance(anInstance({ name: "standard-1" }), aDecision(), signal);
    await served.store.fleet.applyFleet(aFleet(), "ada", signal);
  });
  afterAll(() => served.close());
  const run = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") });

  it.each([
    [["pin", "shop", "--to", "standard-1", "--reason", "gpu"], "workspace shop is pinned to standard-1"],
    [["pin", "shop", "--pool", "standard"], "workspace shop is pinned to pool standard"],
    [["pin", "shop", "--none"], "workspace shop may live on any instance of its class"],
    [["hold", "shop", "--none"], "workspace shop may be moved"],
    [
      ["assign", "shop", "--class", "eu/shared/public", "--reason", "its own word"],
      "workspace shop has class eu/shared/public; `argosy explain shop` shows how it gets there",
    ],
    [["assign", "shop", "--none"], "workspace shop has the class that labels of its namespace ask for"],
    [["cordon", "standard-1"], "instance standard-1 takes no new units; what it holds stays"],
    [["cordon", "standard-1"], "instance standard-1 takes no new units; what it holds stays, as before"],
    [["uncordon", "standard-1"], "instance standard-1 takes units again"],
    [["freeze", "create", "launch", "--for", "4h"], "nothing is moved that need not be: 4h from now"],
    [
      ["freeze", "create", "weekend", "--for", "62h", "--schedule", "0 18 * * 5"],
      "nothing is moved that need not be: 2d14h each time 0 18 * * 5 (UTC) comes",
    ],
  ])("%j says %j", async (args, out) => expect(await run(...args)).toEqual({ out, err: "", code: 0 }));

  it("says until when a workspace is held, and gives every field to programs", async () => {
    expect((await run("hold", "shop", "--for", "1d", "--reason", "demo")).out).toMatch(
      /^workspace shop is not moved before \S+ unless it must be$/,
    );
    const { out } = await run("hold", "shop", "--for", "1d", "--reason", "demo", "-o", "json");
    expect(JSON.parse(out)).toMatchObject({ pin: null, hold: { actor: "otto", reason: "demo" } });
  });

  it("lists freezes and takes them back", async () => {
    expect((await run("freeze", "list")).out).toMatch(/^NAME +BEGINS +LASTS +BY +REASON\nlaunch +\S+ +4h +otto +no reason given\nweekend/);
    expect(await run("freeze", "delete", "launch")).toEqual({ out: "", err: "freeze launch deleted", code: 0 });
    expect(JSON.parse((await run("freeze", "delete", "weekend", "-o", "json")).out)).toEqual({ freeze: "weekend", deleted: true });
    expect(await run("freeze", "delete", "launch")).toMatchObject({
      err: "there is no freeze launch; `argosy freeze list` lists them",
      code: 1,
    });
  });

  it.each([
    [["pin", "shop"], 2, "--to, --pool, --none: say exactly one thing. Give one of --to, --pool, --none."],
    [["pin", "shop", "--to", "a", "--none"], 2, "--to, --pool, --none: say exactly one thing. Give one of --to, --pool, --none."],
    [["hold", "shop", "--for", "long"], 2, "--for: long is no length of time. Give one like 90m, 4h or 7d."],
    [["pin", "shop", "--pool", "x"], 1, "pin: pool x has no instance that serves. Choose one of `argosy get instances` that is ACTIVE"],
    [["assign", "shop"], 2, "--class, --none: say exactly one thing. Give one of --class, --none."],
    [
      ["assign", "shop", "--class", "eu/shared/publik"],
      1,
      "class: eu/shared/publik is the class of no pool. Did you mean eu/shared/public?",
    ],
    [["pin", "nobody", "--pool", "x"], 1, "there is no workspace nobody; `argosy get workspaces` lists them"],
    [["cordon", "nobody"], 1, "there is no instance nobody; `argosy get instances` lists them"],
  ])("answers %j with exit code %i and what to do", async (args, code, err) => {
    expect(await run(...args)).toEqual({ out: "", err, code });
  });
});
