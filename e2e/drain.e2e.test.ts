import { afterAll, beforeAll, expect, it } from "vitest";
import type { DrainView } from "../src/api/routes/drains.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { RestClient } from "../src/cli/rest-client.ts";
import { runCommand, type Seen } from "../src/cli/testing/run-command.ts";
import { createToken } from "../src/cli/token.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { inOneLine, type Started, startArgosy } from "./command-line.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { openRest } from "./within-timeout.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "drained";
const COUNT = IS_LONG ? 30 : 5;
const OBSERVE_EVERY_MS = 500;
/** A drain of five takes half a minute on an idle machine; a busy one may take ten times as long. */
const DEADLINE_MS = 20 * 60_000;
const DRAIN_TIMEOUT_MS = 10 * 60_000;

let world: World;
let pools: PoolsWorld;
let approver: string;
let rest: RestClient;
const started: Started[] = [];
beforeAll(async () => {
  world = openWorld();
  pools = openPools(world);
  approver = await createToken({ name: "drain-approver", role: "approver", database: world.harness.databaseUrl });
  rest = openRest(world.harness, approver);
});
afterAll(async () => {
  for (const command of started) await command.end("SIGTERM");
  // Other stories have to find the fleet as it was, whatever happened here: the instances go once they are empty.
  for (const namespace of namespaces) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
  await pools.restore();
}, DEADLINE_MS);

const environment = () => ({ ARGOSY_URL: world.harness.argosyUrls[0] ?? "", ARGOSY_TOKEN: approver });
const argosy = (...args: readonly string[]) => runCommand(args, environment());
/** Starts a command that runs until the story or its clean-up ends it. */
function start(...args: readonly string[]): Started {
  const command = startArgosy(environment(), ...args);
  started.push(command);
  return command;
}
/**
 * Runs a command until it prints this. A server that does not answer counts as no output. Only for commands that may
 * be repeated.
 */
const said = (args: readonly string[], isSaid: (seen: Seen) => boolean): Promise<Seen> =>
  until(`\`argosy ${args.join(" ")}\` to say it`, () => argosy(...args), isSaid, DRAIN_TIMEOUT_MS);
const done = (...args: readonly string[]): Promise<Seen> => said(args, ({ code }) => code === 0);
const namespaces = Array.from({ length: COUNT }, (_, index) => `drain-${String(index).padStart(2, "0")}`);

/** Two instances of a pool, everything on the first; the second is cordoned. */
async function settle(): Promise<readonly Workspace[]> {
  await pools.declare(pools.withPool({ name: POOL, instances: { min: 2, max: 3 } }));
  for (const name of [`${POOL}-1`, `${POOL}-2`]) await pools.instance(name, "active", (found) => found?.state === "ACTIVE");
  await pools.cordon(`${POOL}-2`, true);
  await world.git.commit("drain", { "dev/config.yaml": configMapFile("drained", { step: "one" }) });
  const workspaces: Workspace[] = [];
  for (const namespace of namespaces) workspaces.push(await openWorkspace(world, namespace));
  for (const workspace of workspaces) await workspace.apply("app", { repository: "drain", path: "dev" });
  for (const workspace of workspaces) await workspace.settled("app");
  return workspaces;
}

/** What is refused, in words and exit codes, while no unit could leave. */
async function refuseTheLast(): Promise<void> {
  const first = `${POOL}-1 is the last instance of class local/${POOL}/public that takes workspaces`;
  const refused = await said(["drain", `${POOL}-1`], ({ err }) => err.includes(first));
  expect(refused).toMatchObject({ code: 1, out: "", err: expect.stringContaining("--force") });
  const dry = await said(["drain", `${POOL}-1`, "--dry-run"], ({ out }) => out !== "");
  expect(dry.code).toBe(1);
  expect(inOneLine(dry.out)).toContain(`would be refused: ${first}`);
  expect(inOneLine(dry.out)).toContain(`${COUNT} workspaces cannot leave now`);
  expect((await pools.instance(`${POOL}-1`, "as it was", (found) => found !== undefined))?.state).toBe("ACTIVE");
}

/** Begins the drain as a shell does, and leaves the command as soon as it reports progress. */
async function beginAndInterrupt(): Promise<void> {
  const begin = () => start("drain", `${POOL}-1`, "--reason", "the story");
  let follower = begin();
  await until(
    "progress from the first command",
    async () => {
      // Nobody confirmed it.
      if (follower.seen().code !== undefined) follower = begin();
      return follower.seen().err;
    },
    (err) => err.includes("under way"),
  );
  const { err, code } = await follower.end("SIGINT");
  expect(code).toBe(130);
  const goesOn = `interrupted: the drain of ${POOL}-1 goes on by itself; \`argosy drain ${POOL}-1\` watches it again`;
  expect(inOneLine(err)).toContain(goesOn);
}

