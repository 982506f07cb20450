import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ClassRule } from "../domain/fleet.ts";
import type { MovePhase } from "../domain/move.ts";
import { parseFleetDocument } from "../instance-provisioner/fleet-schema/parse-fleet.ts";
import { createMoveRequests } from "../mover/request-moves.ts";
import { createRolloutRequests } from "../rollout/request-rollouts.ts";
import { createCountingIds } from "../runtime/ids.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { placeFirst } from "../scheduler/find-instance.ts";
import { requestClassMove } from "../scheduler/request-class-move.ts";
import { createRingMemo } from "../scheduler/ring-memo.ts";
import { createMemoryStore } from "../store/adapters/memory/memory-store.ts";
import { aDecision, anInstance, anIntent } from "../store/testing/builders.ts";
import { createWorld } from "../store/testing/world.ts";
import { silentLog } from "../telemetry/log.ts";
import { classDecision, planClasses } from "../workspace/deployment/plan-classes.ts";
import { newUnitOf, workspacePolicy } from "../workspace/workspace-policy.ts";

const never = new AbortController().signal;
const EXAMPLE = new URL("../instance-provisioner/testing/fleet-example.yaml", import.meta.url);
const EARLY = { "class.argosy.dev/cohort": "early" };
const UNTIL_COMMIT: readonly MovePhase[] = ["PREPARE", "FENCE", "QUIESCE", "REVOKE", "COMMIT"];
const ENDING: readonly MovePhase[] = ["GRANT", "ACTIVATE", "VERIFY", "CLEANUP", "DONE"];

/** The fleet of the example in docs/fleet.md, with two instances that everybody gets and one of the channel that is first, all of the older release. */
async function theExample() {
  const parsed = parseFleetDocument(parse(readFileSync(EXAMPLE, "utf8")));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.complaints));
  const clock = createVirtualClock();
  const store = createMemoryStore({ clock });
  const world = createWorld(store);
  await store.fleet.applyFleet(parsed.spec, "ada", never);
  const old = { version: "3.4.7", desiredVersion: "3.4.7" };
  for (const name of ["standard-1", "standard-2"])
    await world.addInstance(anInstance({ ...old, name, namespace: name, class: "eu/shared/public" }));
  await world.addInstance(anInstance({ ...old, name: "early-1", namespace: "early-1", pool: "early", class: "eu/shared/public/early" }));
  const parts = { store, clock, ids: createCountingIds(), log: silentLog };
  const deps = { ...parts, ringsOf: createRingMemo(), moving: createMoveRequests(parts) };
  const policy = workspacePolicy(parsed.spec, await store.fleet.listInstances(never));
  const labels = new Map<string, ClassRule["labels"]>();
  const find = async (namespace: string) => {
    const rows = await store.operations.listWorkspaces({ namespace }, { limit: 1, after: "" }, never);
    const id = rows[0]?.units[0]?.id;
    const found = id && (await store.placements.readUnit(id, never));
    if (found === undefined) throw new Error(`there is no workspace ${namespace}`);
    return found;
  };
  /** What the workspace's and the scheduler's loops, and the mover, do about the labels as they are. */
  const settle = async (namespace: string): Promise<void> => {
    const known = await store.intents.listKnownWorkspaces("main", { limit: 1_000, after: "" }, never);
    const namespaceOf = (name: string) => ({
      name,
      uid: `uid-of-${name}`,
      labels: { "argosy.dev/workspace": "true", ...labels.get(name) },
      isDeleting: false,
    });
    for (const { workspace, ...given } of planClasses(known, {
      policy,
      namespaceOf,
      isMine: () => true,
    }))
      await store.intents.assignClass(
        { workspaceId: workspace.workspaceId, ...given, decision: classDecision(workspace, given, clock.now()) },
        never,
      );
    const found = await find(namespace);
    if (found.unit.owner === undefined) await placeFirst(deps, found, never);
    if (found.unit.owner !== undefined && found.unit.wantedClass !== undefined)
      await requestClassMove(deps, found, found.unit.wantedClass, never);
    for (const { id } of await store.moves.list({ isLive: true }, 10, never)) {
      await store.moves.begin(id, never);
      for (const [index, from] of UNTIL_COMMIT.entries())
        await store.moves.advance(id, { from, to: UNTIL_COMMIT[index + 1] ?? from, message: "" }, never);
      await store.moves.commit(id, aDecision({ subject: found.unit.id, verdict: "MOVED" }), never);
      for (const [index, from] of ENDING.entries())
        await store.moves.advance(id, { from, to: ENDING[index + 1] ?? from, message: "" }, never);
    }
  };
  return {
    async add(namespace: string, own: ClassRule["labels"]): Promise<void> {
      labels.set(namespace, own);
      const given = newUnitOf({ labels: own }, policy);
      if (given === undefined) throw new Error("a pool is declared");
      await world.record({
        namespace,
        class: given.class,
        workspace: { ...anIntent({ namespace }).workspace, trustClass: given.trustClass },
      });
      await settle(namespace);
    },
    async relabel(namespace: string, own: ClassRule["labels"]): Promise<void> {
      labels.set(namespace, own);
      await settle(namespace);
    },
    instanceOf: async (namespace: string) => {
      const { owner } = (await find(namespace)).unit;
      return (await store.fleet.listInstances(never)).find(({ id }) => id === owner)?.name;
    },
    wavesOf: async (version: string) => {
      const order = { version, pool: undefined, mode: "in-place", isEmergency: false, isUnattended: false, bakeMs: undefined } as const;
      const { rollout } = await createRolloutRequests(parts).draft({ ...order, actor: "ada", reason: "" }, never);
      return rollout.waves.map(({ instances }) => instances.map(({ name }) => name));
    },
  };
}

describe("the cohort that meets a release first", () => {
  it("is whoever has the label that a rule gives the class of a first channel: they live where rollouts begin, and nobody else does", async () => {
    const fleet = await theExample();
    await fleet.add("usual", {});
    await fleet.add("brave", EARLY);
    await fleet.add("late", {});
    const [first = [], ...others] = await fleet.wavesOf("3.5.7");
    expect(first).toEqual(["early-1"]);
    expect(others.flat().toSorted()).toEqual(["standard-1", "standard-2"]);
    expect(first).toContain(await fleet.instanceOf("brave"));
    for (const namespace of ["usual", "late"]) expect(first).not.toContain(await fleet.instanceOf(namespace));
  });

  it("is joined by a label alone: a workspace that lives elsewhere is handed over", async () => {
    const fleet = await theExample();
    await fleet.add("usual", {});
    const [first = []] = await fleet.wavesOf("3.5.7");
    expect(first).not.toContain(await fleet.instanceOf("usual"));
    await fleet.relabel("usual", EARLY);
    expect(first).toContain(await fleet.instanceOf("usual"));
  });
});
