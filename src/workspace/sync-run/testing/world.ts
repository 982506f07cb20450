import type { Partition } from "../../../domain/partition.ts";
import type { RunProgress } from "../../../domain/sync-run.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import type { RunView } from "../../../store/sync-run/port.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createRunResources, SYNC_RUNS } from "../../adapters/kubernetes/run-resources.ts";
import { createUserResources } from "../../adapters/kubernetes/user-resources.ts";
import type { SyncRunStatus } from "../../api/sync-run/schema.ts";
import type { World } from "../../testing/world.ts";
import { createSyncRunController } from "../controller.ts";

export interface RunObject extends KubeObject {
  readonly spec?: unknown;
  readonly status?: SyncRunStatus;
}

export const common = { clock: systemClock, rng: createSeededRng("runs"), log: silentLog, metrics: noMetrics };
const EVERYTHING: Partition = { isMine: () => true, onChange: () => () => undefined };

interface RunPlace {
  readonly namespace?: string;
  readonly finalizers?: readonly string[];
}

/** What users, instances and processes do about runs, in namespace `jane` of a world. */
export function playRuns(world: () => World) {
  const at = (name: string, namespace = "jane") => ({ namespace, name });
  const read = (name: string, namespace?: string) => world().hands.get<RunObject>(SYNC_RUNS, at(name, namespace), world().signal);
  const viewOf = async (uid: string): Promise<RunView | undefined> => (await world().store.syncRuns.readViews([uid], world().signal))[0];
  const play = {
    read,
    viewOf,
    async apply(name: string, spec: Readonly<Record<string, unknown>> = {}, over: RunPlace = {}): Promise<string> {
      const resource = {
        apiVersion: "managed-gitops.redhat.com/v1alpha1",
        kind: "GitOpsDeploymentSyncRun",
        metadata: { ...at(name, over.namespace), finalizers: over.finalizers ?? [] },
        spec: { gitopsDeploymentName: "guestbook", ...spec },
      };
      const made = await world().hands.create<KubeObject>(SYNC_RUNS, resource as KubeObject, world().signal);
      return made.metadata.uid ?? "";
    },
    remove: (name: string) => world().hands.delete(SYNC_RUNS, at(name), {}, world().signal),
    /** `Type=Status/Reason` of each condition. */
    said: async (name: string) =>
      ((await read(name))?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}/${reason}`),
    isSaid: (name: string, statement: string) => async () => (await play.said(name)).includes(statement),
    view: async (name: string) => viewOf((await read(name))?.metadata.uid ?? ""),
    /** The instance that holds the application says how far the run has come. */
    async report(uid: string, progress: Partial<RunProgress>): Promise<void> {
      const view = await viewOf(uid);
      const unit = view?.application && (await world().store.placements.readUnit(view.application.unitId, world().signal))?.unit;
      if (view === undefined || unit?.owner === undefined) throw new Error(`run ${uid} is nowhere`);
      const report = { uid, instanceId: unit.owner, epoch: unit.epoch, requestedAt: systemClock.now() };
      await world().store.syncRuns.recordReports([{ ...report, progress: { ...view.run.progress, ...progress } }], world().signal);
    },
    isKnown: async (uid: string) => (await world().store.syncRuns.listKnown("api", world().signal)).some((row) => row.uid === uid),
    /** A running controller for runs with watches of its own. */
    startController(partition = EVERYTHING) {
      const options = { ...common, client: world().server.client("api") };
      const resources = createUserResources(options);
      resources.start(world().signal);
      const runs = createRunResources(options);
      const controller = createSyncRunController({ ...common, store: world().store, runs, resources, apiCluster: "api", partition });
      controller.start(world().signal);
      return controller;
    },
  };
  return play;
}