/** Follows the drain while one workspace is pinned to the drained instance, and again once it is unpinned. */
async function followTwice(pinned: string): Promise<Seen> {
  const left = `instance ${POOL}-1 is DRAINING and has 1 left: nothing of it is under way`;
  const stuck = await said(["drain", `${POOL}-1`], ({ out }) => inOneLine(out).includes(left));
  expect(stuck.code).toBe(1);
  expect(inOneLine(stuck.err)).toMatch(new RegExp(`${pinned}.*, left: no instance can take it; .*pinned to ${POOL}-1`));
  await done("pin", pinned, "--none");
  return done("drain", `${POOL}-1`);
}

const uidsOf = (workspaces: readonly Workspace[]) =>
  Promise.all(workspaces.map(async (workspace) => (await workspace.configMap("drained"))?.metadata.uid));

it(
  "empties an instance while everything goes on: nothing is deleted, and it is retired (I2)",
  async () => {
    const workspaces = await settle();
    await refuseTheLast();
    await pools.cordon(`${POOL}-2`, false);
    const uids = await uidsOf(workspaces);
    expect(uids).not.toContain(undefined);
    const dry = await done("drain", `${POOL}-1`, "--dry-run");
    expect(dry.out).toContain(`${namespaces[0]}: ${POOL}-1 → ${POOL}-2, FORCED, takes a live move`);

    const atOnce: number[] = [];
    const watching = [
      again(OBSERVE_EVERY_MS, async () => expect(await uidsOf(workspaces)).toEqual(uids)),
      again(OBSERVE_EVERY_MS, async () => {
        const moves = await rest.all<MoveView>("/v1/moves", { live: true });
        atOnce.push(moves.filter(({ phase }) => phase !== "WAITING").length);
      }),
    ];
    const [pinned = ""] = namespaces;
    await done("pin", pinned, "--to", `${POOL}-1`, "--reason", "the story");
    const rows = start("get", "workspaces", "--watch", "-o", "json");
    await until(
      "the first rows",
      async () => rows.seen().out,
      (out) => out.includes(pinned),
    );
    // It goes on by itself: the first command is interrupted, the second one watches to the end.
    await beginAndInterrupt();
    // From now on one instance is enough, so the drained one is not replaced. Declared earlier, this would have
    // retired the empty one.
    await pools.declare(pools.withPool({ name: POOL, instances: { min: 1, max: 3 } }));
    const began = performance.now();
    const { out, err, code } = await followTwice(pinned);
    const tookMs = performance.now() - began;
    for (const each of watching) await each.end();
    // The instance may be retired between the last move and the next question.
    expect(inOneLine(err)).toMatch(new RegExp(`${COUNT} moved, 0 of at most 8 under way|${COUNT - 1} moved, 1 of at most 8 under way`));
    expect([code, out]).toEqual([0, expect.stringContaining(`instance ${POOL}-1 is empty`)]);
    report(`drain of ${COUNT}: ${Math.round(tookMs)} ms, at most ${Math.max(...atOnce)} at once`);
    expect(Math.max(...atOnce)).toBeGreaterThan(1);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(8);

    const movedRow = (namespace: string) => new RegExp(`^\\{.*"namespace":"${namespace}".*"instance":"${POOL}-2".*\\}$`, "m");
    for (const namespace of namespaces)
      await until(
        `the row of ${namespace}`,
        async () => rows.seen().out,
        (seen) => movedRow(namespace).test(seen),
      );
    const watched = await rows.end("SIGTERM");
    expect(watched.code).toBe(143);
    for (const line of watched.out.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("namespace");

    const view = await rest.get<DrainView>(`/v1/instances/${POOL}-1/drain`);
    expect(view).toMatchObject({ units: 0, moved: COUNT, refused: 0 });
    const moves = (await rest.all<MoveView>("/v1/moves", { limit: 1000 })).filter(({ from }) => from === `${POOL}-1`);
    expect(moves.map(({ phase, kind, message }) => [phase, kind, message])).toEqual(moves.map(() => ["DONE", "drain", ""]));
    const gaps = moves.map(({ gapMs }) => gapMs ?? 0).sort((a, b) => a - b);
    report(`gaps: p50 ${gaps[Math.floor(gaps.length / 2)]} ms, max ${gaps.at(-1)} ms`);

    const explained = await done("explain", namespaces[0] ?? "");
    expect(inOneLine(explained.out)).toMatch(new RegExp(`moved from ${POOL}-1 to ${POOL}-2, FORCED: plan .*`));
    expect(inOneLine(explained.out)).toContain("because it may not stay: it is DRAINING");

    // Their new owner works: what is pushed now arrives.
    await world.git.commit("drain", { "dev/config.yaml": configMapFile("drained", { step: "two" }) });
    for (const workspace of workspaces) await workspace.annotate("app", { "argosy.dev/refreshed-at": "now" });
    for (const workspace of workspaces)
      await until(
        `${workspace.namespace} at the last push`,
        () => workspace.configMap("drained"),
        (found) => found?.data?.["step"] === "two",
      );
    expect(await uidsOf(workspaces)).toEqual(uids);

    await pools.instance(`${POOL}-1`, "retired", (found) => found === undefined);
    await until(
      "its namespace gone",
      () => pools.namespaceOf(`${POOL}-1`),
      (found: KubeObject | undefined) => found === undefined,
      DRAIN_TIMEOUT_MS,
    );
  },
  DEADLINE_MS,
);
