import type { Clock, Millis } from "../../domain/clock.ts";
import type { UnitId } from "../../domain/ids.ts";
import { sharesEntry } from "../../domain/instance.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import { acknowledgementOf } from "../../shard/acknowledge.ts";
import type { Destination } from "../../shard/application-placement.ts";
import { planRemoval } from "../../shard/diff-object.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import { applicationOf, type ObservedApplication, unitOf } from "../../shard/parse-application.ts";
import { syncToAwait } from "../../shard/passed-sync.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import { allOrFirstFailure, type ObjectWriter } from "../apply-object.ts";
import {
  formerApplications,
  type Hosts,
  isLeavingEnvironments,
  type PlacedUnit,
  placementOf,
  sharingApplications,
  UNLISTED_AGAIN_MS,
} from "../find-hosts.ts";
import type { Requests } from "../keys.ts";
import type { KnownApplications, Rows } from "../read-and-record-rows.ts";
import type { Progress, UnitResult } from "../report-progress.ts";
import { waits } from "../trouble.ts";
import type { ClusterEntries } from "./apply-cluster-entries.ts";
import type { Applied, Prerequisites, UnitPart, UnitParts } from "./apply-prerequisites.ts";
import type { RepositorySecrets } from "./apply-repository-secrets.ts";
import type { WorkspaceEntries } from "./apply-workspace-entry.ts";
import type { Impersonation } from "./grant-impersonation.ts";
import type { RepairReports } from "./report-repairs.ts";
import type { StandingEnvironments } from "./standing-environments.ts";

export interface ApplyUnitDeps {
  readonly shards: Pick<ShardStore, "readUnit" | "forgetWorkspace" | "forgetPart">;
  readonly rows: Pick<Rows, "acknowledge">;
  readonly applicationRows: Pick<KnownApplications, "release">;
  readonly hosts: Pick<Hosts, "find">;
  readonly prerequisites: Prerequisites;
  readonly clusterEntries: Pick<ClusterEntries, "removeUnused" | "remove">;
  readonly workspaceEntries: Pick<WorkspaceEntries, "removeEntry">;
  readonly repositorySecrets: Pick<RepositorySecrets, "remove">;
  readonly impersonation: Pick<Impersonation, "align">;
  readonly repairs: Pick<RepairReports, "waitMs">;
  readonly destination: Destination;
  readonly standingEnvironments: Pick<StandingEnvironments, "add" | "remove">;
  readonly writer: ObjectWriter;
  readonly progress: Pick<Progress, "followUnit">;
  readonly clock: Pick<Clock, "now">;
  readonly requests: Pick<Requests, "requestApplication" | "requestInstance">;
}

/**
 * How soon a unit is applied again while an Application of it needs what its rows do not ask for any more, in ms: a project until it is
 * gone, or until it names another one.
 */
const STANDING_AGAIN_MS = 5_000;
/** How soon a part is applied again that waits for syncs to end, in ms. */
const SYNC_AGAIN_MS = 1_000;

