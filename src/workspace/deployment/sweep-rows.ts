import type { Clock } from "../../domain/clock.ts";
import { groupsText } from "../../domain/groups.ts";
import type { ApplicationId, WorkspaceId } from "../../domain/ids.ts";
import type { Partition } from "../../domain/partition.ts";
import { createPasses, type Passes } from "../../runtime/resource-controller/passes.ts";
import type { IntentStore, KnownWorkspace } from "../../store/intent/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { parseKey, resourceKey } from "../keys.ts";
import type { UserResources } from "../port.ts";
import type { WorkspacePolicy } from "../workspace-policy.ts";
import { type ClassedWorkspace, classDecision, planClasses } from "./plan-classes.ts";
import { type GroupedWorkspace, groupsDecision, planGroups } from "./plan-groups.ts";
import { planLabels } from "./plan-labels.ts";
import { type ResourceFacts, requestOf, type SweptRow, suspectRows, suspectWorkspaces, unsettledKeys } from "./plan-sweep.ts";
import type { RowIndex } from "./row-index.ts";

export interface SweepDeps {
  readonly apiCluster: string;
  readonly intents: IntentStore;
  readonly resources: UserResources;
  readonly rows: RowIndex;
  readonly partition: Partition;
}

/**
 * Rows compared by one run. A run is due each minute: 2,500 applications are compared each minute, 25,000 within ten, 250,000 within two hours; workspaces, of which
 * more is read, a thousand each minute.
 */
const APPLICATIONS_A_RUN = 2_500;
const WORKSPACES_A_RUN = 1_000;

/**
 * Compares rows of the cluster with resources, page by page, and at the end of each pass resources with all rows. Adds the keys that have to be
 * reconciled. A row whose resource is not seen counts as gone only when the API server says so: the watch may be behind, and a deletion cannot be
 * taken back.
 */
export function createRowSweep(
  { apiCluster, intents, resources, rows, partition }: SweepDeps,
  add: (keys: readonly string[]) => void,
): Passes {
  const keyOf = (at: { readonly namespace: string; readonly name: string }): string => resourceKey(apiCluster, at);
  const isPresent = (at: Parameters<typeof keyOf>[0], uid: string): boolean => resources.deployment(at)?.uid === uid;
  /** Rows of this pass. */
  const listed = new Map<ApplicationId, string>();

  async function findGone(suspects: readonly SweptRow[], signal: AbortSignal): Promise<readonly string[]> {
    const gone: string[] = [];
    for (const row of suspects) {
      if ((await resources.readUid(row, signal)) === row.uid) continue;
      rows.saw(keyOf(row), row.uid);
      gone.push(keyOf(row));
    }
    return gone;
  }

  return createPasses<SweptRow>({
    size: APPLICATIONS_A_RUN,
    list: (page, signal) => intents.listKnown(apiCluster, page, signal),
    keyOf: ({ applicationId }) => applicationId,
    onBegin: () => listed.clear(),
    async visit(known, signal) {
      for (const row of known) {
        const request = requestOf({ ...row, refreshedAt: row.refresh ?? "" });
        rows.recorded(keyOf(row), { ...row, listed: { request, specHash: row.specHash } });
        listed.set(row.applicationId, row.uid);
      }
      const { isMine } = partition;
      add(await findGone(suspectRows(known, { isPresent: (row) => isPresent(row, row.uid), isMine }), signal));
    },
    onEnd() {
      rows.keepOnly(listed, (key, uid) => isPresent(parseKey(key), uid));
      const isRecorded: ResourceFacts["isRecorded"] = (resource) => rows.hasRequest(resource.uid, requestOf(resource));
      const withRow = new Set(listed.values());
      const { isMine } = partition;
      add(unsettledKeys({ cluster: apiCluster, resources: resources.deployments(), withRow, isMine, isRecorded }));
    },
  });
}

export interface WorkspaceSweepDeps extends SweepDeps {
  readonly policy: () => WorkspacePolicy;
  readonly clock: Clock;
  readonly log: Log;
}

export interface WorkspaceSweep extends Passes {
  /** The next `visitChanged` visits the workspaces of this namespace. */
  changed(namespace: string): void;
  /** Visits the workspaces of namespaces that have changed. */
  visitChanged(signal: AbortSignal): Promise<void>;
}

