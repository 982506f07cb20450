import { StaleError } from "../../../domain/errors.ts";
import { isLiveRollout, type Rollout } from "../../../domain/rollout.ts";
import type { RolloutStore } from "../../port.ts";
import type { Tables, Transact } from "./tables.ts";

export function createMemoryRolloutStore(transact: Transact): RolloutStore {
  return {
    create: (rollout, decision, signal) =>
      transact(signal, ({ tables, notify }) => {
        const live = liveOf(tables);
        // Asked again because the answer was lost.
        if (live !== undefined) return live.id === rollout.id ? undefined : live;
        tables.rollouts.set(rollout.id, structuredClone(rollout));
        tables.decisions.push(decision);
        notify("rollout", rollout.id);
        return undefined;
      }),
    change: ({ rollout, decision, freezes }, signal) =>
      transact(signal, ({ tables, notify, now }) => {
        const before = tables.rollouts.get(rollout.id);
        if (before?.revision !== rollout.revision)
          throw new StaleError("changing a rollout that has changed meanwhile", {
            code: "store.rollout-stale",
            context: { rollout: rollout.id, revision: rollout.revision },
          });
        const after = { ...structuredClone(rollout), revision: rollout.revision + 1 };
        tables.rollouts.set(rollout.id, after);
        if (decision !== undefined) tables.decisions.push(decision);
        if (freezes !== undefined)
          tables.frozenVersions.set(freezes, { version: freezes, rollout: rollout.id, reason: rollout.ending?.reason ?? "", at: now() });
        notify("rollout", rollout.id);
        return after;
      }),
    read: (id, signal) => transact(signal, ({ tables }) => tables.rollouts.get(id)),
    readLive: (signal) => transact(signal, ({ tables }) => liveOf(tables)),
    list: (limit, signal) =>
      transact(signal, ({ tables }) =>
        [...tables.rollouts.values()].sort((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1)).slice(0, limit),
      ),
    listFrozen: (signal) =>
      transact(signal, ({ tables }) => [...tables.frozenVersions.values()].sort((a, b) => (a.version < b.version ? -1 : 1))),
    unfreeze: (version, decision, signal) =>
      transact(signal, ({ tables }) => {
        const wasFrozen = tables.frozenVersions.delete(version);
        if (wasFrozen) tables.decisions.push(decision);
        return wasFrozen;
      }),
  };
}

export function liveOf({ rollouts }: Tables): Rollout | undefined {
  return [...rollouts.values()].find(isLiveRollout);
}
