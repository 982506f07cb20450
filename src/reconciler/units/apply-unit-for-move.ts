import { UnavailableError } from "../../domain/errors.ts";
import { newerFence, planRemoval } from "../../shard/diff-object.ts";
import type { ObservedObject } from "../../shard/managed-object.ts";
import type { MissingPrerequisite } from "../../shard/missing-prerequisite.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import { allOrFirstFailure, type ObjectWriter } from "../apply-object.ts";
import type { PlacedUnit } from "../find-hosts.ts";
import type { Engines, UnitPrerequisites, UnitToPrepare } from "../port.ts";
import { waits } from "../trouble.ts";
import type { ClusterEntries } from "./apply-cluster-entries.ts";
import type { Prerequisites, UnitPart } from "./apply-prerequisites.ts";
import type { RepositorySecrets } from "./apply-repository-secrets.ts";
import type { WorkspaceEntries } from "./apply-workspace-entry.ts";
import type { RepairReports } from "./report-repairs.ts";

export interface ApplyUnitForMoveDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly engines: Pick<Engines, "get">;
  readonly prerequisites: Prerequisites;
  readonly clusterEntries: Pick<ClusterEntries, "nameFreelyEntered" | "remove">;
  readonly workspaceEntries: Pick<WorkspaceEntries, "removeEntry" | "removeReader">;
  readonly repositorySecrets: Pick<RepositorySecrets, "remove">;
  readonly repairs: Pick<RepairReports, "add">;
  readonly writer: ObjectWriter;
}

/** What live moves ask for: the prerequisites that the owner has, but for the owner binding, on the instance that a move names. */
export function createApplyUnitForMove(deps: ApplyUnitForMoveDeps): UnitPrerequisites {
  const { prerequisites, clusterEntries } = deps;

  /** The unit's row as it would be if the instance owned the unit under the move's epoch; `undefined`: there is none any more. */
  const readRow = async ({ unitId, instance, epoch }: UnitToPrepare, signal: AbortSignal): Promise<PlacedUnit["row"] | undefined> => {
    const row = await deps.shards.readUnit(unitId, signal);
    if (row === undefined) return undefined;
    const acknowledged = row.acknowledged.filter(({ kind, instanceId }) => kind === "cluster-entry" && instanceId === instance.id);
    return { ...row, unit: { ...row.unit, owner: instance.id, epoch }, acknowledged };
  };

  /** `undefined`: there is no such unit any more, or nobody gets to the engine cluster. */
  const place = async (unitToPrepare: UnitToPrepare, signal: AbortSignal): Promise<PlacedUnit | undefined> => {
    const { instance } = unitToPrepare;
    const row = await readRow(unitToPrepare, signal);
    const engine = row === undefined ? undefined : await deps.engines.get(instance);
    return row === undefined || engine === undefined ? undefined : { row, host: { instance, engine } };
  };

  /** Removes one of them, but for what newer rows wrote: that is wanted again. */
  const remove = ({ kind, desired, objects }: UnitPart, signal: AbortSignal) => {
    const ours = (one: ObservedObject | undefined) => (one === undefined || newerFence(desired.fence, one) !== undefined ? undefined : one);
    const plan = (observed: ObservedObject | undefined) => planRemoval(ours(observed));
    return deps.writer.apply({ objects, at: desired.at, plan, name: kind }, signal);
  };

  return {
    async raise(unitToPrepare, signal) {
      const placed = await place(unitToPrepare, signal);
      if (placed === undefined) return [`for engine cluster ${unitToPrepare.instance.engineCluster}, which cannot be reached`];
      const unlisted = prerequisites.unlisted(placed.host);
      if (unlisted !== undefined) return [waits.unlisted(unlisted)];
      if (!prerequisites.hasApiClusterEntry(placed.host)) return [waits.entry];
      const { account, project, environmentProject } = prerequisites.partsOf(placed);
      const parts = [account, project, ...(placed.row.environments.length > 0 ? [environmentProject] : [])];
      const applied = await prerequisites.apply(placed, parts, signal);
      const isMissed = (missingPrerequisite: MissingPrerequisite): boolean =>
        missingPrerequisite.kind !== "environment" || unitToPrepare.withoutEnvironments?.includes(missingPrerequisite.id) !== true;
      return [...applied.waits, ...applied.missingPrerequisites.filter(isMissed).map(waits.credential)];
    },
    async enteredFreely(unitToPrepare, signal) {
      const row = await readRow(unitToPrepare, signal);
      return row && clusterEntries.nameFreelyEntered(row, unitToPrepare.instance, signal);
    },
    async clear(unitToPrepare, signal) {
      if (unitToPrepare.isAway === true) {
        const row = await readRow(unitToPrepare, signal);
        if (row === undefined) return;
        await remove(prerequisites.accountOf(row, unitToPrepare.instance), signal);
        return deps.workspaceEntries.removeReader(row, unitToPrepare.instance.id, signal);
      }
      const placed = await place(unitToPrepare, signal);
      if (placed === undefined) {
        const context = { cluster: unitToPrepare.instance.engineCluster };
        throw new UnavailableError("removing the prerequisites of a unit", { code: "reconciler.prerequisites-unreachable", context });
      }
      const { account, project, environmentProject } = prerequisites.partsOf(placed);
      const [left, ownLeft] = await allOrFirstFailure([
        clusterEntries.remove(placed, signal),
        deps.workspaceEntries.removeEntry(placed, signal),
        deps.workspaceEntries.removeReader(placed.row, unitToPrepare.instance.id, signal),
        deps.repositorySecrets.remove(placed, signal),
        remove(account, signal),
        remove(project, signal),
      ]);
      // What names it is gone.
      if (left.length + ownLeft.length === 0) return void (await remove(environmentProject, signal));
      const context = { unit: placed.row.unit.id };
      throw new UnavailableError("removing the prerequisites of a unit", { code: "reconciler.prerequisites-left", context });
    },
    tellRepair: (whose, tampering) => deps.repairs.add(whose, tampering),
  };
}
