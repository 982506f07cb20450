import type { ApplicationId, InstanceId, OperationId, UnitId, WorkspaceId } from "../../domain/ids.ts";
import { asLoadVector } from "../../domain/load.ts";
import type { World } from "./world.ts";

const AMPLE = asLoadVector({ applications: 1e9, clusterEntries: 1e9, cachedResources: 1e9, milliCpu: 1e9, gitPerMinute: 1e9 });

export interface PlacedUnit {
  /** Removes the unit with its workspace, as if its namespace had been deleted. */
  remove(): Promise<void>;
}

/** Places a unit with one application on an instance, as the workspace controller and the scheduler would. */
export async function placeUnit({ store, ids, clock, signal }: World, instanceId: InstanceId): Promise<PlacedUnit> {
  const unitId = ids.next<UnitId>();
  const newIds = {
    workspaceId: ids.next<WorkspaceId>(),
    unitId,
    applicationId: ids.next<ApplicationId>(),
    operationId: ids.next<OperationId>(),
  };
  const workspace = { plane: "kubernetes", apiCluster: "main", namespace: unitId, namespaceUid: unitId, trustClass: "public" } as const;
  const spec = {
    source: { repoUrl: "https://git.example/a.git", path: ".", targetRevision: "" },
    destination: {},
    type: "automated",
    createNamespace: false,
  } as const;
  const intent = { workspace, newIds, class: "eu/shared/public", name: "app", uid: unitId, generation: 1, spec, argoName: `app-${unitId}` };
  await store.intents.recordDeployments([intent], signal);
  const known = await store.placements.readUnit(unitId, signal);
  const decision = { at: clock.now(), subject: unitId, kind: "placement", verdict: "CHOSEN", rule: "TEST", details: {} } as const;
  const outcome = await store.placements.commitFirstPlacement(
    { unitId, rowVersion: known?.unit.rowVersion ?? 0, instanceId, ceiling: AMPLE, decision },
    signal,
  );
  if (outcome.kind !== "placed") throw new Error(`the unit could not be placed: ${outcome.kind}`);
  return {
    async remove() {
      await store.intents.recordDeletions([{ uid: unitId, deletion: "cascade", operationId: ids.next() }], signal);
      const found = await store.intents.readByUids([unitId], signal);
      await store.shards.forgetApplications(
        found.map(({ application }) => application.id),
        signal,
      );
      const workspaceId = known?.workspace.id ?? newIds.workspaceId;
      await store.intents.recordWorkspaceEnds([workspaceId], signal);
      if (!(await store.shards.forgetWorkspace(workspaceId, signal))) throw new Error("the workspace still holds something");
    },
  };
}
