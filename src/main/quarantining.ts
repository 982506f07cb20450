import { againWhenStale } from "../api/again-when-stale.ts";
import { nextInstance, planCreation } from "../api/instance-orders.ts";
import { readPools } from "../api/read-pools.ts";
import { LOAD_DIMENSIONS } from "../domain/load.ts";
import type { QuarantineRequests } from "../health/port.ts";
import { HEALTH } from "../health/quarantine/entries.ts";
import { planFleet } from "../instance-provisioner/fleet-plan.ts";
import { usableCapacityOf } from "../mover/why-not-move.ts";
import { freezeAt } from "../scheduler/plan/assemble.ts";
import type { Store } from "../store/port.ts";
import { type RequestPorts, refusalOf } from "./request-ports.ts";

/** Gives a workspace an instance of its own, as a person would by `argosy instance create` and `argosy move`. */
export function quarantining({
  moving,
  store,
}: Pick<RequestPorts, "moving"> & { readonly store: Pick<Store, "fleet" | "loads"> }): QuarantineRequests {
  const read = (signal: AbortSignal) => readPools({ store, planFleet }, signal);
  const undeclared = "no fleet is declared";
  return {
    freezeAt,
    fits: (load, capacity) => LOAD_DIMENSIONS.every((dimension) => load[dimension] <= usableCapacityOf({ capacity })[dimension]),
    async nextOf(pool, signal) {
      const facts = await read(signal);
      return facts === undefined ? { why: undeclared } : nextInstance(pool, facts, facts.planned);
    },
    create: (name, signal) =>
      againWhenStale(async () => {
        const facts = await read(signal);
        if (facts === undefined) return undeclared;
        const order = planCreation(name, facts, facts.planned);
        if (order.kind === "refused") return order.text;
        if (order.kind === "carry-out" && order.spec !== undefined)
          await store.fleet.changeFleet({ spec: order.spec, actor: HEALTH, revision: facts.revision }, signal);
        return undefined;
      }),
    whyNot: async (unit, target, signal) => (await moving.whyNot({ unit, target }, signal))?.text,
    move: (unit, target, signal) => refusalOf(moving.ask({ unit, target, kind: "drain", actor: HEALTH }, signal)),
    async giveUp(move, signal) {
      await refusalOf(moving.abort(move, HEALTH, signal));
    },
  };
}
