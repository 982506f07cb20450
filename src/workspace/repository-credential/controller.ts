import type { Change } from "../../domain/change.ts";
import { type Clock, millis } from "../../domain/clock.ts";
import type { Ids, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import { createPartitionedQueue } from "../../runtime/resource-controller/partitioned-queue.ts";
import { createPasses } from "../../runtime/resource-controller/passes.ts";
import { createResourceController, type ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../../runtime/resource-controller/sweeps.ts";
import type { Store } from "../../store/port.ts";
import type { KnownRepositoryCredential } from "../../store/repository-credential/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { namespaceOf, resourceKey } from "../keys.ts";
import type { ResourceAt, UserResources, UserSecrets, WatchedResources } from "../port.ts";
import { createPolicySource } from "../read-policy.ts";
import { PROVE_AGAIN_MS } from "../repository-access/next-access.ts";
import { CONFIRMED, createAccessWork, isAccessProbe } from "../repository-access/observe-access.ts";
import { isAboutFleet } from "../workspace-policy.ts";
import { credentialSecretNameOf } from "./plan-review.ts";
import type { RepositoryObserver } from "./port.ts";
import { createCredentialWork } from "./reconcile-credential.ts";
import { createRepositoryProbes } from "./try-repositories.ts";

export interface RepositoryCredentialControllerDeps {
  readonly store: Pick<Store, "repositoryCredentials" | "repositoryAccess" | "credentials" | "fleet" | "changes">;
  /** The users' GitOpsDeploymentRepositoryCredentials. */
  readonly resources: WatchedResources;
  readonly secrets: UserSecrets;
  /** Watched by somebody else, who starts and stops it. */
  readonly namespaces: Pick<UserResources, "namespace" | "readNamespaceUid" | "synced" | "subscribe">;
  readonly observer: RepositoryObserver;
  /** Probes at once. */
  readonly observationsAtOnce: number;
  readonly apiCluster: string;
  /** This process's share of the namespaces. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Keys under way at once: each waits for a statement, a Secret and a status. */
const CONCURRENCY = 16;
/** Workspaces whose access is looked after at once: each waits for a statement or two. */
const WORKSPACES_AT_ONCE = 8;
/**
 * Workspaces that a sweep takes up: after an upgrade, or a restart, all of a fleet are due, and what somebody has just made must not wait behind them. From
 * some place on, so that those who never succeed do not stand in front of others; whoever was taken up comes back by itself.
 */
const WORKSPACES_A_SWEEP = 200;
const SWEEP_EVERY_MS = 60_000;
/** How long what was confirmed about repositories waits for more, in ms. A process that ends meanwhile leaves it to be confirmed again. */
const CONFIRM_MS = 5_000;
/** Rows compared with resources by one run, and workspaces of which a run finds out whether their access is due. */
const ROWS_A_RUN = 1_000;

/**
 * The controller of GitOpsDeploymentRepositoryCredentials: probes whether they work, records those that do, and tells their users.
 * Key: `cluster|namespace|name`. Beside them it probes whether workspaces can read what their deployments name, with a credential or without. Key: the
 * workspace's id.
 */
export function createRepositoryCredentialController(deps: RepositoryCredentialControllerDeps): ResourceController {
  const { resources, secrets, namespaces, apiCluster, partition } = deps;
  const store = deps.store.repositoryCredentials;
  const policy = createPolicySource(deps.store.fleet);
  const keyOf = (at: ResourceAt): string => resourceKey(apiCluster, at);
  const reviewNamespace = (name: string): void => queue.add(resources.list(name).map(keyOf));
  const reviewAll = (): void => queue.add(resources.list().map(keyOf));

  const probes = createRepositoryProbes(deps);
  const queue = createPartitionedQueue({
    ...{ ...deps, name: "workspace-repository-credentials", concurrency: CONCURRENCY, groupOf: namespaceOf },
    work: createCredentialWork({ ...deps, store, probes, policy: policy.current, onChanged: reviewNamespace }),
  });
  const access = createAccessWork({
    ...deps,
    store: deps.store.repositoryAccess,
    credentials: deps.store.credentials,
    probes,
    policy: policy.current,
    onConfirmed: () => accesses.add(CONFIRMED, { afterMs: CONFIRM_MS }),
  });
  const accesses = createKeyedQueue({ ...deps, name: "workspace-repository-access", concurrency: WORKSPACES_AT_ONCE, work: access.work });
  /** Finds rows whose resource is gone. */
  const rowSweep = createPasses<KnownRepositoryCredential>({
    size: ROWS_A_RUN,
    list: (page, signal) => store.listKnown(apiCluster, page, signal),
    keyOf: ({ uid }) => uid,
    visit: (known) => queue.add(known.filter((row) => resources.get(row)?.uid !== row.uid).map(keyOf)),
  });
  /** Workspaces whose access is due, as the latest run found them. */
  const due: WorkspaceId[] = [];
  const accessSweep = createPasses({
    size: ROWS_A_RUN,
    list: (page, signal) =>
      deps.store.repositoryAccess.listDue({ apiCluster, before: millis(deps.clock.now() - PROVE_AGAIN_MS) }, page, signal),
    keyOf: ({ workspaceId }) => workspaceId,
    visit: (found) => void due.push(...found.flatMap(({ workspaceId, isDue }) => (isDue ? [workspaceId] : []))),
  });
  const sweeps = createSweeps({
    ...{ ...deps, name: "workspace-repository-upkeep", first: ["policy"], next: ["rows", "access"] },
    sweeps: {
      access: { everyMs: SWEEP_EVERY_MS, run: findAccessDue },
      policy: { everyMs: SWEEP_EVERY_MS, run: readPolicy },
      rows: { everyMs: SWEEP_EVERY_MS, run: rowSweep.run },
    },
  });

  async function readPolicy(signal: AbortSignal): Promise<void> {
    if ((await policy.refresh(signal)).of === "everything") reviewAll();
  }

  async function findAccessDue(signal: AbortSignal): Promise<void> {
    due.length = 0;
    await accessSweep.run(signal);
    const [from, to] = [Math.floor(deps.rng.next() * due.length), Math.min(due.length, WORKSPACES_A_SWEEP)];
    for (let at = 0; at < to; at += 1) accesses.add(due[(from + at) % due.length] ?? "");
  }

  const onProbe = (key: string): void => {
    if (!isAccessProbe(key)) return queue.add([key]);
    const workspace = access.ended(key);
    if (workspace !== undefined) accesses.add(workspace);
  };
  const namersOf = ({ namespace, name }: ResourceAt) =>
    resources.list(namespace).filter(({ spec }) => credentialSecretNameOf(spec) === name);
  const isNamed = (at: ResourceAt): boolean => partition.isMine(at.namespace) && namersOf(at).length > 0;
  const onChanges = (changes: readonly Change[] | "missed"): void => {
    if (changes === "missed" || changes.some(isAboutFleet)) sweeps.add("policy");
    if (changes === "missed") {
      for (const sweep of [rowSweep, accessSweep]) sweep.visitAll();
      return sweeps.add("access");
    }
    for (const { kind, id } of changes) if (kind === "repository") accesses.add(id);
  };

  return createResourceController({
    ...{ name: "repository-credentials", watches: [resources, secrets], otherWatches: [namespaces], partition },
    subscribe: () => [
      resources.subscribe((at) => queue.add([keyOf(at)])),
      secrets.subscribe((at) => queue.add(namersOf(at).map(keyOf)), isNamed),
      namespaces.subscribe((change) => change.kind === "namespace" && reviewNamespace(change.name)),
      deps.store.changes.subscribe(onChanges),
      probes.subscribe(onProbe),
    ],
    takeOver(gained) {
      queue.takeOver(resources.list().map(keyOf), gained);
      for (const sweep of [rowSweep, accessSweep]) sweep.visitAll();
      sweeps.add("access");
    },
    ...{ sweeps, loops: [queue, accesses, probes] },
  });
}
