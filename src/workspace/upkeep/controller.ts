import type { ApplicationId } from "../../domain/ids.ts";
import type { Rng } from "../../domain/rng.ts";
import { createKeyedQueue } from "../../runtime/keyed-queue.ts";
import { every } from "../../runtime/timer/every.ts";
import type { FleetStore } from "../../store/fleet/port.ts";
import type { IntentStore } from "../../store/intent/port.ts";
import { deploymentKey } from "../keys.ts";
import { createOverdueSweep, type OverdueDeps } from "../overdue/controller.ts";
import type { UserResources } from "../port.ts";
import { readDeclaredPolicy } from "../read-policy.ts";
import type { RowIndex } from "../row-index.ts";
import { createPublicationSweep, createSweep, createWorkspaceSweep } from "../sweep/controller.ts";
import { admitsTheSame, closedPolicy, type WorkspacePolicy } from "../workspace-policy.ts";

export interface UpkeepDeps extends OverdueDeps {
  readonly intents: IntentStore;
  readonly fleet: FleetStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  /** Resources to look at again. */
  readonly review: (keys: readonly string[]) => void;
  /** An application whose user may have to hear something. */
  readonly announce: (applicationId: ApplicationId, when: "now" | "soon") => void;
  /** Called once when policy and rows are known: nothing may be decided before. */
  readonly onReady: () => void;
  readonly rng: Rng;
}

/** What is compared even when nothing says that something changed, and how often, in ms. */
const EVERY_MS = { policy: 60_000, rows: 60_000, workspaces: 60_000, overdue: 60_000, unpublished: 15_000 } as const;
export type UpkeepTask = keyof typeof EVERY_MS;
export const UPKEEP_TASKS = Object.keys(EVERY_MS) as readonly UpkeepTask[];

export interface Upkeep {
  /** Everything was listed once: comparing makes sense from now on. */
  start(signal: AbortSignal): void;
  stop(): Promise<void>;
  add(task: UpkeepTask): void;
  policy(): WorkspacePolicy;
  /** Applications the store says nobody has told their user about. */
  readonly unpublished: Set<ApplicationId>;
}

/** Everything that finds out what events failed to tell. Keys: the tasks. */
export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { apiCluster, fleet, resources, review } = deps;
  const unpublished = new Set<ApplicationId>();
  const sweep = createSweep(deps);
  const findUnpublished = createPublicationSweep({ ...deps, unpublished });
  let policy = closedPolicy;
  let stage: "policy" | "rows" | "ready" = "policy";

  async function readPolicy(signal: AbortSignal): Promise<void> {
    const next = (await readDeclaredPolicy(fleet, signal)) ?? closedPolicy;
    const isNews = !admitsTheSame(policy, next);
    policy = next;
    if (stage === "policy") {
      stage = "rows";
      add("rows");
    }
    if (isNews) review(resources.deployments().map((resource) => deploymentKey(apiCluster, resource)));
  }

  async function compareRows(signal: AbortSignal): Promise<void> {
    if (stage === "policy") return;
    review(await sweep(signal));
    if (stage === "rows") deps.onReady();
    stage = "ready";
  }

  const run: Readonly<Record<UpkeepTask, (signal: AbortSignal) => Promise<void>>> = {
    policy: readPolicy,
    rows: compareRows,
    workspaces: createWorkspaceSweep(deps),
    overdue: createOverdueSweep(deps),
    unpublished: async (signal) => (stage === "ready" ? findUnpublished(signal) : undefined),
  };
  const queue = createKeyedQueue({
    ...deps,
    name: "workspace-upkeep",
    concurrency: UPKEEP_TASKS.length,
    work: (task, signal) => run[task as UpkeepTask](signal),
  });
  const add = (task: UpkeepTask): void => queue.add(task);
  return {
    start(signal) {
      for (const task of UPKEEP_TASKS) every({ ...deps, ms: EVERY_MS[task], run: () => add(task) }, signal);
      add("policy");
      queue.start();
    },
    stop: queue.stop,
    add,
    policy: () => policy,
    unpublished,
  };
}
