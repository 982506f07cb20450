import type { Role } from "../config/schema.ts";
import { ACCOUNTS_NAMESPACE } from "../domain/names.ts";
import type { Partition } from "../domain/partition.ts";
import { createSecretMaker } from "../instance-provisioner/adapters/certificates/secret-maker.ts";
import { createFileCrdSource } from "../instance-provisioner/adapters/kubernetes/crd-source.ts";
import { createEngineClusters } from "../instance-provisioner/adapters/kubernetes/engine-clusters.ts";
import { createProvisioner } from "../instance-provisioner/controller.ts";
import { createApiCluster, createEngines } from "../reconciler/adapters/kubernetes/clusters.ts";
import { createReconciler } from "../reconciler/controller.ts";
import { createScheduler } from "../scheduler/controller.ts";
import type { Store } from "../store/port.ts";
import { createUserResources } from "../workspace/adapters/kubernetes/user-resources.ts";
import { createWorkspaceDoor } from "../workspace/controller.ts";
import type { Clusters } from "./clusters.ts";
import type { Context } from "./context.ts";

export interface RoleParts {
  readonly context: Context;
  readonly store: Store;
  readonly clusters: Clusters;
  readonly membership: { partition(role: string): Partition };
}

interface Running {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
}

/** Starts each role the configuration names. The api role is not among them: it is not started but listens. */
export function startRoles(parts: RoleParts): void {
  const { config, shutdown } = parts.context;
  const makers: Readonly<Record<Exclude<Role, "api">, (parts: RoleParts) => Running>> = {
    workspace: makeWorkspace,
    scheduler: makeScheduler,
    reconciler: makeReconciler,
    provisioner: makeProvisioner,
  };
  for (const role of config.roles) {
    if (role === "api") continue;
    const running = makers[role](parts);
    running.start(shutdown.signal);
    shutdown.add(role, () => running.stop());
  }
}

function makeWorkspace({ context, store, clusters, membership }: RoleParts): Running {
  const resources = createUserResources({ ...context, client: clusters.api });
  return createWorkspaceDoor({
    ...context,
    store,
    resources,
    apiCluster: context.config.apiCluster.name,
    partition: membership.partition("workspace"),
  });
}

function makeScheduler({ context, store, membership }: RoleParts): Running {
  return createScheduler({ ...context, store, partition: membership.partition("scheduler") });
}

function makeReconciler({ context, store, clusters, membership }: RoleParts): Running {
  const { shutdown, readiness } = context;
  const apiCluster = createApiCluster({ ...context, client: clusters.api, namespaces: { accounts: ACCOUNTS_NAMESPACE } });
  apiCluster.start(shutdown.signal);
  const engines = createEngines({ ...context, clientOf: clusters.engine, signal: shutdown.signal });
  const reconciler = createReconciler({
    ...context,
    store,
    apiCluster,
    engines,
    partition: membership.partition("reconciler"),
    destination: clusters.destination,
    namespaces: { accounts: ACCOUNTS_NAMESPACE },
  });
  readiness.register({
    name: "reconciler",
    check() {
      const reasons = reconciler.whyNotReady();
      return { ok: reasons.length === 0, detail: reasons.length === 0 ? "ready" : reasons.join("; ") };
    },
  });
  return reconciler;
}

function makeProvisioner({ context, store, clusters, membership }: RoleParts): Running {
  return createProvisioner({
    ...context,
    store,
    clusters: createEngineClusters({ ...context, clientOf: clusters.engine, signal: context.shutdown.signal }),
    crds: createFileCrdSource(),
    secrets: createSecretMaker(),
    partition: membership.partition("provisioner"),
    concurrency: context.config.limits.provisionerConcurrency,
  });
}
