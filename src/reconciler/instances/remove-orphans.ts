import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import { planRemoval } from "../../shard/diff-object.ts";
import { judgeLeftovers, type LeftoverKind, REMOVAL_LIMIT, type UnitObject, type Whereabouts } from "../../shard/leftovers.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { isPartBindingName } from "../../shard/names.ts";
import { findOrphans, judgeOrphans, type Orphan, planOrphanEnd, type RowsOfOrphans, whyRevisit } from "../../shard/orphans.ts";
import { applicationOf, unitOf } from "../../shard/parse-application.ts";
import type { ShardStore, UnitWithOwner } from "../../store/shard/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { createDeletionTimeouts } from "../applications/deletion-timeouts.ts";
import type { Intake } from "../applications/read-applications.ts";
import type { ObjectWriter } from "../apply-object.ts";
import type { Host } from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";

/** Applications that nobody wants where they stand. */
export interface Orphans {
  /** Compares the Applications of an instance with their rows, and ends the orphans among them. */
  remove(host: Host, signal: AbortSignal): Promise<void>;
  /** Whether the last comparison found some: what is to be done with them takes a second one. */
  hasSome(id: InstanceId): boolean;
}

export interface OrphansDeps {
  readonly shards: Pick<ShardStore, "listApplications" | "readApplications" | "listEnded">;
  readonly writer: ObjectWriter;
  readonly takeIn: Intake;
  /** Asked for the unit of each: an Application needs its project to go, and the project goes when none is left. */
  readonly requests: Pick<Requests, "requestUnit">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export function createOrphans({ shards, writer, takeIn, requests, clock, log, metrics }: OrphansDeps): Orphans {
  const orphans = new Map<InstanceId, readonly Orphan[]>();
  const timeouts = createDeletionTimeouts(clock);
  metrics
    .gauge("argosy_reconciler_orphan_applications", "Applications of ours that do not belong where they stand.", ["reason"])
    .collect(() =>
      (["no-row", "owned-elsewhere"] as const).map((reason) => ({
        value: [...orphans.values()].flat().filter((orphan) => orphan.reason === reason).length,
        labels: { reason },
      })),
    );

  const readRows = async (
    id: InstanceId,
    unknown: readonly ApplicationId[],
    signal: AbortSignal,
  ): Promise<Omit<RowsOfOrphans, "instance" | "belonging">> => {
    const rows = unknown.length === 0 ? [] : await shards.readApplications(unknown, signal);
    const existing = new Map(rows.map((row) => [row.application.id, row.unit]));
    const gone = unknown.filter((each) => !existing.has(each));
    const ended = gone.length === 0 ? [] : await shards.listEnded(id, gone, signal);
    return { existing, ended: new Map(ended.map((each) => [each.applicationId, each])) };
  };

  const end = async ({ instance, engine }: Host, orphan: Orphan, signal: AbortSignal): Promise<void> => {
    const { reason, deletion, isRemovable } = orphan;
    const { at, uid, epoch } = orphan.observed;
    log.warn(
      { instance: instance.name, at, uid, epoch, reason, isRemovable, deletion },
      "Finding an Application that does not belong here",
    );
    if (!isRemovable) return;
    const unitId = unitOf(orphan.observed);
    if (unitId !== undefined) requests.requestUnit(unitId);
    const id = applicationOf(orphan.observed) as ApplicationId;
    const request = timeouts.of({ id, deletion, deletedAt: clock.now() });
    const plan = (now: typeof orphan.observed | undefined) => planOrphanEnd(orphan, request, now);
    const settlement = await writer.apply({ objects: engine.applications, at, plan, name: "orphan" }, signal);
    if (settlement.kind !== "await-rest") timeouts.forget(id);
  };

  return {
    async remove(host, signal) {
      const { instance, engine } = host;
      const observed = engine.applications.list(instance.namespace);
      const rows = await shards.listApplications(instance.id, signal);
      const belonging = new Set(rows.map((row) => row.applicationId));
      const unknown = findOrphans(observed, belonging).map((orphan) => orphan.id);
      const { existing, ended } = await readRows(instance.id, [...new Set(unknown)], signal);
      const before = new Set((orphans.get(instance.id) ?? []).map((orphan) => orphan.observed.uid));
      const found = judgeOrphans(observed, { instance: instance.id, belonging, existing, ended }, before);
      orphans.set(instance.id, found);
      takeIn(
        rows
          .filter((row) => whyRevisit(row, engine.applications.get({ namespace: instance.namespace, name: row.argoName })) !== undefined)
          .map((row) => row.applicationId),
      );
      for (const orphan of found) await end(host, orphan, signal);
    },
    hasSome: (id) => (orphans.get(id)?.length ?? 0) > 0,
  };
}

/** Other objects on an instance that were made for units which are gone or live elsewhere. Only the sweep finds them. */
export interface Leftovers {
  /** `owned`: the units the instance holds, as far as they were read already. */
  remove(host: Host, owned: readonly UnitWithOwner[], signal: AbortSignal): Promise<void>;
}

export interface LeftoversDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly apiCluster: Pick<ApiCluster, "accounts" | "accountsOf" | "bindings" | "bindingsOf">;
  readonly writer: ObjectWriter;
  readonly log: Log;
}