/** Returns what makes a unit's prerequisites on its owner equal to its row, and then lets its applications go on. */
export function createApplyUnit(deps: ApplyUnitDeps) {
  const { prerequisites, requests } = deps;
  /** When each part that is given up was first seen without Applications. */
  const withoutSince = new Map<UnitId, Millis>();

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
    const parts = prerequisites.partsOf(placed);
    const end = row.applications === 0 ? endOf(placed) : undefined;
    if (end !== undefined) return end(placed, parts, signal);
    if (prerequisites.hasApiClusterEntry(host)) return apply(placed, parts, signal);
    requests.requestInstance(host.instance.id);
    return { waits: [waits.entry] };
  };

  /** How a unit ends that has no application any more; `undefined`: it stays. */
  const endOf = ({ row: { workspace, unit } }: PlacedUnit) => {
    if (workspace.state === "deleting") return tearDown;
    return unit.joins === undefined ? undefined : giveUpPart;
  };

  const apply = async (placed: PlacedUnit, unitParts: UnitParts, signal: AbortSignal): Promise<UnitResult> => {
    const { row } = placed;
    const { unit } = row;
    const isStanding = row.applications === 0 && applicationsOf(placed, unit.id).length > 0;
    const hasEnvironments = row.environments.length > 0;
    const parts = partsNeeded(placed, unitParts, isStanding);
    const applied = await prerequisites.apply(placed, parts, signal);
    if (applied.waits.length > 0) return { waits: applied.waits };
    if (hasEnvironments) deps.standingEnvironments.add(unit, applied.missingPrerequisites);
    else deps.standingEnvironments.remove(unit.id);
    // The applications go on as soon as they can, before any of this is recorded.
    for (const application of deps.applicationRows.release(unit.id, unit.desiredRevision, applied.missingPrerequisites))
      requests.requestApplication(application, unit.id);
    const isHandingOver = requestFormer(placed);
    // What is recorded as done is not compared again soon. So nothing may be missing first, and what has to go must be gone.
    const left = await deps.clusterEntries.removeUnused(placed, signal);
    if (left.length + applied.missingPrerequisites.length > 0) return { waits: left, missingPrerequisites: applied.missingPrerequisites };
    await acknowledge(placed, parts, applied, signal);
    const isKept = !hasEnvironments && !(await removeEnvironmentProject(placed, unitParts.environmentProject, signal));
    return isStanding || isHandingOver || isKept ? { requeueAfterMs: STANDING_AGAIN_MS } : {};
  };

  /**
   * Asks for the Applications that a version before made: which name the own namespace's project for an environment, and that project permits
   * them until the next run sees none; or which are deployed by an entry that the instance has not. Returns whether there were some.
   */
  const requestFormer = (placed: PlacedUnit): boolean => {
    const former = [...formerApplications(placed), ...sharingApplications(placed, deps.destination)];
    for (const one of former) {
      const application = applicationOf(one);
      if (application !== undefined && !one.isDeleting) requests.requestApplication(application, placed.row.unit.id);
    }
    return former.length > 0;
  };

  /**
   * Removes the project of environments that the unit has no more. It goes last: until no Application names it, Argo CD would refuse that
   * Application, and prune or cascade nothing of it. Returns whether it is gone. Only one that is seen is asked for: most units never had any.
   */
  const removeEnvironmentProject = async (placed: PlacedUnit, { desired, objects }: UnitPart, signal: AbortSignal): Promise<boolean> => {
    if (objects.get(desired.at) === undefined) return true;
    if (isLeavingEnvironments(placed)) return false;
    const end = await deps.writer.remove({ objects, at: desired.at, name: "environment-project", fence: desired.fence }, signal);
    return end.kind === "gone";
  };

  const acknowledge = async (placed: PlacedUnit, parts: readonly UnitPart[], { ends }: Applied, signal: AbortSignal): Promise<void> => {
    const notifications = parts.flatMap(({ kind, desired }, index) => {
      if (kind === "environment-project") return [];
      const end = ends[index];
      const observed = end?.kind === "settled" ? end.observed : undefined;
      return (
        acknowledgementOf(placementOf(placed), { kind, subject: placed.row.unit.id, desired, observed }, placed.row.acknowledged) ?? []
      );
    });
    await allOrFirstFailure(notifications.map((object) => deps.rows.acknowledge(object, signal)));
  };

  /** Removes what stands for a unit. A namespace of the same name that was made since has the owner binding of another unit: that stays. */
  const removeOwn = (id: UnitId, { kind, desired, objects }: UnitPart, signal: AbortSignal) => {
    const isOther = (observed: ObservedObject) => ![undefined, id].includes(unitOf(observed));
    const own = (observed: ObservedObject | undefined) => (observed === undefined || isOther(observed) ? undefined : observed);
    const plan = (observed: ObservedObject | undefined) => planRemoval(own(observed), desired.fence);
    return deps.writer.apply({ objects, at: desired.at, plan, name: kind }, signal);
  };

  /**
   * Takes down what stands for a unit whose namespace went and of which nothing else is left: first what stands, then the rows. The rows
   * stay while an account is left on a remote cluster. Its end asks for the unit again; until then only what the watch shows is removed.
   */
  const tearDown = async (placed: PlacedUnit, unitParts: UnitParts, signal: AbortSignal): Promise<UnitResult> => {
    const { row, host } = placed;
    const { account, ownerBinding, project, environmentProject } = unitParts;
    const parts = [account, ownerBinding, project, environmentProject];
    const left = row.hasAccountsElsewhere ? parts.filter(({ objects, desired }) => objects.get(desired.at) !== undefined) : parts;
    await allOrFirstFailure([
      ...left.map((part) => removeOwn(row.unit.id, part, signal)),
      deps.repositorySecrets.remove(placed, signal),
      deps.clusterEntries.remove(placed, signal),
      deps.workspaceEntries.removeEntry(placed, signal),
    ]);
    if (row.hasAccountsElsewhere || !(await deps.shards.forgetWorkspace(row.workspace.id, signal))) return {};
    if (sharesEntry(host.instance)) await deps.impersonation.align(host.instance.id, signal);
    return {};
  };

  /**
   * Takes down what stands for a part whose applications another one has taken over, once no Application of the instance names it any more, and no
   * sync is under way that may be carried out as its account: first what stands, then its row. Its account may not outlive the row: the part that
   * took over may leave the instance from then on.
   */
  const giveUpPart = async (
    placed: PlacedUnit,
    { account, ownerBinding, project }: UnitParts,
    signal: AbortSignal,
  ): Promise<UnitResult> => {
    const { row, host } = placed;
    if (applicationsOf(placed, row.unit.id).length > 0) {
      withoutSince.delete(row.unit.id);
      return { requeueAfterMs: STANDING_AGAIN_MS };
    }
    const now = deps.clock.now();
    const since = withoutSince.get(row.unit.id) ?? now;
    withoutSince.set(row.unit.id, since);
    if (syncToAwait(applicationsOf(placed, row.unit.joins), { since, now }) !== undefined) return { requeueAfterMs: SYNC_AGAIN_MS };
    const ends = await allOrFirstFailure([ownerBinding, account, project].map((part) => removeOwn(row.unit.id, part, signal)));
    await allOrFirstFailure([deps.repositorySecrets.remove(placed, signal), deps.workspaceEntries.removeEntry(placed, signal)]);
    if (ends.some(({ kind }) => kind !== "gone")) return { requeueAfterMs: STANDING_AGAIN_MS };
    if (!(await deps.shards.forgetPart(row.unit.id, signal))) return { requeueAfterMs: STANDING_AGAIN_MS };
    withoutSince.delete(row.unit.id);
    if (sharesEntry(host.instance)) await deps.impersonation.align(host.instance.id, signal);
    return {};
  };

  return (id: UnitId, signal: AbortSignal): Promise<WorkResult> => deps.progress.followUnit(id, () => applyUnit(id, signal));
}

/** `isStanding`: Applications stand that no row asks for any more. */
function partsNeeded({ row }: PlacedUnit, parts: UnitParts, isStanding: boolean): readonly UnitPart[] {
  return [
    parts.account,
    // In a namespace that is gone nothing can be made, and in another one of its name nothing may be.
    ...(row.workspace.state === "deleting" ? [] : [parts.ownerBinding]),
    // The first application asks for the unit, and waits until its project stands at that revision.
    { ...parts.project, isUnneeded: row.applications === 0 && !isStanding },
    ...(row.environments.length > 0 ? [parts.environmentProject] : []),
  ];
}

/** Applications on the instance that are labelled with this unit. */
function applicationsOf({ host: { engine, instance } }: PlacedUnit, unit: UnitId | undefined): readonly ObservedApplication[] {
  return engine.applications.list(instance.namespace).filter((one) => unitOf(one) === unit);
}
