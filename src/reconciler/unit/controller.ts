import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import { diffObject, planRemoval } from "../../shard/diff-object.ts";
import type { Lack } from "../../shard/lack.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { clusterEntryName } from "../../shard/names.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { UnitObjects } from "../../shard/render-unit.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { EnvironmentEntries } from "../environments/controller.ts";
import type { ImpersonationController } from "../impersonation/controller.ts";
import type { Carrier, Settlement } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import type { ApiCluster } from "../port.ts";
import type { Progress, UnitResult } from "../progress/controller.ts";
import { waits } from "../progress/reasons.ts";
import { createRazing, type UnitPart } from "../razing/controller.ts";
import type { RegisterKeeper } from "../register/controller.ts";
import type { RepositoriesController } from "../repositories/controller.ts";
import type { Rows } from "../rows/controller.ts";
import type { Host, Hosts } from "../seats/controller.ts";

/** Makes a unit's account, register, project, repository Secrets and right to impersonate equal to its row. */
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
  readonly entries: EnvironmentEntries;
  readonly repositories: RepositoriesController;
  readonly register: Pick<RegisterKeeper, "put" | "waitMs">;
  readonly progress: Pick<Progress, "followUnit">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  /** Asks for the instance's cluster entry, without which no unit may stand there. */
  readonly requestInstance: (id: InstanceId) => void;
  /** Told as soon as the objects stand, but for what the unit lacks, and before that is recorded. */
  readonly onStanding: (id: UnitId, revision: number, lacks: readonly Lack[]) => void;
}

const UNSYNCED_RETRY_MS = 250;
/** How soon a unit without applications is looked at again of which an Application stands still: that needs its project to go. */
const STANDING_AGAIN_MS = 5_000;

export function createUnitController(deps: UnitControllerDeps): UnitController {
  const { shards, apiCluster, carrier, destination, namespaces, impersonation, repositories, entries } = deps;

  const razing = createRazing(deps);

  const partsOf = (objects: UnitObjects, host: Host): readonly UnitPart[] => [
    { kind: "account", desired: objects.account, objects: apiCluster.accounts },
    { kind: "register", desired: objects.register, objects: apiCluster.bindings },
    { kind: "project", desired: objects.project, objects: host.engine.projects },
  ];

  /** In a namespace that is gone nothing can be made, and in another one of its name nothing may be. */
  const standingOf = ({ workspace }: DesiredUnit, parts: readonly UnitPart[]): readonly UnitPart[] =>
    workspace.state === "deleting" ? parts.filter(({ kind }) => kind !== "register") : parts;

  const hasApplications = ({ engine, instance }: Host, id: UnitId): boolean =>
    engine.applications.list(instance.namespace).some((one) => unitOf(one) === id);

  const raise = async (row: DesiredUnit, host: Host, parts: readonly UnitPart[], signal: AbortSignal): Promise<UnitResult> => {
    const { unit } = row;
    const isStanding = row.applications === 0 && hasApplications(host, unit.id);
    // The first application raises the unit, and waits until its project stands at that revision.
    const isUnneeded = (kind: UnitPart["kind"]): boolean => kind === "project" && row.applications === 0 && !isStanding;
    const put = ({ kind, desired, objects }: UnitPart) => {
      if (kind === "register") return deps.register.put(row, desired, signal);
      const plan = (observed: ObservedObject | undefined) =>
        isUnneeded(kind) ? planRemoval(observed, desired.fence) : diffObject(desired, observed);
      return carrier.carryOut({ objects, at: desired.at, plan, name: kind }, signal);
    };
    const isDone = ({ kind }: UnitPart, end: Settlement<ObservedObject> | undefined): boolean =>
      end?.kind === (isUnneeded(kind) ? "gone" : "settled");
    const seat = { unit, workspace: row.workspace, instance: host.instance };
    const [ends, credentials, environments] = await allOrFirstFailure([
      allOrFirstFailure(parts.map(put)),
      repositories.align(seat, row, host, signal),
      entries.raise(row, host, signal),
      impersonation.grant(host.instance.id, unit.id, signal),
    ]);
    const going = parts.filter((part, index) => !isDone(part, ends[index])).map(({ kind }) => waits.going(`the former ${kind}`));
    const missing = [...going, ...credentials.waits, ...environments.waits];
    if (missing.length > 0) return { waits: missing };
    const lacks = [...credentials.lacks, ...environments.lacks];
    deps.onStanding(unit.id, unit.desiredRevision, lacks);
    // What is recorded as done is not looked at again soon: first nothing may lack, and what is to go has to be gone.
    const left = await entries.clear(row, host, signal);
    if (left.length + lacks.length > 0) return { waits: left, lacks };
    const news = parts.flatMap(({ kind, desired }, index) => {
      const end = ends[index];
      const observed = end?.kind === "settled" ? end.observed : undefined;
      return acknowledgementOf(seat, { kind, subject: unit.id, desired, observed }, row.acknowledged) ?? [];
    });
    await allOrFirstFailure(news.map((object) => deps.rows.acknowledge(object, signal)));
    return isStanding ? { requeueAfterMs: STANDING_AGAIN_MS } : {};
  };

  const reconcileUnit = async (id: UnitId, signal: AbortSignal): Promise<UnitResult> => {
    const row = await shards.readUnit(id, signal);
    const host = row?.unit.owner === undefined ? undefined : await deps.hosts.find(row.unit.owner, signal);
    if (row === undefined || host === undefined || row.unit.phase === "MOVING") return {};
    const unlisted = [host.engine, apiCluster].find((cluster) => !cluster.isSynced());
    if (unlisted !== undefined) return { requeueAfterMs: UNSYNCED_RETRY_MS, waits: [waits.unlisted(unlisted.cluster)] };
    const seat = { unit: row.unit, workspace: row.workspace, instance: host.instance };
    const waitMs = deps.register.waitMs(id);
    if (waitMs > 0) return { requeueAfterMs: waitMs, waits: [waits.repair] };
    const parts = partsOf(renderUnit(seat, { destination, namespaces, repoUrls: row.repoUrls, environments: row.environments }), host);
    if (row.workspace.state === "deleting" && row.applications === 0) return razing.raze(row, host, parts, signal).then(() => ({}));
    const entry = host.engine.entries.get({ namespace: host.instance.namespace, name: clusterEntryName(destination.server) });
    if (entry !== undefined) return raise(row, host, standingOf(row, parts), signal);
    deps.requestInstance(host.instance.id);
    return { waits: [waits.entry] };
  };

  return { reconcile: (id, signal) => deps.progress.followUnit(id, () => reconcileUnit(id, signal)) };
}
