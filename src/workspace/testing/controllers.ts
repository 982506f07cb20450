import type { FleetSpec } from "../../domain/fleet.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createCountingIds } from "../../runtime/ids.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import { createSeededRng } from "../../runtime/rng.ts";
import { createMemoryStore } from "../../store/adapters/memory/memory-store.ts";
import { silentLog } from "../../telemetry/log.ts";
import { noMetrics } from "../../telemetry/metrics.ts";
import { createRunResources } from "../adapters/kubernetes/run-resources.ts";
import { createEventRecorder } from "../adapters/kubernetes/user-events.ts";
import { createUserResources } from "../adapters/kubernetes/user-resources.ts";
import { createUserSecrets } from "../adapters/kubernetes/user-secrets.ts";
import { createWatchedKind } from "../adapters/kubernetes/watched-kind.ts";
import { USER_KINDS, type UserKind } from "../api/names.ts";
import { createDeploymentController } from "../deployment/controller.ts";
import { createEnvironmentController } from "../environment/controller.ts";
import type { ClusterAccounts, ClusterProbe } from "../environment/port.ts";
import { createTargetClusters } from "../environment/testing/target-clusters.ts";
import { createUserEvents } from "../events/controller.ts";
import type { UserKindResources } from "../port.ts";
import { createRepositoryCredentialController } from "../repository-credential/controller.ts";
import type { RepositoryObserver } from "../repository-credential/port.ts";
import { createSyncRunController } from "../sync-run/controller.ts";
import { EVERYTHING_IS_MINE, FLEET } from "./world.ts";

/** The controllers of all four kinds over one API server, with a database in memory. Whatever users name answers, and takes what it gets. */
export async function startControllers(
  client: KubeClient,
  fleet: Partial<FleetSpec>,
  signal: AbortSignal,
): Promise<{ close(): Promise<void> }> {
  const store = createMemoryStore({ clock: systemClock });
  await store.fleet.applyFleet({ ...FLEET, ...fleet }, "test", signal);
  const common = { client, clock: systemClock, rng: createSeededRng("controllers"), log: silentLog, metrics: noMetrics };
  const events = createUserEvents({ ...common, recorder: createEventRecorder(client) });
  const telling = <R extends UserKindResources>(kind: UserKind, of: R): R => ({
    ...of,
    patchStatus: events.telling(kind.kind, of.get, of.patchStatus),
  });
  const watched = createUserResources(common);
  const patchStatus = events.telling(USER_KINDS.deployment.kind, watched.deployment, watched.patchStatus);
  const kinds = {
    deployments: { ...watched, patchStatus },
    runs: telling(USER_KINDS.syncRun, createRunResources(common)),
    secrets: createUserSecrets(common),
  };
  const deps = { ...common, store, apiCluster: "api", partition: EVERYTHING_IS_MINE, ids: createCountingIds() };
  const probe: ClusterProbe & ClusterAccounts = {
    ...createTargetClusters(),
    probe: async () => ({ kind: "accepted" }),
    install: async () => ({ kind: "waiting" }),
    remove: async () => undefined,
  };
  const observer: RepositoryObserver = { observe: async () => "readable" };
  const { deployments: namespaces, secrets } = kinds;
  const controllers = [
    createDeploymentController({ ...deps, resources: kinds.deployments, provesAccess: true }),
    createSyncRunController({ ...deps, runs: kinds.runs, resources: kinds.deployments }),
    createRepositoryCredentialController({
      ...deps,
      namespaces,
      secrets,
      observer,
      observationsAtOnce: 4,
      resources: telling(USER_KINDS.credential, createWatchedKind({ ...common, kind: USER_KINDS.credential })),
    }),
    createEnvironmentController({
      ...deps,
      namespaces,
      secrets,
      probe,
      accounts: probe,
      tokenLife: { lifeMs: 43_200_000, renewAfterMs: 28_800_000 },
      resources: telling(USER_KINDS.environment, createWatchedKind({ ...common, kind: USER_KINDS.environment })),
    }),
  ];
  events.start();
  for (const controller of controllers) controller.start(signal);
  return {
    async close() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await events.stop();
    },
  };
}
