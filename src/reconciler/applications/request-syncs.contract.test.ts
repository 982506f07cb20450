import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunPhase } from "../../domain/sync-run.ts";
import { APPLICATIONS } from "../adapters/kubernetes/types.ts";
import { type Deployed, deploying } from "../testing/deploy.ts";
import { type PlayedSyncs, playSyncs } from "../testing/play-syncs.ts";
import { eventually } from "../testing/until.ts";
import { startWorld, type World } from "../testing/world.ts";

let world: World;
let deployed: Deployed;
let argo: PlayedSyncs;
const { deploy, applicationAt, isAcknowledged } = deploying(() => world);
beforeEach(async () => {
  world = await startWorld();
  deployed = await deploy();
  argo = playSyncs(world, applicationAt(deployed));
});
afterEach(() => world.close());

/** The manual application stands. */
async function stand(): Promise<void> {
  await world.rows.changeSpec(deployed.application, { type: "manual" });
  await world.startReconciler();
  await eventually("the application stands", () => isAcknowledged(deployed));
}
const phaseIs = (uid: string, phase: RunPhase) => async () => (await world.rows.run(uid))?.progress.phase === phase;
const isAskedFor = (uid: string) => async () => (await argo.read())?.operation?.info?.[0]?.value === uid;

describe("runs of syncs", () => {
  test("are carried out one after the other, in the order of their creation", async () => {
    await stand();
    const [first, second] = [
      await world.rows.addRun(deployed.application, { revision: "v1" }),
      await world.rows.addRun(deployed.application),
    ];
    for (const [index, uid] of [first, second].entries()) {
      await eventually(`${uid} is asked for`, isAskedFor(uid));
      expect((await argo.read())?.operation?.sync).toMatchObject({ revision: index === 0 ? "v1" : "main", prune: false });
      await eventually("that is recorded", phaseIs(uid, "Running"));
      await argo.step();
      await eventually("its beginning is recorded", async () => (await world.rows.run(uid))?.progress.startedAt !== undefined);
      await argo.step();
      await eventually("its end is recorded", phaseIs(uid, "Succeeded"));
    }
    expect((await world.rows.run(second))?.progress).toMatchObject({ revision: "0123", finishedAt: Date.UTC(2026, 0, 1, 0, 0, 9) });
    expect(argo.begun).toEqual([first, second]);
  });

  test("wait until the application's latest change stands, and while somebody else's sync is under way", async () => {
    const run = await world.rows.addRun(deployed.application);
    await stand();
    await eventually("it is asked for", isAskedFor(run));
    const other = await world.rows.addRun(deployed.application);
    await argo.step();
    await argo.step();
    await eventually("the first has ended", phaseIs(run, "Succeeded"));
    await eventually("the second is asked for", isAskedFor(other));
    await world.hands.engine.mergePatch(
      APPLICATIONS,
      applicationAt(deployed),
      { operation: { info: [{ value: "somebody" }] } },
      world.signal,
    );
    await eventually("the second is lost, and not asked for again", phaseIs(other, "Failed"));
    const third = await world.rows.addRun(deployed.application);
    await argo.step();
    await argo.step();
    expect(argo.begun).toEqual([run, "somebody"]);
    world.rows.missNotifications();
    await eventually("the third is asked for when the way is free", isAskedFor(third));
  });

  test("are not carried out for an application that follows Git by itself, and are when it no longer does", async () => {
    await world.startReconciler();
    await eventually("the application stands", () => isAcknowledged(deployed));
    const run = await world.rows.addRun(deployed.application);
    await world.rows.changeSpec(deployed.application, { type: "manual", source: { ...deployed.application.spec.source, path: "other" } });
    await eventually("it is asked for", isAskedFor(run));
    expect(await argo.read()).toMatchObject({ spec: { source: { path: "other" } } });
  });

  test("are terminated when they are cancelled under way, and never begin when they are cancelled before", async () => {
    await stand();
    const [first, second, third] = [
      await world.rows.addRun(deployed.application),
      await world.rows.addRun(deployed.application),
      await world.rows.addRun(deployed.application),
    ];
    await eventually("the first is asked for", isAskedFor(first));
    await argo.step();
    await world.rows.cancelRun(second);
    await world.rows.cancelRun(first);
    await eventually("it is being terminated", async () => (await argo.read())?.status?.operationState?.phase === "Terminating");
    await argo.step();
    for (const uid of [first, second]) await eventually(`${uid} has ended`, phaseIs(uid, "Terminated"));
    await eventually("the third has its turn", isAskedFor(third));
    expect(argo.begun).toEqual([first]);
  });

  test("of which every hint was lost are found by the sweep", async () => {
    await stand();
    world.rows.mute(true);
    const run = await world.rows.addRun(deployed.application);
    world.rows.missNotifications();
    await eventually("it is asked for", isAskedFor(run));
    await argo.step();
    await argo.step();
    await eventually("its end is recorded", phaseIs(run, "Succeeded"));
  });
});
