import { join } from "node:path";
import { ACCOUNTS_NAMESPACE } from "../domain/names.ts";
import type { Prospect } from "../domain/partition.ts";
import type { Role } from "../domain/role.ts";
import { createNamespaces } from "../health/adapters/kubernetes/namespaces.ts";
import { createHealth } from "../health/controller.ts";
import { PERIODS_AT_REST } from "../health/judge.ts";
import { createSecretMaker } from "../instance-provisioner/adapters/certificates/secret-maker.ts";
import { createFileCrdSource } from "../instance-provisioner/adapters/kubernetes/crd-source.ts";
import { createEngineClusters } from "../instance-provisioner/adapters/kubernetes/engine-clusters.ts";
import { createProvisioner } from "../instance-provisioner/controller.ts";
import { createManagedCluster, createObservations } from "../mover/adapters/kubernetes/clusters.ts";
import { createMover } from "../mover/controller.ts";
import { budgetsOf } from "../mover/next-starts.ts";
import { createApiCluster, createEngines } from "../reconciler/adapters/kubernetes/clusters.ts";
import { createReconciler } from "../reconciler/controller.ts";
import { listComingShare } from "../reconciler/list-coming-share.ts";
import { createInstanceObservations } from "../rollout/adapters/kubernetes/instance-observations.ts";
import { createRollouts } from "../rollout/controller.ts";
import { startCron } from "../runtime/timer/cron.ts";
import { createScheduler } from "../scheduler/controller.ts";
import { createSampler } from "../scheduler/load/controller.ts";
import { freezeAt } from "../scheduler/plan/assemble.ts";
import { createPlanCycle } from "../scheduler/plan-cycle/controller.ts";
import { environmentOfServer, projectNames } from "../shard/names.ts";
import type { Membership } from "../store/member/keep-membership.ts";
import type { Store } from "../store/port.ts";
import { createApplicationsSeen } from "../watchdog/adapters/kubernetes/applications-seen.ts";
import { createWatchdog } from "../watchdog/controller.ts";
import { createGitObserver } from "../workspace/adapters/git/observer.ts";
import { createRunResources } from "../workspace/adapters/kubernetes/run-resources.ts";
import { createEventRecorder } from "../workspace/adapters/kubernetes/user-events.ts";
import { createUserResources } from "../workspace/adapters/kubernetes/user-resources.ts";
import { createUserSecrets } from "../workspace/adapters/kubernetes/user-secrets.ts";
import { createWatchedKind } from "../workspace/adapters/kubernetes/watched-kind.ts";
import { USER_KINDS, type UserKind } from "../workspace/api/names.ts";
import { createDeploymentController } from "../workspace/deployment/controller.ts";
import { createClusterAccounts } from "../workspace/environment/adapters/kubernetes/cluster-accounts.ts";
import { createClusterProbe } from "../workspace/environment/adapters/kubernetes/cluster-probe.ts";
import type { ReachOptions } from "../workspace/environment/adapters/kubernetes/reached-cluster.ts";
import { createReservedKnowledge } from "../workspace/environment/adapters/kubernetes/reserved-servers.ts";
import { createEnvironmentController } from "../workspace/environment/controller.ts";
import { createEnvironmentOwnerBindings } from "../workspace/environment/write-owner-bindings.ts";
import { createUserEvents } from "../workspace/events/controller.ts";
import type { UserKindResources } from "../workspace/port.ts";
import { createRepositoryCredentialController } from "../workspace/repository-credential/controller.ts";
import { createSyncRunController } from "../workspace/sync-run/controller.ts";
import type { Clusters } from "./clusters.ts";
import type { Context } from "./context.ts";
import { createControllersSeen } from "./controllers-answer.ts";
import { instancePages } from "./instance-metrics.ts";
import { findInstanceProcesses } from "./instance-processes.ts";
import { quarantining } from "./quarantining.ts";
import { approvalLimits, createRequestPorts, emptying, placingElsewhere } from "./request-ports.ts";
import { createReservedLearner, reservedServers } from "./reserved-servers.ts";
import { forAWhile, joiningTogether } from "./take-share.ts";

export interface RoleParts {
  readonly context: Context;
  readonly store: Store;
  readonly clusters: Clusters;
  readonly membership: Pick<Membership, "partition" | "join" | "prospect" | "onLeaving">;
}

interface Running {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  /** Whether it takes its share itself, once it is ready for it. Absent: it needs nothing for that. */
  readonly joins?: true;
}

/**
 * Starts each role the configuration names. The api role is not among them: it is not started but listens. A role takes its share of the work once it
 * has listed what it needs for that, so that the others go on with it until then. The process is not ready before.
 */
