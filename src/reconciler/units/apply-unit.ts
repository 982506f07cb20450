import type { UnitId } from "../../domain/ids.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import { planRemoval } from "../../shard/diff-object.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import { allOrFirstFailure, type ObjectWriter } from "../apply-object.ts";
import { type Hosts, type PlacedUnit, placementOf, UNLISTED_AGAIN_MS } from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { KnownApplications, Rows } from "../read-and-record-rows.ts";
import type { Progress, UnitResult } from "../report-progress.ts";
import { waits } from "../trouble.ts";
import type { ClusterEntries } from "./apply-cluster-entries.ts";
import type { Applied, Prerequisites, UnitPart, UnitParts } from "./apply-prerequisites.ts";
import type { RepositorySecrets } from "./apply-repository-secrets.ts";
import type { Impersonation } from "./grant-impersonation.ts";
import type { RepairReports } from "./report-repairs.ts";

export interface ApplyUnitDeps {
  readonly shards: Pick<ShardStore, "readUnit" | "forgetWorkspace">;
  readonly rows: Pick<Rows, "acknowledge">;
  readonly applicationRows: Pick<KnownApplications, "release">;
  readonly hosts: Pick<Hosts, "find">;
  readonly prerequisites: Prerequisites;
  readonly clusterEntries: Pick<ClusterEntries, "removeUnused" | "remove">;
  readonly repositorySecrets: Pick<RepositorySecrets, "remove">;
  readonly impersonation: Pick<Impersonation, "align">;
  readonly repairs: Pick<RepairReports, "waitMs">;
  readonly writer: ObjectWriter;
  readonly progress: Pick<Progress, "followUnit">;
  readonly requests: Pick<Requests, "requestApplication" | "requestInstance">;
}

/**
 * How soon a unit is applied again that has no applications by its rows while an Application of it still stands, in ms: that Application
 * needs the project until it is gone.
 */
const STANDING_AGAIN_MS = 5_000;

/** Returns what makes a unit's prerequisites on its owner equal to its row, and then lets its applications go on. */
export function createApplyUnit(deps: ApplyUnitDeps) {
  const { prerequisites, requests } = deps;

  const applyUnit = async (id: UnitId, signal: AbortSignal): Promise<UnitResult> => {
    const row = await deps.shards.readUnit(id, signal);
    const host = row?.unit.owner === undefined ? undefined : await deps.hosts.find(row.unit.owner, signal);
    // While a unit is moved the move writes for it.
    if (row === undefined || host === undefined || row.unit.phase === "MOVING") return {};
    const unlisted = prerequisites.unlisted(host);
    if (unlisted !== undefined) return { requeueAfterMs: UNLISTED_AGAIN_MS, waits: [waits.unlisted(unlisted)] };
    const repairMs = deps.repairs.waitMs(id);
    if (repairMs > 0) return { requeueAfterMs: repairMs, waits: [waits.repair] };
    const placed = { row, host };
    const { account, ownerBinding, project } = prerequisites.partsOf(placed);
    if (row.workspace.state === "deleting" && row.applications === 0)
      return tearDown(placed, [account, ownerBinding, project], signal).then(() => ({}));
    if (prerequisites.hasApiClusterEntry(host)) return apply(placed, { account, ownerBinding, project }, signal);
    requests.requestInstance(host.instance.id);
    return { waits: [waits.entry] };
  };

  const apply = async (placed: PlacedUnit, { account, ownerBinding, project }: UnitParts, signal: AbortSignal): Promise<UnitResult> => {
    const { row } = placed;
    const { unit } = row;
    const isStanding = row.applications === 0 && hasApplications(placed);
    const parts = [
      account,
      // In a namespace that is gone nothing can be made, and in another one of its name nothing may be.
      ...(row.workspace.state === "deleting" ? [] : [ownerBinding]),
      // The first application asks for the unit, and waits until its project stands at that revision.
      { ...project, isUnneeded: row.applications === 0 && !isStanding },
    ];
    const applied = await prerequisites.apply(placed, parts, signal);
    if (applied.waits.length > 0) return { waits: applied.waits };
    // The applications go on as soon as they can, before any of this is recorded.
    for (const application of deps.applicationRows.release(unit.id, unit.desiredRevision, applied.missingPrerequisites))
      requests.requestApplication(application, unit.id);
    // What is recorded as done is not compared again soon. So nothing may lack first, and what has to go must be gone.
    const left = await deps.clusterEntries.removeUnused(placed, signal);
    if (left.length + applied.missingPrerequisites.length > 0) return { waits: left, missingPrerequisites: applied.missingPrerequisites };
    await acknowledge(placed, parts, applied, signal);
    return isStanding ? { requeueAfterMs: STANDING_AGAIN_MS } : {};
  };

  const acknowledge = async (placed: PlacedUnit, parts: readonly UnitPart[], { ends }: Applied, signal: AbortSignal): Promise<void> => {
    const notifications = parts.flatMap(({ kind, desired }, index) => {
      const end = ends[index];
      const observed = end?.kind === "settled" ? end.observed : undefined;
      return (
        acknowledgementOf(placementOf(placed), { kind, subject: placed.row.unit.id, desired, observed }, placed.row.acknowledged) ?? []
      );
    });
    await allOrFirstFailure(notifications.map((object) => deps.rows.acknowledge(object, signal)));
  };

  /**
   * Takes down what stands for a unit whose namespace went and of which nothing else is left: first what stands, then the rows. The rows
   * stay while an account is left on a remote cluster. Its end asks for the unit again; until then only what the watch shows is removed.
   */
  const tearDown = async (placed: PlacedUnit, parts: readonly UnitPart[], signal: AbortSignal): Promise<void> => {
    const { row, host } = placed;
    // A namespace of the same name that was made since has the owner binding of another unit.
    const isOther = (observed: ObservedObject) => ![undefined, row.unit.id].includes(unitOf(observed));
    const own = (observed: ObservedObject | undefined) => (observed === undefined || isOther(observed) ? undefined : observed);
    const remove = ({ kind, desired, objects }: UnitPart) => {
      const plan = (observed: ObservedObject | undefined) => planRemoval(own(observed), desired.fence);
      return deps.writer.apply({ objects, at: desired.at, plan, name: kind }, signal);
    };
    const left = row.hasAccountsElsewhere ? parts.filter(({ objects, desired }) => objects.get(desired.at) !== undefined) : parts;
    await allOrFirstFailure([
      ...left.map(remove),
      deps.repositorySecrets.remove(placed, signal),
      deps.clusterEntries.remove(placed, signal),
    ]);
    if (row.hasAccountsElsewhere || !(await deps.shards.forgetWorkspace(row.workspace.id, signal))) return;
    await deps.impersonation.align(host.instance.id, signal);
  };

  return (id: UnitId, signal: AbortSignal): Promise<WorkResult> => deps.progress.followUnit(id, () => applyUnit(id, signal));
}

function hasApplications({ row, host: { engine, instance } }: PlacedUnit): boolean {
  return engine.applications.list(instance.namespace).some((one) => unitOf(one) === row.unit.id);
}
