import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bucketKeys } from "../../domain/bucket.ts";
import { millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { ApplicationId, UnitId } from "../../domain/ids.ts";
import { ZERO_LOAD } from "../../domain/load.ts";
import { createVirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { ownerBindingName, projectName } from "../../shard/names.ts";
import { APPLICATIONS, ROLE_BINDINGS } from "../adapters/kubernetes/types.ts";
import { type Deployed, deploying, type Raw } from "../testing/deploy.ts";
import { passes } from "../testing/until.ts";
import { startWorld, type World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());
const { deploy } = deploying(() => world);

const DECISION: Decision = { at: millis(0), subject: "test", kind: "placement", verdict: "CUT", rule: "PARTS", details: {} };
const SECOND = "unit-of-the-second" as UnitId;

describe("a part that another one has taken over", () => {
  const projectOf = async ({ instance }: Deployed, id: ApplicationId): Promise<unknown> => {
    const name = (await world.rows.application(id))?.argoName ?? "";
    const found = await world.hands.engine.get<Raw>(APPLICATIONS, { namespace: instance.namespace, name }, world.signal);
    return (found?.spec as { readonly project?: string } | undefined)?.project;
  };
  const seen = async () => {
    const [row] = await world.rows.memory.splits.list("eu/shared/public", ZERO_LOAD, world.signal);
    if (row === undefined) throw new Error("there is no workspace");
    return { workspaceId: row.workspaceId, seen: row.units.map(({ id, rowVersion }) => ({ id, rowVersion })), parts: row.units.length };
  };
  const bindingOf = (part: number) =>
    world.hands.api.get<Raw>(ROLE_BINDINGS, { namespace: "team-a", name: ownerBindingName(part) }, world.signal);

  /** A workspace whose application `api` has passed to a second part and is to pass back, now. */
  const joined = async () => {
    const { splits } = world.rows.memory;
    const deployed = await deploy();
    const api = await world.rows.addApplication("team-a", "api");
    const clock = createVirtualClock();
    await world.startReconciler(undefined, { clock });
    const becomes = (what: string, isSo: () => Promise<boolean>) => passes({ clock, withinMs: 60_000 }, what, isSo);
    await becomes("both are there", async () => (await projectOf(deployed, api.id)) === projectName(deployed.unit.id));
    const deal = { [bucketKeys({}, "web")[1]]: 0, [bucketKeys({}, "api")[1]]: 1 };
    const cut = {
      ...{ ...(await seen()), unitId: deployed.unit.id, staying: { id: SECOND, part: 1 }, deal },
      ...{ loads: { leaving: ZERO_LOAD, staying: ZERO_LOAD }, decision: DECISION },
    };
    expect(await splits.cut(cut, world.signal)).toBe(true);
    await becomes("one has passed", async () => (await projectOf(deployed, api.id)) === projectName(SECOND));
    await becomes("the second may write", async () => (await bindingOf(1)) !== undefined);
    const all = Object.fromEntries(Object.keys(deal).map((key) => [key, 0]));
    const join = { ...(await seen()), unitId: SECOND, into: deployed.unit.id, deal: all, decision: DECISION };
    expect(await splits.join(join, world.signal)).toBe(true);
    return {
      clock,
      becomes,
      /** Says of `api` that it is being synced since then. */
      async sync(startedAt: number, phase = "Running") {
        const state = { phase, startedAt: new Date(startedAt).toISOString(), operation: { sync: {} } };
        const at = { namespace: deployed.instance.namespace, name: api.argoName };
        await world.hands.engine.mergePatch(APPLICATIONS, at, { status: { operationState: state } }, world.signal);
      },
      async takeOver() {
        expect(await splits.takeOver(SECOND, DECISION, world.signal)).toBe(true);
        await becomes("it has passed back", async () => (await projectOf(deployed, api.id)) === projectName(deployed.unit.id));
      },
      /** Its row was read three times by whoever is to take it down. */
      async isObserved() {
        const reads = () => world.rows.statements()["readUnit"] ?? 0;
        const before = reads();
        await becomes("it was observed", async () => reads() >= before + 3);
      },
      isGone: async () => (await bindingOf(1)) === undefined && (await seen()).parts === 1,
    };
  };

  test("is taken down once the syncs that were begun before have ended", async () => {
    const { clock, becomes, sync, takeOver, isObserved, isGone } = await joined();
    const began = clock.now() - 5_000;
    await sync(began);
    await takeOver();
    await isObserved();
    expect(await isGone()).toBe(false);
    expect((await bindingOf(1))?.subjects).toHaveLength(1);
    await sync(began, "Succeeded");
    await becomes("it is gone", isGone);
  });

  test("waits for one that does not end, and no longer than two minutes", async () => {
    const { clock, becomes, sync, takeOver, isObserved, isGone } = await joined();
    await sync(clock.now() - 5_000);
    await takeOver();
    await isObserved();
    expect(await isGone()).toBe(false);
    await clock.advance(121_000);
    await becomes("it is gone all the same", isGone);
  });
});