export function startRoles(parts: RoleParts): void {
  const { config, shutdown, readiness } = parts.context;
  const waiting = new Set<string>(config.roles.filter((role) => role !== "api"));
  readiness.register({
    name: "share",
    check: () => ({
      ok: waiting.size === 0,
      detail: waiting.size === 0 ? "taken" : `${[...waiting].join(", ")} not ready for a share of the work`,
    }),
  });
  const takeShareOf = async (role: string): Promise<void> => {
    await parts.membership.join(role);
    waiting.delete(role);
  };
  const makers: Readonly<Record<Exclude<Role, "api">, (parts: RoleParts) => Running>> = {
    workspace: makeWorkspace,
    scheduler: makeScheduler,
    reconciler: makeReconciler,
    provisioner: makeProvisioner,
    health: makeHealth,
  };
  for (const role of config.roles) {
    if (role === "api") continue;
    const running = makers[role]({ ...parts, membership: { ...parts.membership, join: takeShareOf } });
    running.start(shutdown.signal);
    shutdown.add(role, () => running.stop());
    if (running.joins !== true) void takeShareOf(role);
  }
}

/** Controllers that share the namespaces of users among the members. */
const WORKSPACE_CONTROLLERS = 4;

function makeWorkspace({ context, store, clusters, membership }: RoleParts): Running {
  const watching = { ...context, client: clusters.api };
  const events = createUserEvents({ ...context, recorder: createEventRecorder(clusters.api) });
  const telling = <R extends UserKindResources>(kind: UserKind, of: R): R => ({
    ...of,
    patchStatus: events.telling(kind.kind, of.get, of.patchStatus),
  });
  const watched = createUserResources(watching);
  const { deployment, patchStatus } = watched;
  const resources = { ...watched, patchStatus: events.telling(USER_KINDS.deployment.kind, deployment, patchStatus) };
  // Started by the controller of repository credentials, and read by that of environments too.
  const secrets = createUserSecrets(watching);
  const { promise: share, resolve } = Promise.withResolvers<void>();
  const { partition, allReady } = joiningTogether(membership.partition("workspace"), { controllers: WORKSPACE_CONTROLLERS, share });
  const parts = { ...context, store, partition, apiCluster: context.config.apiCluster.name };
  const reach = reachOf({ context, store, clusters });
  const controllers: readonly Running[] = [
    createDeploymentController({ ...parts, resources, provesAccess: true }),
    createSyncRunController({ ...parts, resources, runs: telling(USER_KINDS.syncRun, createRunResources(watching)) }),
    createRepositoryCredentialController({
      ...parts,
      resources: telling(USER_KINDS.credential, createWatchedKind({ ...watching, kind: USER_KINDS.credential })),
      secrets,
      namespaces: resources,
      observationsAtOnce: context.config.limits.repositoryProbes,
      observer: createGitObserver({
        ...context,
        directory: join(context.config.stateDir, "repository-probes"),
        path: context.env["PATH"] ?? "/usr/bin:/bin",
      }),
    }),
    createEnvironmentController({
      ...parts,
      resources: telling(USER_KINDS.environment, createWatchedKind({ ...watching, kind: USER_KINDS.environment })),
      secrets,
      namespaces: resources,
      probe: createClusterProbe(reach),
      accounts: createClusterAccounts(reach),
      tokenLife: context.config.accountTokens,
    }),
  ];
  // The controllers write Events until they have stopped, and the first one's watch of namespaces serves the others: these stop last.
  const working = together([events, ...controllers]);
  return {
    ...{ joins: true, stop: working.stop },
    start(signal) {
      working.start(signal);
      void forAWhile(allReady, { ...context, isServed: asking(membership, "workspace") }, signal).then(() =>
        membership.join("workspace").then(resolve),
      );
    },
  };
}

/** Asks whether others work on the share of a role that is to become this process's. */
function asking(membership: RoleParts["membership"], role: Role): () => Promise<boolean> {
  return async () => (await membership.prospect(role)).isServed;
}

/** How users' clusters are visited. */
function reachOf({ context, store, clusters }: Pick<RoleParts, "context" | "store" | "clusters">): ReachOptions {
  return { ...context, shown: store.reservedServers, reserved: (signal) => reservedServers({ store, clusters }, signal) };
}

/** Several that start in this order and stop in the reverse one. */
function together(parts: readonly Running[]): Running {
  return {
    start: (signal) => parts.forEach((each) => each.start(signal)),
    stop: async () => {
      for (const each of parts.toReversed()) await each.stop();
    },
  };
}

const MINUTE_MS = 60_000;

