import type { Decision } from "../../../domain/decision.ts";
import { GoneError, RefusedError, StaleError } from "../../../domain/errors.ts";
import type { FleetSpec } from "../../../domain/fleet.ts";
import { canonicalJson } from "../../../domain/hash.ts";
import type { Instance } from "../../../domain/instance.ts";
import { changedPools, changesOf, declaredAnew, FLEET, fleetDecision, stillUndeclared } from "../../fleet/fleet-changes.ts";
import type { FleetStore, InstanceChange } from "../../fleet/port.ts";
import { unitsAt } from "./live-moves.ts";
import type { Transact, Transaction } from "./tables.ts";

export function createFleetStore(transact: Transact): FleetStore {
  return {
    readFleet: (signal) => transact(signal, ({ tables }) => tables.fleet),
    applyFleet: (spec, actor, signal) => transact(signal, (transaction) => applyFleet(transaction, spec, actor)),
    prunePools: (actor, signal) => transact(signal, (transaction) => prunePools(transaction, actor)),
    listInstances: (signal) => transact(signal, ({ tables }) => [...tables.instances.values()].sort((a, b) => (a.id < b.id ? -1 : 1))),
    readInstance: (id, signal) => transact(signal, ({ tables }) => tables.instances.get(id)),
    insertInstance: (instance, decision, signal) => transact(signal, (transaction) => insertInstance(transaction, instance, decision)),
    changeInstance: (change, signal) => transact(signal, (transaction) => changeInstance(transaction, change)),
    retireInstance: (change, fleet, signal) =>
      transact(signal, (transaction) => {
        if (fleet !== undefined && transaction.tables.fleet?.revision !== fleet.revision) throw declaredAnew(fleet.revision);
        const instance = changeInstance(transaction, { ...change, onlyIfEmpty: true });
        if (fleet !== undefined) applyFleet(transaction, fleet.spec, fleet.actor);
        return instance;
      }),
    countUnits: (signal) =>
      transact(signal, ({ tables }) => {
        const counts = [...tables.instances.keys()].sort().map((id) => [id, unitsAt(tables, id)] as const);
        return new Map(counts.filter(([, count]) => count > 0));
      }),
  };
}

function applyFleet({ tables, notify, now }: Transaction, spec: FleetSpec, actor: string): number {
  const before = tables.fleet;
  if (before !== undefined && canonicalJson(before.spec) === canonicalJson(spec)) return before.revision;
  const revision = (before?.revision ?? 0) + 1;
  const pools = changedPools(before?.spec, spec);
  tables.fleet = { spec, revision, pruned: stillUndeclared(before?.pruned ?? [], spec) };
  tables.decisions.push(fleetDecision({ at: now(), actor, revision, pools, changes: changesOf(before?.spec, spec) }));
  notify("fleet", FLEET);
  for (const pool of pools) notify("pool", pool);
  return revision;
}

function prunePools({ tables, notify, now }: Transaction, actor: string): readonly string[] {
  const before = tables.fleet;
  if (before === undefined) return [];
  const peopled = [...tables.instances.values()].filter(({ state }) => state !== "RETIRED").map(({ pool }) => pool);
  const pruned = stillUndeclared([...new Set(peopled)].sort(), before.spec);
  if (canonicalJson(pruned) === canonicalJson(before.pruned)) return pruned;
  const revision = before.revision + 1;
  tables.fleet = { ...before, revision, pruned };
  tables.decisions.push(fleetDecision({ at: now(), actor, revision, pools: pruned, verdict: "PRUNED" }));
  for (const pool of pruned) notify("pool", pool);
  return pruned;
}

function insertInstance({ tables, notify }: Transaction, instance: Instance, decision: Decision): boolean {
  const isTaken = (other: Instance): boolean =>
    other.id === instance.id ||
    other.name === instance.name ||
    (other.engineCluster === instance.engineCluster && other.namespace === instance.namespace);
  if ([...tables.instances.values()].some(isTaken)) return false;
  tables.instances.set(instance.id, instance);
  tables.decisions.push(decision);
  notify("instance", instance.id);
  return true;
}

function changeInstance({ tables, notify, now }: Transaction, change: InstanceChange): Instance {
  const { id, revision, decision, onlyIfEmpty, onlyIfNotLast, ...fields } = change;
  const before = tables.instances.get(id);
  if (before === undefined)
    throw new GoneError("changing an instance that is not there", { code: "store.instance-gone", context: { instance: id } });
  if (before.revision !== revision)
    throw new StaleError("changing an instance that has changed meanwhile", {
      code: "store.instance-stale",
      context: { instance: id, revision },
    });
  if (onlyIfEmpty === true && unitsAt(tables, id) > 0)
    throw new StaleError("sending an instance away that was given a unit meanwhile", {
      code: "store.instance-held",
      context: { instance: id, revision },
    });
  const isOther = (one: Instance): boolean => one.id !== id && one.class === before.class && one.state === "ACTIVE";
  if (onlyIfNotLast === true && ![...tables.instances.values()].some(isOther))
    throw new RefusedError("sending away the last instance of its class that is ACTIVE", {
      code: "store.instance-last",
      context: { instance: id },
    });
  const after: Instance = {
    ...before,
    ...fields,
    stateSince: fields.state === before.state ? before.stateSince : now(),
    revision: revision + 1,
  };
  tables.instances.set(id, after);
  if (decision !== undefined) tables.decisions.push(decision);
  notify("instance", id);
  return after;
}
