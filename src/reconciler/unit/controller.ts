import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { ShardKind } from "../../domain/shard-object.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import { diffObject, planRemoval } from "../../shard/diff-object.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { clusterEntryName } from "../../shard/names.ts";
import type { UnitObjects } from "../../shard/render-unit.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { ImpersonationController } from "../impersonation/controller.ts";
import type { Carrier } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";
import type { Rows } from "../rows/controller.ts";
import type { Host, Hosts } from "../seats/controller.ts";

/** Makes a unit's account, register, project and right to impersonate equal to its row. */
export interface UnitController {
  reconcile(id: UnitId, signal: AbortSignal): Promise<WorkResult | void>;
}

export interface UnitControllerDeps {
  readonly shards: ShardStore;
  readonly rows: Rows;
  readonly hosts: Hosts;
  readonly carrier: Carrier;
  readonly apiCluster: ApiCluster;
  readonly impersonation: ImpersonationController;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  /** Asks for the instance's cluster entry, without which no unit may stand there. */
  readonly requestInstance: (id: InstanceId) => void;
  /** Told as soon as the objects stand, before that is recorded. */
  readonly onStanding: (id: UnitId, revision: number) => void;
}

const UNSYNCED_RETRY_MS = 250;

interface Part {
  readonly kind: Extract<ShardKind, "account" | "register" | "project">;
  readonly desired: DesiredObject;
  readonly objects: ManagedObjects<ObservedObject>;
}

export function createUnitController(deps: UnitControllerDeps): UnitController {
  const { shards, apiCluster, carrier, destination, namespaces, impersonation } = deps;

  const partsOf = (objects: UnitObjects, host: Host): readonly Part[] => [
    { kind: "account", desired: objects.account, objects: apiCluster.accounts },
    { kind: "register", desired: objects.register, objects: apiCluster.bindings },
    { kind: "project", desired: objects.project, objects: host.engine.projects },
  ];

  const raise = async (row: DesiredUnit, host: Host, parts: readonly Part[], signal: AbortSignal): Promise<void> => {
    const { unit } = row;
    const put = (part: Part) =>
      carrier.carryOut(
        { objects: part.objects, at: part.desired.at, plan: (observed) => diffObject(part.desired, observed), name: part.kind },
        signal,
      );
    const [ends] = await allOrFirstFailure([allOrFirstFailure(parts.map(put)), impersonation.grant(host.instance.id, unit.id, signal)]);
    if (ends.some((end) => end.kind !== "settled")) return;
    deps.onStanding(unit.id, unit.desiredRevision);
    const seat = { unit, workspace: row.workspace, instance: host.instance };
    const news = parts.flatMap(({ kind, desired }, index) => {
      const end = ends[index];
      if (end?.kind !== "settled") return [];
      return acknowledgementOf(seat, { kind, subject: unit.id, desired, observed: end.observed }, row.acknowledged) ?? [];
    });
    await allOrFirstFailure(news.map((object) => deps.rows.acknowledge(object, signal)));
  };

  /** The namespace went and nothing of it is left: first what stands for it, then the rows. */
  const raze = async (row: DesiredUnit, host: Host, parts: readonly Part[], signal: AbortSignal): Promise<WorkResult | void> => {
    const take = (part: Part) =>
      carrier.carryOut(
        { objects: part.objects, at: part.desired.at, plan: (observed) => planRemoval(observed, part.desired.fence), name: part.kind },
        signal,
      );
    await allOrFirstFailure(parts.map(take));
    if (!(await shards.forgetWorkspace(row.workspace.id, signal))) return { requeueAfterMs: UNSYNCED_RETRY_MS };
    await impersonation.align(host.instance.id, signal);
  };

  return {
    async reconcile(id, signal) {
      const row = await shards.readUnit(id, signal);
      if (row?.unit.owner === undefined) return;
      const host = await deps.hosts.find(row.unit.owner, signal);
      if (host === undefined) return;
      if (!host.engine.isSynced() || !apiCluster.isSynced()) return { requeueAfterMs: UNSYNCED_RETRY_MS };
      const seat = { unit: row.unit, workspace: row.workspace, instance: host.instance };
      const parts = partsOf(renderUnit(seat, { destination, namespaces, repoUrls: row.repoUrls }), host);
      if (row.workspace.state === "deleting" && row.applications === 0) return raze(row, host, parts, signal);
      const entry = host.engine.entries.get({ namespace: host.instance.namespace, name: clusterEntryName(destination.server) });
      if (entry === undefined) return deps.requestInstance(host.instance.id);
      await raise(row, host, parts, signal);
    },
  };
}
