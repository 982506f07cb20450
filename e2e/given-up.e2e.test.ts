import { afterAll, beforeAll, expect, it } from "vitest";
import type { MoveView } from "../src/api/routes/moves.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { inSeconds } from "./in-seconds.ts";
import { holdInRevoke, MOVE_TIMEOUT_MS, type Movable, moveEnded, openMovable } from "./moves-world.ts";
import { allowMore, forbidMore } from "./quota.ts";
import { configMapFile, findApplication, openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "given-up";
const QUOTA = { namespace: NAMESPACE, name: "no-more" };
const BYPASS = { namespace: NAMESPACE, name: "bypass" };
/** The story takes half a minute on an idle machine; a busy one may take ten times as long. */
const DEADLINE_MS = 10 * 60_000;

interface Syncing extends KubeObject {
  readonly status?: { readonly operationState?: { readonly phase: string; readonly finishedAt?: string; readonly message?: string } };
}

let world: World;
let movable: Movable;
beforeAll(async () => {
  world = openWorld();
  movable = await openMovable(world, NAMESPACE, ["app"]);
}, DEADLINE_MS);
afterAll(() => movable?.workspace.remove("app"));

/** The last sync by the owner's Argo CD. During a move another instance has a copy of that name. */
async function lastSync() {
  const name = (await findApplication(world, NAMESPACE, "app"))?.metadata.name ?? "";
  const at = { namespace: `argosy-${await movable.owner()}`, name };
  return (await world.kube.get<Syncing>(TYPES.application, at, world.signal))?.status?.operationState;
}

/** Pushes one object more than the namespace has room for, and waits until its sync waits for the next attempt. */
async function pushInVain(): Promise<void> {
  await forbidMore(world, QUOTA, "count/configmaps");
  await world.git.commit(NAMESPACE, { "app/more.yaml": configMapFile("more", { push: "1" }) });
  await movable.workspace.annotate("app", { "argosy.dev/refreshed-at": "1" });
  await until("a sync that waits for its next attempt", lastSync, (state) => state?.phase === "Running" && state.finishedAt !== undefined);
}

it(
  "a push whose sync was waiting for its next attempt when a move stopped it is deployed by the old owner, although the move was given up (I4, I6)",
  async () => {
    const owner = await movable.owner();
    await pushInVain();
    const { id } = await holdInRevoke(world, movable, BYPASS);
    expect(await lastSync()).toMatchObject({ phase: "Failed", message: expect.stringMatching(/^Operation terminated/) });
    const given = await moveEnded(world, await world.rest.post<MoveView>(`/v1/moves/${id}/abort`, {}));
    expect([given.phase, await movable.owner()]).toEqual(["ABORTED", owner]);
    await world.kube.delete(TYPES.roleBinding, BYPASS, {}, world.signal);
    await allowMore(world, QUOTA);
    const since = performance.now();
    await until(
      "the pushed change deployed",
      () => movable.workspace.configMap("more"),
      (found) => found?.data?.["push"] === "1",
      MOVE_TIMEOUT_MS,
    );
    await movable.workspace.settled("app");
    report(`what was pushed before a move that was given up stands ${inSeconds(performance.now() - since)} after there was room for it`);
  },
  DEADLINE_MS,
);
