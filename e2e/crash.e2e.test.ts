import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { setCpuShare } from "../hack/dev-cluster/process-node/control.ts";
import type { InstanceView } from "../src/api/schema.ts";
import { ownerOf } from "../src/domain/partition.ts";
import { allReady, samplesOf } from "./control-plane.ts";
import { callHarness } from "./harness-client.ts";
import { inSeconds } from "./in-seconds.ts";
import { expectNoOrphans, expectWhole, isStanding, openTruth, type Truth } from "./truth.ts";
import { configMapFile, findApplication, IS_LONG, openWorkspace, openWorld, report, until, type Workspace, type World } from "./world.ts";

/** So many that every member has several, whatever their ids are. */
const WORKSPACES = 10;
const EACH = IS_LONG ? 30 : 20;
/** P6 promises a minute. The time is printed and not checked, because machines that run tests are busy. */
const BUSY_MS = 300_000;
/** How long nothing may be written while nothing happens: longer than every timer except the daily ones. */
const QUIET_MS = 130_000;

/** Time for the leftovers of other stories to be cleaned up, with pauses of minutes. */
const GUARD_MS = 6 * QUIET_MS;

let world: World;
let truth: Truth;
beforeAll(async () => {
  world = openWorld();
  truth = await openTruth(world);
});
afterAll(() => truth.close());

describe("a killed control plane", () => {
  it(`loses nothing and repeats nothing in the middle of ${WORKSPACES * EACH} creations, and reports when nothing is half-done any more (P6)`, async () => {
    const names = Array.from({ length: EACH }, (_, index) => `app-${index}`);
    await world.git.commit("crash", Object.fromEntries(names.map((name) => [`${name}/config.yaml`, configMapFile(name, {})])));
    const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, (_, index) => openWorkspace(world, `crash-${index}`)));
    const namespaces = workspaces.map(({ namespace }) => namespace);
    const requests = names.flatMap((name) => namespaces.map((namespace) => `${namespace}/${name}`));
    const members = await Promise.all(world.harness.argosyUrls.map((_, index) => callHarness(world.harness, "memberOf", { index })));
    const victim = members.length - 1;
    const orphaned = namespaces.filter((namespace) => ownerOf(namespace, members as string[]) === members[victim]);

    let killedAtMs = 0;
    const sinceKill = (): number => performance.now() - killedAtMs;
    let takenOver: Promise<number> | undefined;
    for (const [index, name] of names.entries()) {
      for (const workspace of workspaces) await workspace.apply(name, { repository: "crash", path: name });
      if (index !== Math.floor(EACH / 2)) continue;
      await callHarness(world.harness, "killArgosy", { index: victim });
      killedAtMs = performance.now();
      takenOver = firstNewRow(orphaned).then(sinceKill);
      // Awaited only after the last creation.
      takenOver.catch(() => undefined);
    }
    const requestedAtMs = performance.now();
    const who = `${members.length} control planes, one killed`;
    report(`${who}: ${orphaned.length} of ${WORKSPACES} workspaces taken over after ${inSeconds((await takenOver) ?? 0)}`);
    await until(
      "every request written to its instance and acknowledged",
      () => truth.rows(namespaces),
      (rows) => rows.length === requests.length && rows.every(isStanding),
      BUSY_MS,
    );
    report(
      `nothing half-done ${inSeconds(sinceKill())} after the kill, ${inSeconds(performance.now() - requestedAtMs)} after the last request`,
    );
    await Promise.all(workspaces.map((workspace) => allSettled(workspace, names)));
    report(`every user's status Synced and Healthy ${inSeconds(sinceKill())} after the kill`);
    await expectWhole(truth, requests, world.signal);
    await expectNoOrphans(truth, world.signal);

    await callHarness(world.harness, "startArgosy", { index: victim });
    await allReady(world);
  });

  // In short runs a contract test of the reconciler says that nothing is written where nothing has changed.
  it.runIf(IS_LONG)("leaves no trace once all are back: with nothing to do, no control plane writes anything", async () => {
    await allReady(world);
    let last = { counts: await writes(), atMs: performance.now(), moved: [] as readonly string[] };
    const startedAtMs = last.atMs;
    await until(
      `nothing written for ${inSeconds(QUIET_MS)}`,
      async () => {
        const counts = await writes();
        const moved = [...counts].flatMap(([labels, count]) => (count === last.counts.get(labels) ? [] : [labels]));
        if (moved.length > 0) last = { counts, atMs: performance.now(), moved };
        return { quietMs: performance.now() - last.atMs, moved: last.moved };
      },
      ({ quietMs }) => quietMs >= QUIET_MS,
      GUARD_MS,
    );
    report(
      `0 writes in ${inSeconds(QUIET_MS)} by ${world.harness.argosyUrls.length} idle control planes, beginning ${inSeconds(last.atMs - startedAtMs)} after they were left alone; the last one was ${last.moved.join(" ") || "before"}`,
    );
  });
});

