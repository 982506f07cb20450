import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Instance } from "../../domain/instance.ts";
import type { Application } from "../../domain/workspace.ts";
import type { KubeObject } from "../../runtime/kube/resource.ts";
import { APPLICATIONS } from "../adapters/kubernetes/types.ts";
import { type PlayedController, playController } from "../testing/play-controller.ts";
import { eventually } from "../testing/until.ts";
import { startWorld, type World } from "../testing/world.ts";

const SHARE = 2;

let world: World;
let instance: Instance;
let controller: PlayedController;
beforeEach(async () => {
  world = await startWorld();
  instance = await world.rows.addInstance("one");
  controller = playController(world, instance);
});
afterEach(() => world.close());

/** Records so many deployments of a workspace on the instance. */
async function record(namespace: string, count: number): Promise<readonly Application[]> {
  const applications: Application[] = [];
  for (let index = 0; index < count; index += 1) applications.push(await world.rows.addApplication(namespace, `app-${index}`));
  if (applications[0] !== undefined) await world.rows.place(applications[0], instance.id);
  return applications;
}
const start = (unfinishedPerUnit = SHARE) => world.startReconciler(undefined, { unfinishedPerUnit });
const isThere = async ({ argoName }: Application) => (await controller.names()).includes(argoName);
const standing = async (applications: readonly Application[]) => {
  const names = await controller.names();
  return applications.filter(({ argoName }) => names.includes(argoName));
};
const countIs = (applications: readonly Application[], count: number) =>
  eventually(`${count} of them stand`, async () => (await standing(applications)).length === count);
const isGone = async ({ id }: Application) => (await world.rows.application(id)) === undefined;
/** Lets the instance compare whatever comes, until these have come and nothing is left to do. */
async function workOff(applications: readonly Application[]): Promise<void> {
  const done = new Set<Application>();
  while (done.size < applications.length) {
    await eventually("one more stands", async () => (await standing(applications)).some((application) => !done.has(application)));
    for (const application of await standing(applications)) {
      if (!done.has(application)) await controller.compare(application);
      done.add(application);
    }
  }
}
const read = ({ argoName }: Application) =>
  world.hands.engine.get<KubeObject & { readonly spec: { readonly source: { readonly path: string } }; readonly operation?: object }>(
    APPLICATIONS,
    { namespace: instance.namespace, name: argoName },
    world.signal,
  );

describe("a workspace's burst", () => {
  test("is handed over as the instance works it off, and the only change of another workspace at once", async () => {
    const noisy = await record("noisy", 6);
    const reconciler = await start();
    await countIs(noisy, SHARE);
    await reconciler.idle();
    const [quiet] = await record("quiet", 1);
    if (quiet !== undefined) await eventually("the neighbour's stands", () => isThere(quiet));
    const first = await standing(noisy);
    expect(first).toHaveLength(SHARE);
    for (const [index, application] of first.entries()) {
      await controller.compare(application);
      await countIs(noisy, SHARE + index + 1);
      await reconciler.idle();
      expect(await standing(noisy)).toHaveLength(SHARE + index + 1);
    }
  });

  test("is handed over as a whole where no limit is set", async () => {
    const noisy = await record("noisy", 6);
    await start(0);
    await countIs(noisy, noisy.length);
  });

  test("of changes, of requests to read Git again and of syncs is too", async () => {
    const [first, second, third, fourth, fifth] = (await record("noisy", 5)) as [
      Application,
      Application,
      Application,
      Application,
      Application,
    ];
    for (const application of [fourth, fifth]) await world.rows.changeSpec(application, { type: "manual" });
    const reconciler = await start();
    await workOff([first, second, third, fourth, fifth]);
    const path = async (application: Application) => (await read(application))?.spec.source.path;
    const change = (application: Application) =>
      world.rows.changeSpec(application, { source: { ...application.spec.source, path: "other" } });
    await change(first);
    await world.rows.changeSpec(second, { refresh: "now" });
    await eventually("the change is there", async () => (await path(first)) === "other");
    await eventually(
      "Git is to be read again",
      async () => "argocd.argoproj.io/refresh" in ((await read(second))?.metadata.annotations ?? {}),
    );
    await change(third);
    await world.rows.addRun(fourth);
    await reconciler.idle();
    expect([await path(third), (await read(fourth))?.operation]).toEqual(["deploy", undefined]);
    await controller.compare(second);
    await eventually("the next change is there", async () => (await path(third)) === "other");
    await reconciler.idle();
    expect((await read(fourth))?.operation).toBeUndefined();
    await controller.compare(third);
    await eventually("the sync is asked for", async () => (await read(fourth))?.operation !== undefined);
    await world.rows.addRun(fifth);
    await reconciler.idle();
    expect((await read(fifth))?.operation).toBeUndefined();
  });

  test("does not hold up deletions, neither of what stands nor of what waits", async () => {
    const noisy = await record("noisy", 6);
    const reconciler = await start();
    await countIs(noisy, SHARE);
    await reconciler.idle();
    const [stands] = (await standing(noisy)) as [Application];
    await world.rows.deleteApplication(stands, "cascade");
    await eventually("what stood is gone", () => isGone(stands));
    const left = noisy.filter(({ id }) => id !== stands.id);
    await countIs(left, SHARE);
    const there = await standing(left);
    const waits = left.filter((application) => !there.includes(application));
    for (const application of waits.slice(1)) await world.rows.deleteApplication(application, "orphan");
    for (const application of waits.slice(1)) await eventually("what waited is gone", () => isGone(application));
    expect(await standing(left)).toHaveLength(SHARE);
    await workOff([...there, ...waits.slice(0, 1)]);
  });

  test("is held back by a process that has just started, too: what is under way stands in the watch", async () => {
    const noisy = await record("noisy", 4);
    const before = await start();
    await countIs(noisy, SHARE);
    await before.stop();
    const after = await start();
    await after.idle();
    expect(await standing(noisy)).toHaveLength(SHARE);
    for (const application of await standing(noisy)) await controller.compare(application);
    await countIs(noisy, noisy.length);
  });
});
