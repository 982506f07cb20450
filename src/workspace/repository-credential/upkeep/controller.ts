import type { Clock } from "../../../domain/clock.ts";
import type { Rng } from "../../../domain/rng.ts";
import { createKeyedQueue } from "../../../runtime/keyed-queue.ts";
import { every } from "../../../runtime/timer/every.ts";
import type { FleetStore } from "../../../store/fleet/port.ts";
import type { RepositoryCredentialStore } from "../../../store/repository-credential/port.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { deploymentKey } from "../../keys.ts";
import type { UserKindResources } from "../../port.ts";
import { readDeclaredPolicy } from "../../read-policy.ts";
import { admitsTheSame, closedPolicy, type WorkspacePolicy } from "../../workspace-policy.ts";

export interface CredentialUpkeepDeps {
  readonly apiCluster: string;
  readonly fleet: FleetStore;
  readonly store: RepositoryCredentialStore;
  readonly resources: UserKindResources;
  /** Credentials to look at again. */
  readonly review: (keys: readonly string[]) => void;
  /** Called once when the policy is known: nothing may be decided before. */
  readonly onReady: () => void;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface CredentialUpkeep {
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  add(task: "policy" | "rows"): void;
  policy(): WorkspacePolicy;
}

const EVERY_MS = 60_000;

/** Finds out what events failed to tell: another policy, and rows whose resource is gone. Keys: the tasks. */
export function createCredentialUpkeep(deps: CredentialUpkeepDeps): CredentialUpkeep {
  const { apiCluster, fleet, store, resources, review } = deps;
  let policy = closedPolicy;
  let isReady = false;

  async function readPolicy(signal: AbortSignal): Promise<void> {
    const next = (await readDeclaredPolicy(fleet, signal)) ?? closedPolicy;
    const isNews = !isReady || !admitsTheSame(policy, next);
    policy = next;
    if (!isReady) deps.onReady();
    isReady = true;
    if (isNews) review(resources.list().map((resource) => deploymentKey(apiCluster, resource)));
  }

  async function compareRows(signal: AbortSignal): Promise<void> {
    const present = new Set(resources.list().map(({ uid }) => uid));
    const suspects = (await store.listKnown(apiCluster, signal)).filter(({ uid }) => !present.has(uid));
    review(suspects.map((row) => deploymentKey(apiCluster, row)));
  }

  const run = { policy: readPolicy, rows: compareRows } as const;
  const queue = createKeyedQueue({
    ...deps,
    name: "workspace-repository-upkeep",
    concurrency: 1,
    work: (task, signal) => run[task as keyof typeof run](signal),
  });
  return {
    start(signal) {
      for (const task of ["policy", "rows"] as const) {
        every({ ...deps, ms: EVERY_MS, run: () => queue.add(task) }, signal);
        queue.add(task);
      }
      queue.start();
    },
    stop: queue.stop,
    add: (task) => queue.add(task),
    policy: () => policy,
  };
}
