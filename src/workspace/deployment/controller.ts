import type { Change } from "../../domain/change.ts";
import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, Ids } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { Rng } from "../../domain/rng.ts";
import type { ObservedDeployment } from "../../domain/user-resource.ts";
import { createPartitionedQueue } from "../../runtime/resource-controller/partitioned-queue.ts";
import { createResourceController, type ResourceController } from "../../runtime/resource-controller/resource-controller.ts";
import { createSweeps } from "../../runtime/resource-controller/sweeps.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { namespaceOf, parseKey, resourceKey } from "../keys.ts";
import type { ResourceChange, UserResources } from "../port.ts";
import { createPolicySource } from "../read-policy.ts";
import { isAboutPolicy, quotaOf, type WorkspacePolicy } from "../workspace-policy.ts";
import { createAnswerWait, LONGEST_WAIT_MS } from "./answer-wait.ts";
import { createApplicationFollower } from "./follow-applications.ts";
import { createIntentWork, INTENT_BATCH } from "./record-intent.ts";
import { createRowIndex } from "./row-index.ts";
import { createOverdueSweep } from "./sweep-overdue.ts";
import { createPublicationSweep, createRowSweep, createWorkspaceSweep } from "./sweep-rows.ts";
import { createStatusWork } from "./write-status.ts";