export function createLeftovers({ shards, apiCluster, writer, log }: LeftoversDeps): Leftovers {
  const objectsOf = ({ engine }: Host): Readonly<Record<LeftoverKind, ManagedObjects<ObservedObject>>> => ({
    project: engine.projects,
    entry: engine.entries,
    repository: engine.repositories,
    account: apiCluster.accounts,
    "part-binding": apiCluster.bindings,
  });

  const listOfInstance = (host: Host): readonly UnitObject[] => {
    const { id, namespace } = host.instance;
    const { account: _account, "part-binding": _binding, ...inside } = objectsOf(host);
    return [
      ...Object.entries(inside).flatMap(([kind, objects]) =>
        objects.list(namespace).map((observed) => ({ kind: kind as LeftoverKind, observed })),
      ),
      ...apiCluster.accountsOf(id).map((observed) => ({ kind: "account" as const, observed })),
    ];
  };

  /** Of the namespaces whose workspaces have a unit on the instance: an owner binding names no instance, so each instance sees to these. */
  const listPartBindings = (owned: readonly UnitWithOwner[]): readonly UnitObject[] => {
    const served = new Set(owned.flatMap(({ unitId }) => apiCluster.bindingsOf(unitId).map(({ at }) => at.namespace)));
    return [...served]
      .flatMap((namespace) => apiCluster.bindings.list(namespace))
      .filter(({ at }) => isPartBindingName(at.name))
      .map((observed) => ({ kind: "part-binding", observed }));
  };

  /**
   * Rows are made before any object: a unit that objects name and that has no row is gone. Reads no more when too many are, so that somebody who
   * writes owner bindings of units that never were costs nobody anything.
   */
  const locate = async (host: Host, objects: readonly UnitObject[], owned: readonly UnitWithOwner[], signal: AbortSignal) => {
    const units = new Map<UnitId, Whereabouts>(owned.map(({ unitId, epoch }) => [unitId, { owner: host.instance.id, epoch }]));
    const unread = [...new Set(objects.flatMap(({ observed }) => unitOf(observed) ?? []))].filter((id) => !units.has(id));
    for (let missing = 0; unread.length > 0 && missing <= REMOVAL_LIMIT; ) {
      const id = unread.shift() as UnitId;
      const row = await shards.readUnit(id, signal);
      if (row === undefined) missing += 1;
      else units.set(id, row.unit);
    }
    return units;
  };

  const removeOne = async (host: Host, { kind, observed: left }: UnitObject, signal: AbortSignal): Promise<void> => {
    const { at, uid, epoch } = left;
    log.warn({ instance: host.instance.name, kind, at, uid, epoch }, "Removing an object of a unit that is not here");
    // Only this very object, of this unit: another of its name may be wanted by now, and it may be another unit's.
    const isStill = (observed: ObservedObject): boolean => observed.uid === uid && unitOf(observed) === unitOf(left);
    const plan = (observed: ObservedObject | undefined) => planRemoval(observed !== undefined && isStill(observed) ? observed : undefined);
    await writer.apply({ objects: objectsOf(host)[kind], at, plan, name: `leftover-${kind}` }, signal);
  };

  return {
    async remove(host, owned, signal) {
      const inUse = new Set(host.engine.applications.list(host.instance.namespace).flatMap((one) => unitOf(one) ?? []));
      // Apart: users may write owner bindings in their namespaces, and many of those must not keep the rest from going.
      for (const objects of [listOfInstance(host), listPartBindings(owned)]) {
        const units = await locate(host, objects, owned, signal);
        const leftovers = judgeLeftovers({ instanceId: host.instance.id, objects, units, inUse });
        for (const one of leftovers) await removeOne(host, one, signal);
      }
    },
  };
}
