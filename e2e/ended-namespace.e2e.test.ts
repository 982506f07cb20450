import { beforeAll, expect, it } from "vitest";
import type { WorkspaceView } from "../src/api/schema.ts";
import { ACCOUNTS_NAMESPACE, LABEL_UNIT } from "../src/domain/names.ts";
import { SERVICE_ACCOUNTS } from "../src/reconciler/adapters/kubernetes/types.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { inSeconds } from "./in-seconds.ts";
import { holdInRevoke, MOVE_TIMEOUT_MS, type Movable, openMovable } from "./moves-world.ts";
import { openWorld, report, TYPES, until, type World } from "./world.ts";

const NAMESPACE = "ended-meanwhile";
/** The story takes half a minute on an idle machine; a busy one may take ten times as long. */
const DEADLINE_MS = 10 * 60_000;

let world: World;
let movable: Movable;
beforeAll(async () => {
  world = openWorld();
  movable = await openMovable(world, NAMESPACE, ["app", "other"]);
}, DEADLINE_MS);

/** Names of the unit's Applications, on any instance. */
async function applications(): Promise<readonly string[]> {
  const labelSelector = `${LABEL_UNIT}=${movable.unitId}`;
  const pages = await Promise.all(
    movable.instances.map(({ name }) =>
      world.kube.listPage<KubeObject>(TYPES.application, { namespace: `argosy-${name}`, labelSelector, limit: 100 }, world.signal),
    ),
  );
  return pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
}

it(
  "a namespace that is deleted in the middle of a move is gone soon, the move goes on without it, and nothing is left anywhere (I4)",
  async () => {
    // The binding that lets the source write goes with the namespace.
    await holdInRevoke(world, movable, { namespace: NAMESPACE, name: "bypass" });
    const since = performance.now();
    await world.kube.delete(TYPES.namespace, { namespace: "", name: NAMESPACE }, {}, world.signal);
    await until(
      "the namespace is gone",
      () => world.kube.get(TYPES.namespace, { namespace: "", name: NAMESPACE }, world.signal),
      (found) => found === undefined,
      MOVE_TIMEOUT_MS,
    );
    const goneAfterMs = performance.now() - since;
    // The move's row goes with those of the workspace, which stay until the move has ended.
    await until(
      "the workspace is forgotten",
      () => world.rest.all<WorkspaceView>("/v1/workspaces"),
      (all) => all.every(({ namespace }) => namespace !== NAMESPACE),
      MOVE_TIMEOUT_MS,
    );
    expect(await applications()).toEqual([]);
    for (const name of movable.accounts)
      expect(await world.kube.get(SERVICE_ACCOUNTS, { namespace: ACCOUNTS_NAMESPACE, name }, world.signal)).toBeUndefined();
    const took = [goneAfterMs, performance.now() - since].map(inSeconds);
    report(`a namespace deleted while its move stood in REVOKE was gone after ${took[0]}, and all of its workspace after ${took[1]}`);
  },
  DEADLINE_MS,
);
