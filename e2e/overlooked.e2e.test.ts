import { describe, expect, it } from "vitest";
import { ANNOTATION_REFRESH } from "../src/shard/names.ts";
import { type SeenApplication, watchApplications } from "./application-watch.ts";
import { callHarness } from "./harness-client.ts";
import { inSeconds } from "./in-seconds.ts";
import {
  conditionOf,
  configMapFile,
  findApplication,
  IS_LONG,
  openWorkspace,
  openWorld,
  report,
  TYPES,
  until,
  type World,
} from "./world.ts";

const NAMESPACES = ["overlooked-1", "overlooked-2", "overlooked-3", "overlooked-4"];
const REQUESTS = 4_000;
/** Some reminders on a busy machine. Without them each of the four stops sooner or later, for up to three minutes at a time. */
const TIMEOUT_MS = 60_000;
const NUDGED = "argosy.dev/nudged";

/** Creates a deployment and waits until it is at rest. Returns the name of its Application. */
async function held(world: World, namespace: string): Promise<string> {
  const revision = await world.git.commit(namespace, { "dev/config.yaml": configMapFile("held", {}) });
  const workspace = await openWorkspace(world, namespace);
  await workspace.apply("held", { repository: namespace, path: "dev" });
  await workspace.settled("held", revision);
  return (await findApplication(world, namespace, "held"))?.metadata.name ?? "";
}

/** A controller refreshes by itself two minutes after its last refresh at the earliest. */
const BEFORE_ITS_OWN_REFRESH_MS = 90_000;
/** How many attempts may fail because the controller had compared before it was killed. */
const ROUNDS = 8;

/** Whether a sync of this revision has ended without a comparison since. */
function isUnseen({ operation, status }: SeenApplication, revision: string): boolean {
  const { operationState: { phase, finishedAt = "", syncResult } = {}, reconciledAt = "", sync } = status ?? {};
  if (operation !== undefined || phase !== "Succeeded" || syncResult?.revision !== revision) return false;
  return sync?.status === "OutOfSync" && reconciledAt <= finishedAt;
}

describe("a controller that is restarted the moment a sync has ended", () => {
  it("has not compared the result, and is reminded: the user reads Ready within seconds", async () => {
    const world = openWorld();
    const namespace = "overlooked-end";
    const name = await held(world, namespace);
    const workspace = await openWorkspace(world, namespace);
    const find = () => findApplication(world, namespace, "held") as Promise<SeenApplication>;
    const where = { namespace: (await find()).metadata.namespace ?? "", container: "argocd-application-controller" };
    let revision = "";
    const watch = await watchApplications(world);
    try {
      for (let round = 1; ; round += 1) {
        revision = await world.git.commit(namespace, { "dev/config.yaml": configMapFile("held", { round: String(round) }) });
        const ended = watch.first((each) => each.metadata.name === name && isUnseen(each, revision));
        await workspace.annotate("held", { "argosy.dev/refreshed-at": String(round) });
        // A controller may compare in the very write that ends the sync, and is never seen in between.
        const settled = workspace.settled("held", revision);
        settled.catch(() => undefined);
        const isCaught = await Promise.race([ended.then(() => true), settled.then(() => false)]);
        if (isCaught) {
          await callHarness(world.harness, "killContainer", where);
          if (isUnseen(await find(), revision)) break;
        }
        if (round === ROUNDS) throw new Error(`it had compared before it was killed, ${ROUNDS} times`);
        await settled;
      }
    } finally {
      await watch.close();
    }
    const since = performance.now();
    await until(
      "the user reads that it is being deployed",
      () => workspace.read("held"),
      (found) => conditionOf(found, "Ready")?.message === "Deploying what Git says",
    );
    await until(
      "the user reads Ready",
      () => workspace.read("held"),
      (found) => conditionOf(found, "Ready")?.status === "True" && found?.status?.sync?.revision === revision,
      BEFORE_ITS_OWN_REFRESH_MS,
    );
    report(`overlooked: Ready ${inSeconds(performance.now() - since)} after the controller was ended between a sync and its comparison`);
  });
});

describe.runIf(IS_LONG)("a refresh request that Argo CD misses", () => {
  // It misses requests that come within milliseconds of the controller's own write.
  it("is made again: with a request after each comparison, thousands of times, it goes on comparing", async () => {
    const world = openWorld();
    const names = new Set(await Promise.all(NAMESPACES.map((namespace) => held(world, namespace))));
    const marks = new Set<string>();
    const askedAt = new Map<string, number>();
    let [requests, longestMs] = [0, 0];
    const onState = ({ metadata: { name, namespace, annotations = {} } }: SeenApplication): void => {
      if (!names.has(name)) return;
      const mark = annotations[NUDGED];
      if (mark !== undefined) marks.add(`${name} ${mark}`);
      if (annotations[ANNOTATION_REFRESH] !== undefined || requests >= REQUESTS) return;
      longestMs = Math.max(longestMs, performance.now() - (askedAt.get(name) ?? performance.now()));
      requests += 1;
      askedAt.set(name, performance.now());
      const asked = { metadata: { annotations: { [ANNOTATION_REFRESH]: "normal" } } };
      void world.kube.mergePatch(TYPES.application, { namespace: namespace ?? "", name }, asked, world.signal).catch(() => undefined);
    };
    const watch = await watchApplications(world, onState);
    try {
      await until(
        "the last of the requests, or one that is not answered",
        async () => ({ requests, standing: Math.max(0, ...[...askedAt.values()].map((at) => performance.now() - at)) }),
        (now) => now.requests >= REQUESTS || now.standing > TIMEOUT_MS,
        15 * 60_000,
      );
    } finally {
      await watch.close();
    }
    report(`overlooked: ${requests} requests, reminded ${marks.size} times, the longest stood for ${Math.round(longestMs)} ms`);
    expect(requests).toBe(REQUESTS);
  });
});
