import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import { again } from "./again.ts";
import { playEnvironments } from "./environments.ts";
import { type FarWorld, openFar } from "./far-world.ts";
import { MOVE_TIMEOUT_MS } from "./moves-world.ts";
import { startTargetCluster, type TargetCluster } from "./target-cluster.ts";
import { configMapFile, IS_LONG, openWorkspace, openWorld, report, TYPES, until, type Workspace, type World } from "./world.ts";

const [SOURCE, TARGET] = ["failing-1", "steady-1"] as const;
const [OURS, SOFT] = ["fail-ours", "fail-soft"] as const;
const NAMES = ["home", "shop"] as const;
const PROBE_EVERY_MS = 200;
const PUSH_EVERY_MS = 1_000;
/** The story takes two minutes on an idle machine; a busy one may take ten times as long. */
const DEADLINE_MS = 25 * 60_000;

describe.runIf(IS_LONG)("an instance that cannot be reached and goes on working", () => {
  let world: World;
  let far: FarWorld;
  let target: TargetCluster;
  beforeAll(async () => {
    world = openWorld(DEADLINE_MS);
    far = await openFar(world);
    target = await startTargetCluster(world.signal);
  }, 300_000);
  afterAll(async () => {
    await far.close();
    await target.stop();
  }, 600_000);

  const parts = () => ({ world, target });
  const { putSecret, putEnvironment, deploy } = playEnvironments(parts);

  /** A workspace with two deployments: both to its own namespace, or one to an environment with its user's own credential. */
  async function settle(namespace: string, isSoft: boolean): Promise<Workspace> {
    const workspace = await openWorkspace(world, namespace);
    if (isSoft) {
      await target.namespace("soft");
      await putSecret(namespace, { token: await target.account("of-the-user") });
      await putEnvironment(namespace, { namespaces: ["soft"] });
    }
    await world.git.commit(namespace, Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: "0" })])));
    const destination = { environment: "prod", namespace: "soft" };
    for (const name of NAMES) await deploy(workspace, name, isSoft && name === "shop" ? destination : undefined);
    for (const name of NAMES) await workspace.settled(name);
    return workspace;
  }

  const uidsOf = (workspace: Workspace) => Promise.all(NAMES.map(async (name) => (await workspace.configMap(name))?.metadata.uid));
  const push = (step: string) =>
    world.git.commit(OURS, Object.fromEntries(NAMES.map((name) => [`${name}/config.yaml`, configMapFile(name, { push: step })])));
  const arrived = (workspace: Workspace, step: string) =>
    Promise.all(
      NAMES.map((name) =>
        until(
          `${name} at push ${step}`,
          () => workspace.configMap(name),
          (found) => found?.data?.["push"] === step,
          MOVE_TIMEOUT_MS,
        ),
      ),
    );

  it(
    "is refused where it deploys, and other instances take over what can be taken from it (I1, I2, I8)",
    async () => {
      await far.declare(1);
      await far.cordon(TARGET, true);
      const workspace = await settle(OURS, false);
      await settle(SOFT, true);
      await far.cordon(TARGET, false);
      expect(await far.instancesOf(OURS)).toEqual(new Set([SOURCE]));
      const uids = await uidsOf(workspace);
      expect(uids).not.toContain(undefined);

      await far.cut();
      await push("cut");
      await far.poke(SOURCE, OURS);
      await arrived(workspace, "cut");

      const request = { to: TARGET, failOver: true };
      const refused = await world.rest.post("/v1/moves", { ...request, workspace: SOFT }).catch((error: unknown) => String(error));
      expect(refused).toContain(`its credential is the user's own and cannot be taken from ${SOURCE}`);

      const seen = new Set<number>();
      let pushes = 0;
      const watching = [
        again(PROBE_EVERY_MS, async () => void seen.add(await far.writers(OURS))),
        again(PUSH_EVERY_MS, async () => {
          pushes += 1;
          await push(String(pushes));
          await far.poke(SOURCE, OURS);
          expect(await uidsOf(workspace)).toEqual(uids);
        }),
      ];
      let moved: MoveView;
      try {
        const saw = (count: number) =>
          until(
            `${count} writers`,
            async () => [...seen],
            (all) => all.includes(count),
            MOVE_TIMEOUT_MS,
          );
        await saw(1);
        const { id } = await world.rest.post<MoveView>("/v1/moves", { ...request, workspace: OURS });
        moved = await until(
          "the fail-over ended",
          () => world.rest.get<MoveView>(`/v1/moves/${id}`),
          ({ endedAt }) => endedAt !== null,
          MOVE_TIMEOUT_MS,
        );
      } finally {
        for (const each of watching) await each.end();
      }
      report(`a fail-over of two applications: gap ${moved.gapMs} ms, whole ${moved.tookMs} ms, ${pushes} pushes`);
      expect([moved.phase, moved.kind, moved.failOver, moved.message]).toEqual([
        ...["DONE", "evacuation", true, "what stands on its former instance goes once that can be reached"],
      ]);
      // The probes work: they see an owner, and none during the gap.
      expect(seen).toEqual(new Set([0, 1]));
      expect(await far.instancesOf(OURS)).toEqual(new Set([TARGET]));

      // The former owner is alive and keeps trying. Its cluster refuses it, and what the new owner deploys stays.
      const left = await far.standingOn(SOURCE, OURS);
      expect(left).toHaveLength(NAMES.length);
      await push("over");
      await far.poke(SOURCE, OURS);
      await far.poke(TARGET, OURS);
      await until(
        "the former owner refused",
        () => far.standingOn(SOURCE, OURS),
        (all) => all.every(({ status }) => /forbidden|cannot|Unauthorized/.test(status?.operationState?.message ?? "")),
        MOVE_TIMEOUT_MS,
      );
      await arrived(workspace, "over");
      expect(await uidsOf(workspace)).toEqual(uids);

      await far.restore();
      const backAt = performance.now();
      await until(
        "nothing on the former owner",
        () => far.standingOn(SOURCE, OURS),
        (all) => all.length === 0,
        2 * MOVE_TIMEOUT_MS,
      );
      report(`what was left behind was gone ${Math.round((performance.now() - backAt) / 1000)} s after its instance was back`);
      await push("after");
      await far.poke(TARGET, OURS);
      await arrived(workspace, "after");
      expect(await uidsOf(workspace)).toEqual(uids);
      for (const namespace of [OURS, SOFT]) await world.kube.delete(TYPES.namespace, { namespace: "", name: namespace }, {}, world.signal);
    },
    DEADLINE_MS,
  );
});