function makeScheduler({ context, store, clusters, membership }: RoleParts): Running {
  const parts = { ...context, store, partition: membership.partition("scheduler") };
  const { planning, draining, moving } = createRequestPorts(parts);
  const { canaries, periodMs } = context.config.health;
  return together([
    createScheduler({ ...parts, moving }),
    createSampler({
      ...{ ...parts, ...context.config.sampling },
      // Each observation asks one. Where an instance is not at rest there are twice as many, beside much that outweighs them.
      ...{ canariesPerMinute: canaries ? MINUTE_MS / (PERIODS_AT_REST * periodMs) : 0 },
      ...{ readPages: instancePages(clusters), projectsOf: projectNames, environmentOf: environmentOfServer },
    }),
    createWatchdog({
      ...{ ...parts, applications: createApplicationsSeen({ ...context, clientOf: clusters.engine }) },
      controllers: createControllersSeen(clusters),
    }),
    createPlanCycle({
      ...parts,
      planning,
      draining,
      moving,
      startCron,
      relieves: context.config.moves.relief,
      approval: approvalLimits(context.config.moves),
      scaling: context.config.scaling,
      splitting: context.config.splitting,
    }),
  ]);
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
    tokenLife: context.config.accountTokens,
    unfinishedPerUnit: context.config.limits.unfinishedApplications,
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
  const reach = reachOf({ context, store, clusters });
  const learner = createReservedLearner({ ...context, reserved: reach.reserved, know: createReservedKnowledge(reach) });
  const mover = createMover({
    ...context,
    store,
    observations: {
      async of(name) {
        const client = await clusters.engine(name);
        return client === undefined ? undefined : createObservations(client);
      },
    },
    watch: engines,
    managed: createManagedCluster(clusters.api),
    unitPrerequisites: reconciler.unitPrerequisites,
    ownerBindings: createEnvironmentOwnerBindings({
      ...context,
      store,
      tokenLife: context.config.accountTokens,
      accounts: createClusterAccounts(reach),
    }),
    partition: membership.partition("reconciler"),
    destination: clusters.destination,
    namespaces: { accounts: ACCOUNTS_NAMESPACE },
    isSingleServer: context.config.apiCluster.singleServer,
    budgets: budgetsOf(context.config.moves),
  });
  const working = together([learner, reconciler, mover]);
  return {
    joins: true,
    start(signal) {
      const list = (prospect: Prospect) => listComingShare(prospect, { ...store, engines }, signal);
      membership.onLeaving("reconciler", (prospect) => forAWhile(list(prospect), context, signal));
      const coming = membership.prospect("reconciler").then(list);
      const all = Promise.allSettled([apiCluster.synced(signal), coming]);
      const listed = forAWhile(all, { ...context, isServed: asking(membership, "reconciler") }, signal).then(() =>
        membership.join("reconciler"),
      );
      void listed.then(() => signal.aborted || working.start(signal));
    },
    stop: working.stop,
  };
}

function makeProvisioner({ context, store, clusters, membership }: RoleParts): Running {
  const partition = membership.partition("provisioner");
  const { moving, draining } = createRequestPorts({ ...context, store });
  const rollouts = createRollouts({
    ...{ ...context, store, partition, freezeAt },
    observations: createInstanceObservations({ ...context, clientOf: clusters.engine }),
    emptying: {
      carryOn: draining.handOver,
      giveUp: async ({ id }, actor, signal) => void (await moving.giveUp(id, "that wait to drain it", actor, signal)),
    },
  });
  const { image } = context.config.clusterFilter;
  const provisioner = createProvisioner({
    ...context,
    store,
    clusters: createEngineClusters({ ...context, clientOf: clusters.engine, signal: context.shutdown.signal }),
    crds: createFileCrdSource(),
    secrets: createSecretMaker(),
    partition,
    filter: image === undefined ? undefined : { image, ...clusters.destination },
    concurrency: context.config.limits.provisionerConcurrency,
  });
  return together([provisioner, rollouts]);
}

function makeHealth({ context, store, clusters, membership }: RoleParts): Running {
  const { canary: repository, canaries, quarantines, ...times } = context.config.health;
  const canary = canaries ? (repository ?? "no-repository") : undefined;
  const requestPorts = createRequestPorts({ ...context, store });
  const most = context.config.moves.relief ? quarantines : 0;
  return createHealth({
    ...{ ...context, ...times, store, canary },
    quarantine: most === 0 ? undefined : { most, requests: quarantining({ ...requestPorts, store }) },
    partition: membership.partition("health"),
    findProcesses: findInstanceProcesses(clusters),
    openNamespace: createNamespaces(clusters.engine, clusters.destination.server),
    empty: emptying(requestPorts),
    placeElsewhere: placingElsewhere({ ...requestPorts, ...context, store }),
  });
}
