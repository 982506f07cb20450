import { describe, expect, it } from "vitest";
import { millis } from "../domain/clock.ts";
import type { ApplicationId, InstanceId, UnitId, WorkspaceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { ZERO_LOAD } from "../domain/load.ts";
import type { ApplicationSummary, WorkspaceSummary } from "../store/operation/port.ts";
import { applicationView, instanceView, namesOf, workspaceView } from "./views.ts";

const instance: Instance = {
  id: "i-1" as InstanceId,
  name: "standard-1",
  engineCluster: "eu",
  namespace: "argosy-standard-1",
  pool: "standard",
  class: "eu/shared/public",
  version: "3.5.7",
  desiredVersion: "3.5.7",
  state: "ACTIVE",
  stateSince: millis(0),
  reason: "",
  attempt: 0,
  capacity: { ...ZERO_LOAD, applications: 1_000_000, clusterEntries: 60 },
  weight: 1,
  appliedHash: "",
  cause: undefined,
  halt: "none",
  failsOver: false,
  entries: "shared",
  revision: 1,
};

const unit: WorkspaceSummary["units"][number] = {
  id: "u-1" as UnitId,
  workspaceId: "w-1" as WorkspaceId,
  bucket: 0,
  class: "eu/shared/public",
  owner: "i-1" as InstanceId,
  epoch: 7,
  phase: "IDLE",
  load: ZERO_LOAD,
  desiredRevision: 1,
  rowVersion: 1,
};
const workspace: WorkspaceSummary["workspace"] = {
  id: "w-1" as WorkspaceId,
  plane: "kubernetes",
  apiCluster: "main",
  namespace: "anna",
  namespaceUid: "n",
  trustClass: "public",
  state: "active",
};

describe("views", () => {
  it("count applications whole and give the fullest dimension as utilisation", () => {
    const view = instanceView({ instance, load: { ...ZERO_LOAD, applications: 250_000, clusterEntries: 30 }, units: 3 });
    expect(view.load.applications).toBe(250);
    expect(view).toMatchObject({ utilisation: 0.5, entries: "shared", clusterEntries: null, controllerMemoryBytes: null });
    const usage = { clusterEntries: 2, controllerMemoryBytes: undefined };
    expect(instanceView({ instance, load: ZERO_LOAD, units: 0 }, { usage })).toMatchObject({
      clusterEntries: 2,
      controllerMemoryBytes: null,
    });
  });

  it("call a dimension without capacity full as soon as something is there", () => {
    expect(instanceView({ instance, load: { ...ZERO_LOAD, milliCpu: 1 }, units: 1 }).utilisation).toBe(1);
    expect(instanceView({ instance, load: ZERO_LOAD, units: 0 }).utilisation).toBe(0);
  });

  it("name instances, and say null while a unit has none", () => {
    const names = namesOf([instance]);
    expect(workspaceView({ workspace, units: [unit], applications: 2 }, names).units[0]?.instance).toBe("standard-1");
    expect(workspaceView({ workspace, units: [{ ...unit, owner: undefined }], applications: 0 }, names).units[0]?.instance).toBeNull();
    expect(workspaceView({ workspace, units: [{ ...unit, owner: "i-9" as InstanceId }], applications: 0 }, names).units[0]?.instance).toBe(
      "i-9",
    );
  });

  it("show an application nobody has reported on as Unknown", () => {
    const summary: ApplicationSummary = {
      application: {
        id: "a-1" as ApplicationId,
        workspaceId: workspace.id,
        unitId: unit.id,
        name: "shop",
        uid: "uid",
        generation: 1,
        spec: {
          source: { repoUrl: "https://git.example/shop", path: "dev", targetRevision: "" },
          destination: {},
          type: "automated",
          createNamespace: false,
        },
        argoName: "anna-shop-1",
        desiredRevision: 1,
        deletion: "none",
        deletedAt: undefined,
      },
      workspace,
      unit,
      status: undefined,
    };
    expect(applicationView(summary, namesOf([instance]))).toMatchObject({
      sync: "Unknown",
      health: "Unknown",
      reconciledAt: null,
      deleting: false,
      instance: "standard-1",
    });
  });
});