export interface DeploymentControllerDeps {
  readonly store: Pick<Store, "intents" | "decisions" | "fleet" | "changes">;
  readonly resources: UserResources;
  /** Name of the cluster the resources are of. */
  readonly apiCluster: string;
  /** Whether somebody probes what deployments name: then nothing is deployed before that has shown that it can be read. */
  readonly provesAccess: boolean;
  /** This process's share of the namespaces. */
  readonly partition: Partition;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Keys under way at once: of intents a few batches' worth, so that the next one gathers while one is written. Of statuses few: each takes an
 * API server as much processor time as two objects, and more at once would only stand in front of what others, and our own
 * creations, ask of it.
 */
const CONCURRENCY = { intents: 4 * INTENT_BATCH, statuses: 8 } as const;
/** How many of them may be of one namespace while others are served. Intents share a transaction; statuses stand in front of each other. */
const BESIDE_OTHERS = { intents: 4, statuses: 2 } as const;
const SWEEP_EVERY_MS = 60_000;
/**
 * A process that starts judges what stands, for another version of the program may have recorded it: so many together, so that they share a transaction,
 * this far apart in ms. Nobody waits for that, and all at once would be felt by those who want something new.
 */
const FIRST = { together: 25, everyMs: 500 } as const;
/** Users wait for a status that has not been written. */
const UNPUBLISHED_EVERY_MS = 15_000;

/**
 * The controller of GitOpsDeployments: records what users ask for, and tells them how it goes. These are two queues with the same keys,
 * `cluster|namespace|name`: what users ask for is recorded although their statuses have to wait.
 */
export function createDeploymentController(deps: DeploymentControllerDeps): ResourceController {
  const { store, resources, apiCluster, partition } = deps;
  const rows = createRowIndex();
  const policy = createPolicySource(store.fleet, { intents: store.intents, apiCluster, namespaceOf: resources.namespace });
  const answers = createAnswerWait(deps.clock);
  /** Applications whose users have not been shown the latest, as the store says. */
  const unpublished = new Set<ApplicationId>();
  const parts = { ...deps, intents: store.intents, decisions: store.decisions, rows, unpublished, policy: policy.current };

  const statuses = createPartitionedQueue({
    ...{ ...deps, name: "workspace-status", groupOf: namespaceOf },
    ...{ concurrency: CONCURRENCY.statuses, besideOthers: BESIDE_OTHERS.statuses },
    work: createStatusWork(parts),
  });
  /** The user of this resource should hear how it stands: at once, when its instance had time to answer, or later, behind all who wait. */
  const tell = (key: string, when: "now" | "soon" | "later"): void => {
    if (!partition.isMine(namespaceOf(key))) return;
    if (when === "later") statuses.takeOver([key], partition.isMine, { afterMs: LONGEST_WAIT_MS });
    else statuses.add([key], { afterMs: when === "now" ? 0 : answers.waitMs(key) });
  };
  const intents = createPartitionedQueue({
    ...{ ...deps, name: "workspace-intent", groupOf: namespaceOf },
    ...{ concurrency: CONCURRENCY.intents, besideOthers: BESIDE_OTHERS.intents },
    work: createIntentWork({ ...parts, tell }),
  });
  /** The row of this resource changed, or has gone. */
  const onRow = (key: string, when: "now" | "soon"): void => {
    if (when === "now") answers.answered(key);
    // A resource that its finalizer holds waits for just this.
    if (resources.deployment(parseKey(key))?.isDeleting === true) intents.add([key]);
    tell(key, when);
  };
  const applications = createApplicationFollower({ ...parts, onRow });

  const rowSweep = createRowSweep(parts, intents.add);
  /** Whether all rows were compared with resources once. Until then, each resource that is listed seems to be new. */
  let areRowsKnown = false;
  const workspaceSweep = createWorkspaceSweep(parts);
  const sweeps = createSweeps({
    ...{ ...deps, name: "workspace-upkeep", first: ["policy", "rows"], next: ["unpublished"] },
    sweeps: {
      policy: { everyMs: SWEEP_EVERY_MS, run: readPolicy },
      rows: { everyMs: SWEEP_EVERY_MS, run: compareRows },
      workspaces: { everyMs: SWEEP_EVERY_MS, run: workspaceSweep.run },
      namespaces: { everyMs: SWEEP_EVERY_MS, run: workspaceSweep.visitChanged },
      overdue: { everyMs: SWEEP_EVERY_MS, run: createOverdueSweep(parts) },
      unpublished: {
        everyMs: UNPUBLISHED_EVERY_MS,
        run: createPublicationSweep({ ...parts, announce: applications.add, isAwaited: answers.isAwaited }),
      },
    },
  });

  async function readPolicy(signal: AbortSignal): Promise<void> {
    const change = await policy.refresh(signal);
    if (change.of === "namespaces") return change.names.forEach((name) => judgeRefused(name));
    judgeAll();
    // Some may ask for another class, or other groups, now.
    if (hasRules(policy.current())) visitAllWorkspaces();
  }

  async function compareRows(signal: AbortSignal): Promise<void> {
    await rowSweep.run(signal);
    areRowsKnown = true;
  }

  /** Judges everything in the background: at first little by little, and later at once, with what has no row and may be let in now in front. */
  const judgeAll = (): void => {
    const stepMs = areRowsKnown ? 0 : FIRST.everyMs;
    keysOf(resources.deployments()).forEach((key, index) =>
      intents.takeOver([key], partition.isMine, { afterMs: Math.floor(index / FIRST.together) * stepMs }),
    );
    judgeRefused();
  };

  /** Judges these. Before rows are known it leaves them to the comparison of rows, which finds what is new, and to the first `judgeAll`. */
  const judge = (found: readonly ObservedDeployment[]): void => {
    if (areRowsKnown) intents.add(keysOf(found));
  };

  const visitAllWorkspaces = (): void => {
    workspaceSweep.visitAll();
    sweeps.add("workspaces");
  };

  /** What was kept out of this namespace, or of all, may be let in, or reads another number. */
  const judgeRefused = (namespace?: string): void => judge(resources.deployments(namespace).filter(({ uid }) => !rows.hasRow(uid)));
  const keysOf = (found: readonly ObservedDeployment[]): readonly string[] => found.map((resource) => resourceKey(apiCluster, resource));
  const onResource = (change: ResourceChange): void => {
    if (change.kind === "namespace") {
      const current = policy.current();
      // Its labels may ask for another class or other groups, or are to be recorded.
      const isRead = hasRules(current) || current.recordedLabels.length > 0;
      if (resources.namespace(change.name) === undefined || isRead) {
        workspaceSweep.changed(change.name);
        sweeps.add("namespaces");
      }
      return judge(resources.deployments(change.name));
    }
    const key = resourceKey(apiCluster, change.at);
    for (const uid of change.uids) rows.saw(key, uid);
    const resource = resources.deployment(change.at);
    if (resource !== undefined) return judge([resource]);
    intents.add([key]);
    // When one goes, one that the quota kept out may be let in.
    const { namespace } = change.at;
    const { deployments } = quotaOf(resources.namespace(namespace), policy.current());
    if (resources.deployments(namespace).length >= deployments) judgeRefused(namespace);
  };
  const onChange = (change: Change): void => {
    const { kind, id } = change;
    if (isAboutPolicy(change)) sweeps.add("policy");
    if (kind === "class") visitAllWorkspaces();
    if (kind === "status") applications.add(id as ApplicationId, "now");
    // What an application should be, and where it went, can wait for its first status.
    if (kind === "application") applications.add(id as ApplicationId, "soon");
  };
  const onMissedChanges = (): void => {
    rowSweep.visitAll();
    workspaceSweep.visitAll();
    for (const sweep of ["policy", "rows", "workspaces", "overdue", "unpublished"] as const) sweeps.add(sweep);
  };

  return createResourceController({
    ...{ name: "deployments", watches: [resources], otherWatches: [], partition, sweeps, loops: [intents, statuses, applications] },
    subscribe: () => [
      resources.subscribe(onResource),
      store.changes.subscribe((changes) => (changes === "missed" ? onMissedChanges() : changes.forEach(onChange))),
    ],
    takeOver(gained) {
      // Until now others recorded what is gained.
      rows.forgetListed();
      // What was asked for while the keys changed hands; nobody has answered it. The comparison that follows finds it too, at its end.
      const isNew = ({ uid, conditions }: ObservedDeployment): boolean => conditions.length === 0 && !rows.hasRow(uid);
      judge(resources.deployments().filter((resource) => isNew(resource) && gained(resource.namespace)));
      rowSweep.visitAll();
      workspaceSweep.visitAll();
      sweeps.add("rows");
    },
  });
}

/** Whether labels of namespaces say anything. */
function hasRules({ classes, groups }: WorkspacePolicy): boolean {
  return classes.length > 0 || groups.length > 0;
}
