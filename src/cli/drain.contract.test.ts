import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DrainView } from "../api/routes/drains.ts";
import { planningDeps } from "../api/testing/planning-deps.ts";
import { type Served, serveApi } from "../api/testing/served.ts";
import type { MoveId } from "../domain/ids.ts";
import type { MovePhase } from "../domain/move.ts";
import { systemClock } from "../runtime/clock.ts";
import { type PlannedFleet, plannedFleet } from "../scheduler/testing/fleet.ts";
import { aDecision } from "../store/testing/builders.ts";
import { drainInstance, drainLines } from "./drain.ts";
import { createNotifications } from "./follow.ts";
import { createRestClient, type RestClient } from "./rest-client.ts";
import { deployOne } from "./testing/deploy-one.ts";
import { runCommand } from "./testing/run-command.ts";

const BEFORE: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];
const AFTER: readonly MovePhase[] = ["GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"];

describe("emptying an instance from the command line", () => {
  let served: Served;
  let fleet: PlannedFleet;
  beforeEach(async () => {
    served = await serveApi(planningDeps);
    fleet = await plannedFleet(served.store, systemClock);
  });
  afterEach(() => served.close());
  const soon = () => AbortSignal.timeout(10_000);
  const runAs = (role: "operator" | "approver", ...args: readonly string[]) =>
    runCommand(args, { ARGOSY_URL: served.url, ARGOSY_TOKEN: served.token(role) });
  const drain = (...args: readonly string[]) => runAs("approver", "drain", "standard-1", ...args);
  const stateOf = async () => (await served.store.fleet.readInstance(fleet.full.id, soon()))?.state;
  const onlyMove = async (): Promise<MoveId> => {
    const [move] = await served.store.moves.list({ isLive: true }, 1, soon());
    if (move === undefined) throw new Error("there is no live move");
    return move.id;
  };
  const goThrough = async (id: MoveId, phases: readonly MovePhase[]) => {
    for (const [index, from] of phases.entries()) {
      const to = phases[index + 1];
      if (to !== undefined) await served.store.moves.advance(id, { from, to, message: "" }, soon());
    }
  };
  const finish = async (id: MoveId) => {
    await goThrough(id, BEFORE);
    await served.store.moves.commit(id, aDecision(), soon());
    await goThrough(id, AFTER);
  };

  it("says in a dry run where everything would go, and does nothing", async () => {
    const { out, code } = await drain("--dry-run");
    expect(code).toBe(0);
    expect(out).toContain("emptying standard-1");
    expect(out).toContain("shop-00: standard-1 → standard-2, FORCED");
    expect(out).toMatch(/nothing was done\n?$/);
    expect(await stateOf()).toBe("ACTIVE");
    expect(await served.store.plans.list({}, 10, soon())).toEqual([]);
    const seen = JSON.parse((await drain("--dry-run", "-o", "json")).out);
    expect(seen).toMatchObject({ instance: "standard-1", state: "ACTIVE", approval: ["WORKSPACES"] });
    expect(seen.moves).toHaveLength(18);
  });

  it("needs an approver where it moves much, and one that serves", async () => {
    expect(await runAs("operator", "drain", "standard-1")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "18 of 18 workspaces, an operator may move 5, or 10 %): token otto has role operator, this needs approver; `argosy token create NAME --role approver` makes such a token",
      ),
    });
    expect(await stateOf()).toBe("ACTIVE");
    const { id } = await fleet.world.addInstance({ name: "standard-3", state: "WARMING" });
    expect(await runAs("approver", "drain", "standard-3")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is WARMING: only one that serves can be emptied"),
    });
    expect((await served.store.fleet.readInstance(id, soon()))?.state).toBe("WARMING");
  });

  it("ends a dry run with 1 and names who stays where nothing can leave", async () => {
    const { store } = served;
    const { id, revision, reason, attempt } = fleet.roomy;
    const capacity = { ...fleet.roomy.capacity, applications: 0 };
    await store.fleet.changeInstance(
      { id, revision, state: "ACTIVE", reason, cause: undefined, attempt, capacity, decision: undefined },
      soon(),
    );
    const { out, code } = await drain("--dry-run");
    expect(code).toBe(1);
    expect(out).toContain("18 workspaces cannot leave now: no instance can take them");
    expect(out).toMatch(/nothing was done\n?$/);
    const { out: json, code: jsonCode } = await drain("--dry-run", "-o", "json");
    expect(jsonCode).toBe(1);
    const seen = JSON.parse(json) as { readonly moves: unknown[]; readonly stay: readonly { workspace: string; why: string }[] };
    expect(seen).toMatchObject({ moves: [], refusal: null });
    expect(seen.stay).toHaveLength(18);
    expect(seen.stay[0]).toMatchObject({ workspace: "shop-00", why: expect.stringContaining("no instance can take it") });
  });

  it("refuses to empty the last instance that takes workspaces, and says what to do first", async () => {
    await runAs("operator", "cordon", "standard-2");
    for (const args of [[], ["--fail-over"]]) {
      const { err, code } = await drain(...args);
      expect(code).toBe(1);
      expect(err).toContain("standard-1 is the last instance of class eu/shared/public that takes workspaces");
      expect(err).toContain("`argosy uncordon standard-2`");
      expect(err).toContain("--force");
    }
    expect(await drain("--dry-run")).toMatchObject({ code: 1, out: expect.stringContaining("`argosy uncordon standard-2`") });
    expect(await stateOf()).toBe("ACTIVE");
    expect(JSON.parse((await drain("--force", "--no-wait", "-o", "json")).out)).toMatchObject({ state: "DRAINING", units: 18 });
    expect(await stateOf()).toBe("DRAINING");
    // One that is being emptied is gone on with, whoever is left.
    expect((await drain("--no-wait", "-o", "json")).err).toBe("");
  });

  it("names who stays because of a pin, and what to do, while it is followed and in the end", async () => {
    const namespace = await deployOne(served, fleet);
    await runAs("approver", "pin", namespace, "--to", "standard-1", "--reason", "near its data");
    const { out, err, code } = await drain();
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`${namespace}.*, left: no instance can take it; .*pinned to standard-1`));
    expect(out).toContain("standard-1 is DRAINING and has 1 left: nothing of it is under way");
    expect(await drain("--dry-run")).toMatchObject({ code: 1, out: expect.stringContaining("1 workspace cannot leave now") });
  });

  it("empties one of two that are ordered at the same moment", async () => {
    for (const each of [fleet.full, fleet.roomy]) expect(each.state).toBe("ACTIVE");
    const outcomes = await Promise.all([drain("--no-wait"), runAs("approver", "drain", "standard-2", "--no-wait")]);
    expect(outcomes.filter(({ err }) => err.includes("is the last instance"))).toHaveLength(1);
    const states = (await served.store.fleet.listInstances(soon())).map(({ state }) => state);
    expect(states.toSorted((a, b) => a.localeCompare(b))).toEqual(["ACTIVE", "DRAINING"]);
  });

  it("moves what is not deployed at once, ends with 0 and leaves the instance to be retired", async () => {
    const { out, code } = await drain("--reason", "old disk");
    expect(code).toBe(0);
    expect(out).toContain("instance standard-1 is empty (DRAINING)");
    const row = await served.store.fleet.readInstance(fleet.full.id, soon());
    expect(row).toMatchObject({ state: "DRAINING", reason: "drained by anna: old disk" });
    const [decision] = await served.store.decisions.list({ subject: fleet.full.id, kind: "instance" }, 1, soon());
    expect(decision).toMatchObject({ verdict: "DRAINING", rule: "COMMAND", details: { actor: "anna" } });
    expect((await served.store.fleet.countUnits(soon())).get(fleet.roomy.id)).toBe(18);
  });

  it("follows live moves to their end, also of one that is being emptied already, and asks for each once", async () => {
    await deployOne(served, fleet);
    const seen = [drain()];
    await expect.poll(onlyMove, { timeout: 10_000 }).toBeTruthy();
    const id = await onlyMove();
    seen.push(drain());
    await served.store.moves.begin(id, soon());
    await finish(id);
    for (const { out, code } of await Promise.all(seen)) {
      expect(code).toBe(0);
      expect(out).toContain("instance standard-1 is empty");
    }
    expect(await served.store.moves.list({}, 10, soon())).toHaveLength(1);
  });

  it("tells each change of what is under way once, and what was refused and why", async () => {
    const step = {
      unit: "u",
      workspace: "shop",
      from: "a",
      to: "b",
      state: "refused",
      why: "b has no room",
      move: null,
      phase: null,
      phaseMs: null,
    } as const;
    const view: DrainView = {
      ...{
        instance: "a",
        state: "DRAINING",
        units: 2,
        failOver: false,
        budget: 8,
        moved: 3,
        underWay: 1,
        waiting: 0,
        refused: 1,
        longestGapMs: 2_340,
      },
      ...{ phases: [{ phase: "REVOKE", moves: 1 }], steps: [step] },
    };
    const views = [view, view, { ...view, units: 1, moved: 4, underWay: 0, phases: [] }];
    const take = async <T>() => views.shift() as T;
    const reported: string[] = [];
    const terminal = {
      env: {},
      version: "",
      write: () => undefined,
      note: (line: string) => void reported.push(line),
      setExitCode: () => undefined,
      interrupted: () => new AbortController().signal,
    };
    const { text, exitCode } = await drainInstance({ post: take, get: take } as unknown as RestClient, "a", { output: "table" }, terminal);
    expect(exitCode).toBe(1);
    expect(reported).toEqual([
      "3 moved, 1 of at most 8 under way (REVOKE 1), 0 wait; 1 refused; longest gap so far 2.3s",
      "  shop → b, left: b has no room",
      "4 moved, 0 of at most 8 under way, 0 wait; 1 refused; longest gap so far 2.3s",
    ]);
    expect(text).toContain("instance a is DRAINING and has 1 left: nothing of it is under way");
    expect(text).toContain("  shop → b, left: b has no room");
  });

  it("says of what it waits for which move, since when and why, and again while nothing else happens", () => {
    const stuck = { unit: "u", workspace: "shop", from: "a", to: "b", state: "under-way", move: "0192f3a4", phase: "PREPARE" } as const;
    const queued = { ...stuck, state: "waiting", phase: "WAITING", why: "for its turn: 8 of 8 are under way" } as const;
    const view = (phaseMs: number): DrainView => ({
      ...{ instance: "a", state: "DRAINING", units: 3, failOver: false, budget: 8, moved: 0, underWay: 1, waiting: 2, refused: 0 },
      ...{ longestGapMs: null, phases: [{ phase: "PREPARE", moves: 1 }] },
      steps: [
        { ...stuck, why: "for b to compare shop/web", phaseMs },
        { ...queued, workspace: "cart", phaseMs },
        { ...queued, workspace: "bakery", phaseMs },
      ],
    });
    const reported: string[] = [];
    const tell = createNotifications((line) => void reported.push(line));
    for (let seconds = 0; seconds <= 41; seconds += 1) tell(drainLines(view(seconds * 1000)), seconds * 1000);
    const progress = "0 moved, 1 of at most 8 under way (PREPARE 1), 2 wait";
    const waits = "  2 wait their turn, cart first: for its turn: 8 of 8 are under way";
    const since = (seconds: number) =>
      `  shop → b is in PREPARE for ${seconds}s, waiting for b to compare shop/web (\`argosy moves 0192f3a4\`)`;
    expect(reported).toEqual([progress, since(10), waits, progress, since(25), waits, progress, since(40), waits]);
  });

  it("says on SIGINT that it goes on, how to watch it again and how to call it off, and ends with 130", async () => {
    await deployOne(served, fleet);
    const watching = new AbortController();
    const reported: string[] = [];
    const terminal = {
      ...{ env: {}, version: "", write: () => undefined, note: (line: string) => void reported.push(line), setExitCode: () => undefined },
      interrupted: () => watching.signal,
    };
    const client = createRestClient({ url: served.url, token: served.token("approver") });
    const seen = drainInstance(client, "standard-1", { output: "table" }, terminal);
    await expect.poll(() => reported.length, { timeout: 10_000 }).toBeGreaterThan(0);
    watching.abort();
    expect(await seen).toMatchObject({ exitCode: 130, text: expect.stringContaining("standard-1 is DRAINING and has 1 left") });
    const err = reported.at(-1);
    expect(err).toContain("interrupted: the drain of standard-1 goes on by itself");
    expect(err).toContain("`argosy drain standard-1` watches it again");
    expect(err).toContain("`argosy uncordon standard-1` calls it off");
    expect(await stateOf()).toBe("DRAINING");
  });

  it("ends with 1 while something is left of which nothing is under way, and tries that again when asked again", async () => {
    const namespace = await deployOne(served, fleet);
    expect(await drain("--no-wait")).toMatchObject({ code: 0, out: expect.stringContaining("has 1 left: the rest goes on by itself") });
    const first = await onlyMove();
    expect((await runAs("operator", "moves", "-o", "wide")).out.split("\n")[1]).toMatch(/WAITING.*anna\s+drain\s+FORCED\s+\S+/);
    await runAs("operator", "move", "abort", first);
    const { body } = await served.call("GET", "/v1/instances/standard-1/drain", { role: "viewer" });
    expect(body).toMatchObject({ instance: "standard-1", units: 1, moved: 17, refused: 1, budget: 8 });
    expect(body["steps"]).toContainEqual(expect.objectContaining({ workspace: namespace, state: "refused", why: "given up by otto" }));
    const again = await drain("--no-wait", "-o", "json");
    expect(JSON.parse(again.out)).toMatchObject({ state: "DRAINING", units: 1, moved: 17, waiting: 1, refused: 0 });
    expect(await onlyMove()).not.toBe(first);
  });

  it("goes without the instance once that is said: what would have gone there is given up, and asked for anew", async () => {
    await deployOne(served, fleet);
    await drain("--no-wait");
    const first = await onlyMove();
    const asked = JSON.parse((await drain("--fail-over", "--reason", "it burns", "--no-wait", "-o", "json")).out);
    expect(asked).toMatchObject({ state: "DRAINING", failOver: true, waiting: 1, units: 1 });
    expect(await served.store.moves.read(first, soon())).toMatchObject({
      phase: "ABORTED",
      message: "given up by anna",
      isFailOver: false,
    });
    const second = await onlyMove();
    expect(await served.store.moves.read(second, soon())).toMatchObject({ kind: "evacuation", isFailOver: true, phase: "WAITING" });
    const row = await served.store.fleet.readInstance(fleet.full.id, soon());
    expect(row).toMatchObject({ failsOver: true, reason: "drained by anna, by fail-over: it burns" });
    expect(JSON.parse((await drain("--no-wait", "-o", "json")).out)).toMatchObject({ failOver: true, waiting: 1 });
    expect(await onlyMove()).toBe(second);
  });

  it("hands one workspace over without its instance where that is said", async () => {
    const namespace = await deployOne(served, fleet);
    const how = ["--to", fleet.roomy.name, "--fail-over"];
    expect((await runAs("operator", "move", namespace, ...how, "--dry-run")).out).toContain("can be moved from standard-1");
    const { out, code } = await runAs("operator", "move", namespace, ...how, "--no-wait", "-o", "json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { kind: "evacuation", failOver: true, phase: "WAITING" }]);
    const [decision] = await served.store.decisions.list({ kind: "placement" }, 1, soon());
    expect(decision).toMatchObject({ verdict: "MOVE_REQUESTED", details: { isFailOver: true } });
  });

  it("is called off by uncordon: what waits stays, what is under way goes on, and units come again", async () => {
    await deployOne(served, fleet);
    await drain("--fail-over", "--no-wait");
    const waiting = await onlyMove();
    const { out } = await runAs("operator", "uncordon", "standard-1", "--reason", "the disk is well");
    expect(out).toBe("instance standard-1 takes units again");
    expect(await served.store.moves.read(waiting, soon())).toMatchObject({ phase: "ABORTED", message: "given up by otto" });
    const row = await served.store.fleet.readInstance(fleet.full.id, soon());
    expect(row).toMatchObject({ state: "ACTIVE", failsOver: false, reason: "uncordoned by otto: the disk is well" });
    expect((await served.store.fleet.countUnits(soon())).get(fleet.full.id)).toBe(1);

    await drain("--no-wait");
    const begun = await onlyMove();
    await served.store.moves.begin(begun, soon());
    const goesOn = await runAs("operator", "uncordon", "standard-1");
    expect(goesOn.out).toMatch(/^instance standard-1 takes units again\n1 move away from it has begun and goes on: `argosy moves --live`/);
    expect(goesOn.out).toContain(`\`argosy move abort ${begun.slice(0, 18)}\``);
    await finish(begun);
    expect(await served.store.moves.read(begun, soon())).toMatchObject({ phase: "DONE" });
    expect(await stateOf()).toBe("ACTIVE");
  });

  it("cannot be called off once the instance is being stopped", async () => {
    await deployOne(served, fleet);
    await drain("--no-wait");
    const { id, revision, state, reason, attempt } = (await served.store.fleet.readInstance(fleet.full.id, soon()))!;
    await served.store.fleet.changeInstance(
      { id, revision, state, reason, cause: undefined, attempt, halt: "wanted", decision: undefined },
      soon(),
    );
    const { err, code } = await runAs("operator", "uncordon", "standard-1");
    expect([code, err]).toEqual([1, expect.stringContaining("is being stopped for good")]);
    expect(await stateOf()).toBe("DRAINING");
  });
});
