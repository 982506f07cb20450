import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { planningDeps } from "../api/testing/planning-deps.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import { systemClock } from "../runtime/clock.ts";
import { type PlannedFleet, plannedFleet } from "../scheduler/testing/fleet.ts";
import { aDecision } from "../store/testing/builders.ts";
import { deployOne } from "./testing/deploy-one.ts";
import { runCommand } from "./testing/run-command.ts";

describe("moving a workspace from the command line", () => {
  let served: Served;
  let fleet: PlannedFleet;
  let namespace: string;
  beforeEach(async () => {
    served = await serveApi(planningDeps);
    fleet = await plannedFleet(served.store, systemClock);
    namespace = await deployOne(served, fleet);
  });
  afterEach(() => served.close());
  const soon = () => AbortSignal.timeout(10_000);
  const run = (...args: readonly string[]) =>
    runCommand(["move", ...args], { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") });

  it("ends with 0 for a dry run that nothing speaks against, and with 1 for one that would be refused", async () => {
    expect(await run(namespace, "--to", "standard-2", "--dry-run")).toMatchObject({
      ...{ code: 0, out: expect.stringContaining("can be moved from standard-1 to standard-2; nothing was done") },
    });
    for (const output of ["table", "json"])
      expect(await run(namespace, "--to", "standard-1", "--dry-run", "-o", output)).toMatchObject({ code: 1, err: "" });
    expect(await served.store.moves.list({}, 1, soon())).toEqual([]);
  });

  it("ends with 0 where it is not followed, and with 1 where it is given up", async () => {
    expect(await run(namespace, "--to", "standard-2", "--no-wait")).toMatchObject({ code: 0, out: expect.stringContaining(": WAITING") });
    const [move] = await served.store.moves.list({ isLive: true }, 1, soon());
    if (move === undefined) throw new Error("there is no live move");
    await served.store.moves.abort(move.id, { message: "because", decision: aDecision() }, soon());
    const again = run(namespace, "--to", "standard-2");
    await expect.poll(() => served.store.moves.list({ isLive: true }, 1, soon()), { timeout: 10_000 }).toHaveLength(1);
    const [second] = await served.store.moves.list({ isLive: true }, 1, soon());
    await served.store.moves.abort(second?.id ?? move.id, { message: "the target went", decision: aDecision() }, soon());
    expect(await again).toMatchObject({ code: 1, out: expect.stringContaining("not made, the target went") });
  });

  const argosy = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token("operator") });

  it("is watched again by any unique beginning of its id, and described with who asked for it and why", async () => {
    await run(namespace, "--to", "standard-2", "--reason", "near its data", "--no-wait");
    const [move] = await served.store.moves.list({ isLive: true }, 1, soon());
    const id = move?.id ?? "";
    const [asked] = await served.store.decisions.list({ kind: "placement" }, 1, soon());
    expect(asked).toMatchObject({ verdict: "MOVE_REQUESTED", details: { actor: "otto", reason: "near its data" } });
    const shown = JSON.parse((await argosy("describe", "move", id.slice(0, 18), "-o", "json")).out);
    expect(shown).toMatchObject({ id, workspace: namespace, actor: "otto", phase: "WAITING" });
    const watching = argosy("moves", id.slice(0, 18));
    await served.store.moves.abort(move!.id, { message: "because", decision: aDecision() }, soon());
    const seen = await watching;
    expect(seen).toMatchObject({ code: 1, out: expect.stringContaining("not made, because") });
    expect(seen.err).toContain("ABORTED: because");
    expect(await argosy("describe", "move", "ffff")).toMatchObject({ code: 1, err: expect.stringContaining("there is no move ffff") });
  });

  it("names the moves that a beginning could mean, and takes none of them", async () => {
    for (const how of [["--to", "standard-2", "--no-wait"]]) {
      await run(namespace, ...how);
      const [move] = await served.store.moves.list({ isLive: true }, 1, soon());
      await run("abort", move?.id ?? "");
      await run(namespace, ...how);
    }
    const ids = (await served.store.moves.list({}, 10, soon())).map(({ id }) => id);
    const { err, code } = await run("abort", ids[0]?.slice(0, 6) ?? "");
    expect(code).toBe(2);
    for (const id of ids) expect(err).toContain(id);
    expect(await served.store.moves.list({ isLive: true }, 10, soon())).toHaveLength(1);
  });
});