describe("an instance's controller that hangs, dies and comes back", () => {
  it("delays no status of other instances' users, and its own users get theirs afterwards (P6)", async () => {
    const [first, second] = await onTwoInstances();
    const namespace = first.object.namespace;
    const pod = { namespace, name: "argocd-application-controller-0" };
    await setCpuShare(world.kube, pod, 0, world.signal);
    const change = async ({ workspace }: Placed, step: string): Promise<string> => {
      const { namespace: repository } = workspace;
      const revision = await world.git.commit(repository, { "dev/config.yaml": configMapFile("config", { step }) });
      await workspace.annotate("app", { "argosy.dev/refreshed-at": step });
      return revision;
    };
    const missed = await change(first, "while it hangs");
    for (const step of ["one", "two", "three"]) await second.workspace.settled("app", await change(second, step));
    // All of this arrived while the other instance did nothing at all.
    expect((await first.workspace.read("app"))?.status?.sync?.revision).not.toBe(missed);

    await setCpuShare(world.kube, pod, 1, world.signal);
    expect(await callHarness(world.harness, "killContainer", { namespace, container: "argocd-application-controller" })).toBe(1);
    await second.workspace.settled("app", await change(second, "four"));
    await first.workspace.settled("app", await change(first, "after the kill"));
    expect((await first.workspace.configMap("config"))?.data).toEqual({ step: "after the kill" });
  });
});

/**
 * Counts requests that change something, by cluster, method and answer. While environments of other stories are
 * declared, their clusters are checked every few minutes. Such a check sends a review, which looks like a write and
 * changes nothing, and an Event of theirs may be counted on.
 */
async function writes(): Promise<ReadonlyMap<string, number>> {
  const all = await samplesOf(world, "argosy_kube_requests_total");
  return new Map([...all].filter(([labels]) => !/method="(GET|WATCH)"|cluster="environment"|resource="events"/.test(labels)));
}

/** Waits until something new is recorded in these namespaces. Resolves at once if there are none. */
async function firstNewRow(namespaces: readonly string[]): Promise<void> {
  const recorded = new Set((await truth.rows(namespaces)).map(({ application }) => application.id));
  await until(
    "the dead one's namespaces taken over",
    () => truth.rows(namespaces),
    (rows) => namespaces.length === 0 || rows.some(({ application }) => !recorded.has(application.id)),
  );
}

interface Placed {
  readonly workspace: Workspace;
  readonly object: { readonly namespace: string };
}

/** More than an instance may hold above its share: until then the ring's choices go to the other one. */
const MOST_OPENED = 40;

/** Opens workspaces until two of them live on different instances. Returns those two, each with `app` settled. */
async function onTwoInstances(): Promise<readonly [Placed, Placed]> {
  const placed: Placed[] = [];
  for (let index = 0; index < MOST_OPENED; index += 1) {
    const name = `crash-engine-${index}`;
    await world.git.commit(name, { "dev/config.yaml": configMapFile("config", { step: "zero" }) });
    const workspace = await openWorkspace(world, name);
    await workspace.apply("app", { repository: name, path: "dev" });
    await workspace.settled("app");
    const namespace = (await findApplication(world, name, "app"))?.metadata.namespace ?? "";
    placed.push({ workspace, object: { namespace } });
    const other = placed.find((one) => one.object.namespace !== namespace);
    if (other !== undefined) return [other, { workspace, object: { namespace } }];
  }
  const instances = await world.rest.all<InstanceView>("/v1/instances");
  throw new Error(
    `all ${MOST_OPENED} workspaces are on one instance of ${instances.map(({ name, units }) => `${name} ${units}`).join(", ")}`,
  );
}

/** Waits until the user of each name reads Synced and Healthy. */
async function allSettled(workspace: Workspace, names: readonly string[]): Promise<void> {
  for (const name of names) await workspace.settled(name);
}
