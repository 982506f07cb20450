import { describe, expect, it } from "vitest";
import { ANNOTATION_REFRESH } from "../src/shard/names.ts";
import { type SeenApplication, watchApplications } from "./application-watch.ts";
import { configMapFile, findApplication, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACES = ["overlooked-1", "overlooked-2", "overlooked-3", "overlooked-4"];
const REQUESTS = 4_000;
/** Some nudges on a machine that is full. Without them each of the four stands still sooner or later, for up to three minutes at a time. */
const PATIENCE_MS = 60_000;
const NUDGED = "argosy.dev/nudged";

/** One deployment at rest; the name of its Application. */
async function held(world: World, namespace: string): Promise<string> {
  const revision = await world.git.commit(namespace, { "dev/config.yaml": configMapFile("held", {}) });
  const workspace = await openWorkspace(world, namespace);
  await workspace.apply("held", { repository: namespace, path: "dev" });
  await workspace.settled("held", revision);
  return (await findApplication(world, namespace, "held"))?.metadata.name ?? "";
}

describe.runIf(IS_LONG)("a request to look that Argo CD overlooks", () => {
  // Within milliseconds of the controller's own write is when it overlooks what comes.
  it("is made again: asked the moment it has looked, thousands of times, it goes on looking", async () => {
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
        "as many requests as there are to be, or one that stands",
        async () => ({ requests, standing: Math.max(0, ...[...askedAt.values()].map((at) => performance.now() - at)) }),
        (now) => now.requests >= REQUESTS || now.standing > PATIENCE_MS,
        15 * 60_000,
      );
    } finally {
      await watch.close();
    }
    report(`overlooked: ${requests} requests, reminded ${marks.size} times, the longest stood for ${Math.round(longestMs)} ms`);
    expect(requests).toBe(REQUESTS);
  });
});