/**
 * Gives workspaces the class that a rule or a person says and the groups that labels say, keeps their labels, and ends those of namespaces that are
 * gone: again only when the API server says that they are. Page by page, and beside that those of namespaces that have changed.
 */
export function createWorkspaceSweep(deps: WorkspaceSweepDeps): WorkspaceSweep {
  const { apiCluster, intents, resources, partition, policy, clock, log } = deps;
  let changed = new Set<string>();

  async function changeClasses(known: readonly ClassedWorkspace[], signal: AbortSignal): Promise<void> {
    const facts = { policy: policy(), namespaceOf: resources.namespace, isMine: partition.isMine };
    for (const { workspace, ...assigned } of planClasses(known, facts)) {
      const { workspaceId, namespace, classes } = workspace;
      log.info({ namespace, class: assigned.class, from: classes }, "Changing the class of a workspace");
      await intents.assignClass({ workspaceId, ...assigned, decision: classDecision(workspace, assigned, clock.now()) }, signal);
    }
  }

  async function recordLabels(known: Parameters<typeof planLabels>[0], signal: AbortSignal): Promise<void> {
    const planned = planLabels(known, { policy: policy(), namespaceOf: resources.namespace, isMine: partition.isMine });
    if (planned.length > 0) await intents.recordLabels(planned, signal);
  }

  async function changeGroups(known: readonly GroupedWorkspace[], signal: AbortSignal): Promise<void> {
    const facts = { policy: policy(), namespaceOf: resources.namespace, isMine: partition.isMine };
    for (const planned of planGroups(known, facts)) {
      const { workspaceId, namespace } = planned.workspace;
      log.info({ namespace, groups: groupsText(planned.groups) }, "Changing the groups of a workspace");
      await intents.assignGroups({ workspaceId, groups: planned.groups, decision: groupsDecision(planned, clock.now()) }, signal);
    }
  }

  async function visit(known: readonly KnownWorkspace[], signal: AbortSignal): Promise<void> {
    await changeClasses(known, signal);
    await changeGroups(known, signal);
    await recordLabels(known, signal);
    const ended: WorkspaceId[] = [];
    for (const { workspaceId, namespace, namespaceUid } of suspectWorkspaces(known, (name) => resources.namespace(name)?.uid)) {
      if (!partition.isMine(namespace)) continue;
      if ((await resources.readNamespaceUid(namespace, signal)) !== namespaceUid) ended.push(workspaceId);
    }
    if (ended.length > 0) await intents.recordWorkspaceEnds(ended, signal);
  }

  const passes = createPasses<KnownWorkspace>({
    size: WORKSPACES_A_RUN,
    list: (page, signal) => intents.listKnownWorkspaces(apiCluster, page, signal),
    keyOf: ({ workspaceId }) => workspaceId,
    visit,
  });
  return {
    ...passes,
    changed: (namespace) => void changed.add(namespace),
    async visitChanged(signal) {
      const namespaces = [...changed];
      changed = new Set();
      try {
        for (let from = 0; from < namespaces.length; from += WORKSPACES_A_RUN)
          await visit(await intents.readKnownWorkspaces(apiCluster, namespaces.slice(from, from + WORKSPACES_A_RUN), signal), signal);
      } catch (error) {
        for (const namespace of namespaces) changed.add(namespace);
        throw error;
      }
    },
  };
}

/** Applications listed, and recorded, in one statement. */
const PAGE = 500;

export interface PublicationSweepDeps extends Omit<SweepDeps, "resources"> {
  readonly resources: Pick<UserResources, "deployment">;
  /** Receives what is listed. */
  readonly unpublished: Set<ApplicationId>;
  /** Whether the instance is given time to say something about the resource of this key, which its user is to read first. */
  readonly isAwaited: (key: string) => boolean;
  readonly announce: (applicationId: ApplicationId, when: "now" | "soon") => void;
}

/**
 * Announces every application whose user has not heard the latest, but for those whose first status is waited for. To the end of the list: its
 * head may be another process's share, which that process cannot publish just now.
 */
export function createPublicationSweep(deps: PublicationSweepDeps): (signal: AbortSignal) => Promise<void> {
  const { apiCluster, intents, resources, rows, partition, unpublished, isAwaited, announce } = deps;

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
      if (!isAwaited(rows.keyOf(id) ?? "")) announce(id, "now");
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
