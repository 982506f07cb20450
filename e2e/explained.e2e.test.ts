import { beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { PlanView } from "../src/api/routes/plans.ts";
import type { ApplicationView, JournalEntry, OperationView } from "../src/api/schema.ts";
import type { RestClient } from "../src/cli/rest-client.ts";
import { createToken } from "../src/cli/token.ts";
import { answerOf, argosy, inOneLine } from "./command-line.ts";
import { askForMove, holdInRevoke, MOVE_TIMEOUT_MS, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { openRest } from "./within-timeout.ts";
import { configMapFile, openWorld, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "explained";
const APP = "app";
const DEADLINE_MS = 10 * 60_000;

/** Each story goes on where the one before ended. What is reported grows, and nothing gets lost. */
describe("what SREs read about a workspace", () => {
  let world: World;
  let movable: Movable;
  let approver: RestClient;
  beforeAll(async () => {
    world = openWorld();
    movable = await openMovable(world, NAMESPACE, [APP]);
    const token = await createToken({ name: "explained-approver", role: "approver", database: world.harness.databaseUrl });
    approver = openRest(world.harness, token);
  }, DEADLINE_MS);

  /** What the command explains now. It succeeds whatever has happened to the workspace. */
  async function explained(): Promise<string> {
    const { out, err, code } = await argosy(world, "explain", NAMESPACE);
    expect([code, err]).toEqual([0, ""]);
    return inOneLine(out);
  }

  it("names the instance it was placed on, and why", async () => {
    const text = await explained();
    expect(text).toContain(`workspace ${NAMESPACE} lives on ${await movable.owner()}`);
    expect(text).toContain(`placed on ${await movable.owner()}`);
  });

  it(
    "shows a live move that a person requested: who, from where to where, and that it ended",
    async () => {
      const [from, to] = [await movable.owner(), await movable.other()];
      const asked = await askForMove(world, movable, to);
      await explained();
      expect((await moveEnded(world, asked)).phase).toBe("DONE");
      const text = await explained();
      expect(text).toContain(`lives on ${to}`);
      expect(text).toMatch(new RegExp(`moved from ${from} to ${to}.* by ${asked.actor}`));
      expect(text).toMatch(new RegExp(`move to ${to} asked for by ${asked.actor}`));
      expect(text).toContain(`placed on ${from}`);
    },
    DEADLINE_MS,
  );

  it(
    "shows what a move under way waits for, and that it was given up",
    async () => {
      const [from, to] = [await movable.owner(), await movable.other()];
      const bypass = { namespace: NAMESPACE, name: "beside" };
      const { id } = await holdInRevoke(world, movable, bypass);
      expect(await explained()).toMatch(new RegExp(`being moved from ${from} to ${to}: in REVOKE`));
      const ended = await world.rest.post<MoveView>(`/v1/moves/${id}/abort`, {});
      await world.kube.delete(TYPES.roleBinding, bypass, {}, world.signal);
      expect((await moveEnded(world, { id, to })).phase).toBe("ABORTED");
      const text = await explained();
      expect(text).toContain(`lives on ${from}`);
      expect(text).toMatch(new RegExp(`move to ${to} was ended.*given up by ${ended.actor}`));
    },
    DEADLINE_MS,
  );

  it(
    "shows a fail-over",
    async () => {
      const [from, to] = [await movable.owner(), await movable.other()];
      const asked = await world.rest.post<MoveView>("/v1/moves", { workspace: NAMESPACE, to, failOver: true });
      expect((await moveEnded(world, asked)).phase).toBe("DONE");
      expect(await explained()).toMatch(new RegExp(`moved from ${from} to ${to} by a fail-over.* by ${asked.actor}`));
    },
    DEADLINE_MS,
  );

  it(
    "shows a pin that is not followed yet, the plan that follows it and who may carry that out, and the step once it is made",
    async () => {
      const [from, to] = [await movable.owner(), await movable.other()];
      const pinned = await argosy(world, "pin", NAMESPACE, "--to", to, "--reason", "near its data");
      expect(pinned.code).toBe(0);
      const ordered = await explained();
      expect(ordered).toMatch(new RegExp(`pinned to ${to}, said .*: near its data`));
      expect(ordered).toContain(`next: it is to go to ${to}`);

      const plans = (await world.rest.post<{ readonly items: readonly PlanView[] }>("/v1/plans", { goal: "rebalance" })).items;
      const plan = plans.find(({ moves }) => moves.some(({ workspace }) => workspace === NAMESPACE));
      const proposed = await explained();
      expect(proposed).toContain(`\`argosy apply ${plan?.id}\` moves it to ${to}`);
      expect(proposed.includes("needs an approver")).toBe((plan?.approval ?? []).length > 0);

      await approver.post(`/v1/plans/${plan?.id}/apply`, {});
      await until("it on the instance it is pinned to", movable.owner, (owner) => owner === to, MOVE_TIMEOUT_MS);
      await until(
        "its move ended",
        () => world.rest.all<MoveView>("/v1/moves", { live: true }),
        (live) => !live.some(({ workspace }) => workspace === NAMESPACE),
        MOVE_TIMEOUT_MS,
      );
      const text = await explained();
      expect(text).toMatch(new RegExp(`moved from ${from} to ${to}.*plan ${plan?.id}`));
      expect(text).toContain("because it may not stay: the workspace is pinned to");
      expect((await argosy(world, "pin", NAMESPACE, "--none", "--reason", "done")).code).toBe(0);
      expect(await explained()).toMatch(/unpinned by .*: done/);
    },
    DEADLINE_MS,
  );

  it("has words for every entry of the journal", async () => {
    const { items } = await answerOf<{ readonly items: readonly JournalEntry[] } | readonly JournalEntry[]>(world, [
      "journal",
      "--limit",
      "1000",
    ]).then((found) => ("items" in found ? found : { items: found }));
    expect(items.length).toBeGreaterThan(0);
    expect(items.filter(({ text }) => typeof text !== "string" || text === "")).toEqual([]);
    const fleet = items.filter(({ kind, verdict }) => kind === "fleet" && verdict === "DECLARED");
    expect(fleet.length).toBeGreaterThan(0);
    expect(fleet.filter(({ text }) => !/first|changed|added|removed/.test(text))).toEqual([]);
    const { out } = await argosy(world, "journal", "--workspace", NAMESPACE, "-o", "wide");
    expect(out).toContain("near its data");
    const { out: described } = await argosy(world, "describe", "workspace", NAMESPACE);
    expect(described).toContain("unpinned by");
  });

  it(
    "shows a failing sync in every command: its error, since when, the attempt and the operation",
    async () => {
      await world.git.commit(NAMESPACE, { "broken/config.yaml": configMapFile("Not_A_Name", {}) });
      await movable.workspace.apply("broken", { repository: NAMESPACE, path: "broken" });
      const seen = await until(
        "a sync that failed",
        async () => (await world.rest.all<ApplicationView>("/v1/applications", { namespace: NAMESPACE, name: "broken" }))[0],
        (found) => (found?.failure ?? null) !== null,
      );
      const failure = seen?.failure;
      expect(failure?.message).toContain("Not_A_Name");
      expect(failure?.since).toMatch(/^\d{4}-/);
      expect(failure?.attempt).toBeGreaterThan(0);

      const described = await argosy(world, "describe", "application", `${NAMESPACE}/broken`);
      for (const word of ["Not_A_Name", "attempt:", "since:", "operation:", "phase:"]) expect(described.out).toContain(word);
      expect(await explained()).toMatch(/broken cannot sync since .*, attempt \d+.*Not_A_Name/);
      const operations = await answerOf<readonly OperationView[]>(world, ["get", "operations", "--op-state", "Failed", "-n", NAMESPACE]);
      expect(operations).toMatchObject([{ kind: "sync", subjectName: `${NAMESPACE}/broken`, state: "Failed" }]);
      expect(operations[0]?.message).toContain("Not_A_Name");
      const health = await argosy(world, "health");
      expect(inOneLine(health.out)).toMatch(/explained\/broken .*cannot sync since .*, attempt \d+.*Not_A_Name/);
      expect((await argosy(world, "health", await movable.owner())).out).toContain("Not_A_Name");

      await movable.workspace.remove("broken");
      await until("no word of it any more", explained, (text) => !text.includes("cannot sync"));
      expect(await answerOf(world, ["get", "operations", "--op-state", "Failed", "-n", NAMESPACE])).toEqual([]);
    },
    DEADLINE_MS,
  );
});
