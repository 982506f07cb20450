import { afterAll, beforeAll, expect, it } from "vitest";
import type { DrainView } from "../src/api/routes/drains.ts";
import type { MoveView } from "../src/api/routes/moves.ts";
import { createRestClient, type RestClient } from "../src/cli/rest-client.ts";
import { runCommand } from "../src/cli/testing/run-command.ts";
import { createToken } from "../src/cli/token.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { again } from "./again.ts";
import { inOneLine } from "./command-line.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const POOL = "drained";
const COUNT = IS_LONG ? 30 : 5;
const LOOK_EVERY_MS = 500;
/** On a machine of its own a drain of five takes half a minute; a shared one may take ten times as long. */
const DEADLINE_MS = 20 * 60_000;
const DRAIN_PATIENCE_MS = 10 * 60_000;

let world: World;
let pools: PoolsWorld;
let approver: string;
let rest: RestClient;
beforeAll(async () => {
  world = openWorld();
  pools = openPools(world);
  approver = await createToken({ name: "drain-approver", role: "approver", database: world.harness.databaseUrl });
  rest = createRestClient({ url: world.harness.argosyUrls[0] ?? "", token: approver });
});
afterAll(() => pools.restore());

const argosy = (...args: readonly string[]) => runCommand(args, { ARGOSY_URL: world.harness.argosyUrls[0] ?? "", ARGOSY_TOKEN: approver });
const namespaces = Array.from({ length: COUNT }, (_, index) => `drain-${String(index).padStart(2, "0")}`);

/** Two instances of a pool, everything on the first, and room on the second. */
async function settle(): Promise<readonly Workspace[]> {
  await pools.declare(pools.withPool({ name: POOL, instances: { min: 2, max: 3 } }));
  for (const name of [`${POOL}-1`, `${POOL}-2`]) await pools.instance(name, "active", (found) => found?.state === "ACTIVE");
  await pools.cordon(`${POOL}-2`, true);
  await world.git.commit("drain", { "dev/config.yaml": configMapFile("drained", { step: "one" }) });
  const workspaces: Workspace[] = [];
  for (const namespace of namespaces) workspaces.push(await openWorkspace(world, namespace));
  for (const workspace of workspaces) await workspace.apply("app", { repository: "drain", path: "dev" });
  for (const workspace of workspaces) await workspace.settled("app");
  await pools.cordon(`${POOL}-2`, false);
  return workspaces;
}

const uidsOf = (workspaces: readonly Workspace[]) =>
  Promise.all(workspaces.map(async (workspace) => (await workspace.configMap("drained"))?.metadata.uid));

it(
  "empties an instance while everything goes on: nothing is deleted, and it is retired (I2)",
  async () => {
    const workspaces = await settle();
    const uids = await uidsOf(workspaces);
    expect(uids).not.toContain(undefined);
    const dry = await argosy("drain", `${POOL}-1`, "--dry-run");
    expect(dry).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${namespaces[0]}: ${POOL}-1 → ${POOL}-2, FORCED, takes a live move`),
    });

    const atOnce: number[] = [];
    const watching = [
      again(LOOK_EVERY_MS, async () => expect(await uidsOf(workspaces)).toEqual(uids)),
      again(LOOK_EVERY_MS, async () => {
        const moves = await rest.all<MoveView>("/v1/moves", { live: true });
        atOnce.push(moves.filter(({ phase }) => phase !== "WAITING").length);
      }),
    ];
    // It goes on by itself: the first caller does not wait, the second watches to the end.
    const first = await argosy("drain", `${POOL}-1`, "--no-wait", "--reason", "the story");
    // One is enough from now on: what is emptied is wanted by nobody. Said before, the one that was empty would have gone.
    await pools.declare(pools.withPool({ name: POOL, instances: { min: 1, max: 3 } }));
    const began = performance.now();
    const { out, err, code } = await argosy("drain", `${POOL}-1`);
    const tookMs = performance.now() - began;
    for (const each of watching) await each.end();
    expect(first.code).toBe(0);
    expect(err).toContain(`${COUNT} moved, 0 of at most 8 under way`);
    expect([code, out]).toEqual([0, expect.stringContaining(`instance ${POOL}-1 is empty`)]);
    report(`drain of ${COUNT}: ${Math.round(tookMs)} ms, at most ${Math.max(...atOnce)} at once`);
    expect(Math.max(...atOnce)).toBeGreaterThan(1);
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(8);

    const view = await rest.get<DrainView>(`/v1/instances/${POOL}-1/drain`);
    expect(view).toMatchObject({ units: 0, moved: COUNT, refused: 0 });
    const moves = (await rest.all<MoveView>("/v1/moves", { limit: 1000 })).filter(({ from }) => from === `${POOL}-1`);
    expect(moves.map(({ phase, kind, message }) => [phase, kind, message])).toEqual(moves.map(() => ["DONE", "drain", ""]));
    const gaps = moves.map(({ gapMs }) => gapMs ?? 0).sort((a, b) => a - b);
    report(`gaps: p50 ${gaps[Math.floor(gaps.length / 2)]} ms, max ${gaps.at(-1)} ms`);

    const explained = await argosy("explain", namespaces[0] ?? "");
    expect([explained.code, explained.err]).toEqual([0, ""]);
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
      DRAIN_PATIENCE_MS,
    );
    for (const namespace of namespaces) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    await pools.instance(`${POOL}-2`, "empty", (found) => found?.units === 0);
  },
  DEADLINE_MS,
);
