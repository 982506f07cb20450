import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { millis } from "../../domain/clock.ts";
import { GoneError, StaleError, UnavailableError } from "../../domain/errors.ts";
import { createFaultPoints, FAULT_MODES, type FaultMode } from "../../reconciler/testing/faults.ts";
import { createRunResources } from "../adapters/kubernetes/run-resources.ts";
import { createUserResources } from "../adapters/kubernetes/user-resources.ts";
import { aPolicy, aSpec } from "../testing/builders.ts";
import { eventually, startWorld, type World } from "../testing/world.ts";
import { createRunWork } from "./reconcile-run.ts";
import { createRunIndex } from "./run-index.ts";
import { common, playRuns } from "./testing/world.ts";

const WAITING = new Set(["record", "cancel", "giveUp", "forget", "readViews", "recordPublished", "patchStatus", "remove"]);

let world: World;
let controller: ReturnType<typeof build>;
let count = 0;
let aheadMs = 0;
const clock = { ...common.clock, now: () => millis(common.clock.now() + aheadMs) };
const faults = createFaultPoints(WAITING);
const play = playRuns(() => world);

beforeEach(async () => {
  aheadMs = 0;
  world = await startWorld();
  controller = build();
  await Promise.all([controller.runs.synced(world.signal), controller.resources.synced(world.signal)]);
  const deployments = world.startController();
  await world.apply("guestbook", { spec: aSpec({ type: "manual" }) });
  await eventually("the deployment is recorded", async () => (await world.row("guestbook")) !== undefined);
  await world.answer("guestbook");
  await deployments.stop();
});
afterEach(() => world.close());

/** The controller of one run, over ports of which any call may break. */
function build() {
  const options = { ...common, client: world.server.client("api") };
  const [resources, runs] = [createUserResources(options), createRunResources(options)];
  for (const part of [resources, runs]) part.start(world.signal);
  const syncRuns = faults.wrap(world.store.syncRuns);
  const index = createRunIndex();
  const policy = () => aPolicy();
  const work = createRunWork({
    clock,
    syncRuns,
    index,
    runs: faults.wrap(runs),
    resources,
    policy,
  });
  return { resources, runs, index, work };
}

/** Runs the key until it ends well and asks for nothing more at once, as the queue does. */
async function insist(name: string): Promise<void> {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    try {
      const result = await controller.work(`api|jane|${name}`, world.signal);
      if (result?.requeueAfterMs !== 0) return;
    } catch (error) {
      if (!(error instanceof UnavailableError || error instanceof StaleError || error instanceof GoneError)) throw error;
    }
  }
  throw new Error("does not get anywhere");
}

/** A new run, seen by the watch. */
async function aRun(spec: Readonly<Record<string, unknown>> = {}) {
  count += 1;
  const name = `run-${count}`;
  const uid = await play.apply(name, spec);
  await eventually("the run is seen", () => controller.runs.get({ namespace: "jane", name })?.uid === uid);
  return { name, uid };
}

/** Runs a scenario once for each call it makes, with that call broken, until none is left to break. */
async function breakEach(mode: FaultMode, scenario: () => Promise<{ readonly name: string; check(): Promise<void> }>) {
  const broken = new Set<string>();
  for (let index = 0; ; index += 1) {
    const { name, check } = await scenario();
    faults.arm(index, mode);
    await insist(name);
    const call = faults.broke();
    faults.arm(-1, mode);
    await check();
    if (call === undefined) return broken;
    broken.add(call);
  }
}

describe.each(FAULT_MODES)("a run converges when any one call %s", (mode) => {
  test("while it is recorded and reported to its user", async () => {
    const broken = await breakEach(mode, async () => {
      const { name, uid } = await aRun();
      const check = async () => {
        await insist(name);
        expect(await play.said(name)).toContain(`Reconciling=True/${(await play.viewOf(uid))?.ahead === 0 ? "Pending" : "Queued"}`);
        const known = await world.store.syncRuns.listKnown("api", world.signal);
        expect(known.find((row) => row.uid === uid)).toMatchObject({ isPublished: true });
      };
      return { name, check };
    });
    expect(broken).toEqual(new Set(["record", "readViews", "patchStatus", "recordPublished"]));
  });

  test("while the end of one is shown, and it is deleted as its user asked", async () => {
    const broken = await breakEach(mode, async () => {
      const { name, uid } = await aRun({ ttlSecondsAfterFinished: 0 });
      await insist(name);
      await play.report(uid, { phase: "Succeeded", finishedAt: millis(0) });
      return { name, check: async () => expect(await play.read(name)).toBeUndefined() };
    });
    expect(broken).toContain("remove");
  });

  test("while one that is gone is cancelled and forgotten", async () => {
    const broken = await breakEach(mode, async () => {
      const { name, uid } = await aRun({ gitopsDeploymentName: "missing" });
      await insist(name);
      controller.index.saw(`api|jane|${name}`, uid);
      await play.remove(name);
      await eventually("that is seen", () => controller.runs.get({ namespace: "jane", name }) === undefined);
      return { name, check: async () => expect(await play.isKnown(uid)).toBe(false) };
    });
    expect(broken).toEqual(new Set(["cancel", "forget", "readViews"]));
  });

  test("while one whose deployment never came is given up", async () => {
    const broken = await breakEach(mode, async () => {
      const { name } = await aRun({ gitopsDeploymentName: "missing" });
      aheadMs = 2 * 60 * 60_000;
      const check = async () => {
        expect(await play.said(name)).toContain("Stalled=True/Failed");
        expect((await play.read(name))?.status?.message).toContain("did not exist for an hour");
      };
      return { name, check };
    });
    expect(broken).toContain("giveUp");
  });
});

test("never writes what one run did on its namesake", async () => {
  const { name, uid } = await aRun();
  await insist(name);
  await play.report(uid, { phase: "Succeeded", finishedAt: millis(0) });
  const release = world.server.faults.hold({ method: "PATCH", path: /\/gitopsdeploymentsyncruns\/.*\/status/ });
  const writing = controller.work(`api|jane|${name}`, world.signal).catch((error: unknown) => error);
  await eventually(
    "its status is on its way",
    () => world.server.requests().filter(({ url }) => url.includes(`${name}/status`)).length > 1,
  );
  await play.remove(name);
  await play.apply(name);
  release();
  expect(await writing).toBeInstanceOf(Error);
  expect((await play.read(name))?.status).toBeUndefined();
});
