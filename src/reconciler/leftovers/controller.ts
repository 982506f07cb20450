import type { UnitId } from "../../domain/ids.ts";
import { planRemoval } from "../../shard/diff-object.ts";
import { judgeLeftovers, type LeftoverKind, type UnitObject, type Whereabouts } from "../../shard/leftovers.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { holderOf, unitOf } from "../../shard/parse-application.ts";
import type { OwnNamespaces } from "../../shard/seat.ts";
import type { OwnedUnit, ShardStore } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Carrier } from "../object/controller.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";
import type { Host } from "../seats/controller.ts";

/** Removes what stands on an instance for units that are gone or live elsewhere: nobody else looks there for it. */
export interface LeftoverSweep {
  /** `owned`: the units the instance holds, as far as they were read already. */
  sweep(host: Host, owned: readonly OwnedUnit[], signal: AbortSignal): Promise<void>;
}

export interface LeftoverDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly apiCluster: Pick<ApiCluster, "accounts">;
  readonly namespaces: OwnNamespaces;
  readonly carrier: Carrier;
  readonly log: Log;
}

export function createLeftoverSweep({ shards, apiCluster, namespaces, carrier, log }: LeftoverDeps): LeftoverSweep {
  const objectsOf = ({ engine }: Host): Readonly<Record<LeftoverKind, ManagedObjects<ObservedObject>>> => ({
    project: engine.projects,
    entry: engine.entries,
    repository: engine.repositories,
    account: apiCluster.accounts,
  });

  const list = (host: Host): readonly UnitObject[] => {
    const { id, namespace } = host.instance;
    const { account, ...inside } = objectsOf(host);
    const accounts = account.list(namespaces.accounts).filter((one) => holderOf(one) === id);
    return [
      ...Object.entries(inside).flatMap(([kind, objects]) =>
        objects.list(namespace).map((observed) => ({ kind: kind as LeftoverKind, observed })),
      ),
      ...accounts.map((observed) => ({ kind: "account" as const, observed })),
    ];
  };

  /** Rows are made before any object: a unit that objects name and that has no row is gone. */
  const locate = async (host: Host, objects: readonly UnitObject[], owned: readonly OwnedUnit[], signal: AbortSignal) => {
    const units = new Map<UnitId, Whereabouts>(owned.map(({ unitId, epoch }) => [unitId, { owner: host.instance.id, epoch }]));
    for (const id of new Set(objects.flatMap(({ observed }) => unitOf(observed) ?? []))) {
      const row = units.has(id) ? undefined : await shards.readUnit(id, signal);
      if (row !== undefined) units.set(id, row.unit);
    }
    return units;
  };

  const dispose = async (host: Host, { kind, observed: { at, uid, epoch } }: UnitObject, signal: AbortSignal): Promise<void> => {
    log.warn({ instance: host.instance.name, kind, at, uid, epoch }, "Removing an object of a unit that is not here");
    // Only this very object: another of its name may be wanted by now.
    const plan = (observed: ObservedObject | undefined) => planRemoval(observed?.uid === uid ? observed : undefined);
    await carrier.carryOut({ objects: objectsOf(host)[kind], at, plan, name: `stray-${kind}` }, signal);
  };

  return {
    async sweep(host, owned, signal) {
      const objects = list(host);
      const units = await locate(host, objects, owned, signal);
      const inUse = new Set(host.engine.applications.list(host.instance.namespace).flatMap((one) => unitOf(one) ?? []));
      const leftovers = judgeLeftovers({ instanceId: host.instance.id, objects, units, inUse });
      for (const one of leftovers) await dispose(host, one, signal);
    },
  };
}
