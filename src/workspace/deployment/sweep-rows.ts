import type { Clock } from "../../domain/clock.ts";
import { groupsText } from "../../domain/groups.ts";
import type { ApplicationId, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import type { IntentStore } from "../../store/intent/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { parseKey, resourceKey } from "../keys.ts";
import type { UserResources } from "../port.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import { type ClassedWorkspace, classDecision, planClasses } from "./plan-classes.ts";
import { type GroupedWorkspace, groupsDecision, planGroups } from "./plan-groups.ts";
import { planLabels } from "./plan-labels.ts";
import { planSweep, requestOf, type SweptRow, suspectWorkspaces } from "./plan-sweep.ts";
import type { RowIndex } from "./row-index.ts";

export interface SweepDeps {
  readonly apiCluster: string;
  readonly intents: IntentStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly partition: Partition;
}

/**
 * Compares all rows of the cluster with all resources. Resolves to the keys that have to be reconciled. A row whose resource is not seen
 * counts as gone only when the API server says so: the watch may be behind, and a deletion cannot be taken back.
 */
export function createRowSweep({
  apiCluster,
  intents,
  resources,
  rows,
  partition,
}: SweepDeps): (signal: AbortSignal) => Promise<readonly string[]> {
  const keyOf = (at: { readonly namespace: string; readonly name: string }): string => resourceKey(apiCluster, at);

  async function findGone(suspects: readonly SweptRow[], signal: AbortSignal): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const row of suspects) {
      if ((await resources.readUid(row, signal)) === row.uid) continue;
      rows.saw(keyOf(row), row.uid);
      gone.push(keyOf(row));
    }
    return gone;
  }

  return async (signal) => {
    const known = await intents.listKnown(apiCluster, signal);
    const present = resources.deployments();
    for (const row of known) rows.recorded(keyOf(row), row);
    const uids = new Set(present.map(({ uid }) => uid));
    rows.keepOnly(new Map(known.map((row) => [row.applicationId, row.uid])), (_key, uid) => uids.has(uid));
    const isRecorded = (resource: (typeof present)[number]): boolean => rows.hasRequest(resource.uid, requestOf(resource));
    const plan = planSweep({ cluster: apiCluster, rows: known, resources: present, isMine: partition.isMine, isRecorded });
    return [...plan.keys, ...(await findGone(plan.suspects, signal))];
  };
}

export interface WorkspaceSweepDeps extends SweepDeps {
  readonly policy: () => WorkspacePolicy;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Gives workspaces the class that a rule or a person says and the groups that labels say, keeps their labels, and ends those of namespaces that are
 * gone: again only when the API server says that they are.
 */
export function createWorkspaceSweep(deps: WorkspaceSweepDeps): (signal: AbortSignal) => Promise<void> {
  const { apiCluster, intents, resources, partition, policy, clock, log } = deps;

  async function changeClasses(known: readonly ClassedWorkspace[], signal: AbortSignal): Promise<void> {
    const facts = { policy: policy(), namespaceOf: resources.namespace, isMine: partition.isMine };
    for (const { workspace, ...assigned } of planClasses(known, facts)) {
      const { workspaceId, namespace, classes } = workspace;
      log.info({ namespace, class: assigned.class, from: classes }, "Changing the class of a workspace");
      await intents.assignClass({ workspaceId, ...assigned, decision: classDecision(workspace, assigned, clock.now()) }, signal);
    }
  }

  async function recordLabels(known: Parameters<typeof planLabels>[0], signal: AbortSignal): Promise<void> {
    const changed = planLabels(known, { policy: policy(), namespaceOf: resources.namespace, isMine: partition.isMine });
    if (changed.length > 0) await intents.recordLabels(changed, signal);
  }

  async function changeGroups(known: readonly GroupedWorkspace[], signal: AbortSignal): Promise<void> {
    const facts = { policy: policy(), namespaceOf: resources.namespace, isMine: partition.isMine };
    for (const planned of planGroups(known, facts)) {
      const { workspaceId, namespace } = planned.workspace;
      log.info({ namespace, groups: groupsText(planned.groups) }, "Changing the groups of a workspace");
      await intents.assignGroups({ workspaceId, groups: planned.groups, decision: groupsDecision(planned, clock.now()) }, signal);
    }
  }

  return async (signal) => {
    const known = await intents.listKnownWorkspaces(apiCluster, signal);
    await changeClasses(known, signal);
    await changeGroups(known, signal);
    await recordLabels(known, signal);
    const ended: WorkspaceId[] = [];
    for (const { workspaceId, namespace, namespaceUid } of suspectWorkspaces(known, (name) => resources.namespace(name)?.uid)) {
      if (!partition.isMine(namespace)) continue;
      if ((await resources.readNamespaceUid(namespace, signal)) !== namespaceUid) ended.push(workspaceId);
    }
    if (ended.length > 0) await intents.recordWorkspaceEnds(ended, signal);
  };
}

/** Applications listed, and recorded, in one statement. */
const PAGE = 500;

export interface PublicationSweepDeps extends Omit<SweepDeps, "resources"> {
  readonly resources: Pick<UserResources, "deployment">;
  /** Receives what is listed. */
  readonly unpublished: Set<ApplicationId>;
  readonly announce: (applicationId: ApplicationId, when: "now" | "soon") => void;
}

/**
 * Announces every application whose user has not heard the latest. To the end of the list: its head may be another process's
 * share, which that process cannot publish just now.
 */
export function createPublicationSweep(deps: PublicationSweepDeps): (signal: AbortSignal) => Promise<void> {
  const { apiCluster, intents, resources, rows, partition, unpublished, announce } = deps;

  /** Nobody is left to report to. Should the resource turn up after all, no hash of it counts as published. */
  const isGone = (key: string | undefined): boolean =>
    key !== undefined && partition.isMine(parseKey(key).namespace) && resources.deployment(parseKey(key)) === undefined;

  const announcePage = async (listed: readonly ApplicationId[], signal: AbortSignal): Promise<void> => {
    const unheard = listed.filter((id) => isGone(rows.keyOf(id)));
    if (unheard.length > 0)
      await intents.recordPublished(
        unheard.map((applicationId) => ({ applicationId, hash: "" })),
        signal,
      );
    for (const id of listed) {
      unpublished.add(id);
      announce(id, "now");
    }
  };

  return async (signal) => {
    unpublished.clear();
    for (let after: ApplicationId | "" | undefined = ""; after !== undefined; ) {
      const listed = await intents.listUnpublished(apiCluster, { limit: PAGE, after }, signal);
      await announcePage(listed, signal);
      after = listed.length < PAGE ? undefined : listed.at(-1);
    }
  };
}
