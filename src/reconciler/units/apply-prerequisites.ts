import { type Instance, sharesEntry } from "../../domain/instance.ts";
import { ANNOTATION_LET_IN } from "../../domain/names.ts";
import type { ShardKind } from "../../domain/shard-object.ts";
import type { Destination, OwnNamespaces } from "../../shard/application-placement.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { clusterEntryName } from "../../shard/names.ts";
import { renderUnit, type UnitObjects } from "../../shard/render-unit.ts";
import type { DesiredUnit } from "../../store/shard/port.ts";
import { allOrFirstFailure, type ObjectWriter, type Settlement } from "../apply-object.ts";
import { formerApplications, type Host, type PlacedUnit } from "../find-hosts.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";
import { type TroubleCause, waits } from "../trouble.ts";
import type { ClusterEntries } from "./apply-cluster-entries.ts";
import type { ApplyOwnerBinding } from "./apply-owner-binding.ts";
import type { RepositorySecrets } from "./apply-repository-secrets.ts";
import type { WorkspaceEntries } from "./apply-workspace-entry.ts";
import type { Impersonation } from "./grant-impersonation.ts";

/** One of a unit's own objects as it should be, and the access to the objects of its kind on its cluster. */
export interface UnitPart {
  readonly kind: Extract<ShardKind, "account" | "owner-binding" | "project"> | "environment-project";
  readonly desired: DesiredObject;
  readonly objects: ManagedObjects<ObservedObject>;
  /** The object is to be removed instead of written. */
  readonly isUnneeded?: boolean;
}

/**
 * The parts that a unit needs on its owner. During a move, source and target are given all but the owner binding,
 * which the mover writes.
 */
export interface UnitParts {
  readonly account: UnitPart;
  readonly ownerBinding: UnitPart;
  readonly project: UnitPart;
  /** Written where the unit has environments. Only the end of what it is for says when it may go. */
  readonly environmentProject: UnitPart;
}

/** How far a unit's prerequisites have got: how each part ended, what they still wait for, and what is missing. */
export interface Applied extends TroubleCause {
  /** How each part ended, in the order in which the parts were given. */
  readonly ends: readonly Settlement<ObservedObject>[];
}

/**
 * Makes what has to exist before a unit's Applications can stand on an instance: the unit's account, owner binding,
 * project, repository Secrets, cluster entries of its remote clusters, and the instance's right to impersonate the
 * account, or its cluster entry for the unit. Used for the owner of a unit, and by moves for their source and target.
 */
export interface Prerequisites {
  /**
   * Name of a cluster (the host's engine cluster or the API cluster) whose objects are not listed yet; `undefined`:
   * both are. Until then nothing may be written: an object that is not listed yet seems not to exist.
   */
  unlisted(host: Host): string | undefined;
  /**
   * Whether the instance has its cluster entry for the API cluster. Callers check this first: without the entry no
   * unit may stand there.
   */
  hasApiClusterEntry(host: Host): boolean;
  /** Renders the unit's own objects for this host. Reads and writes nothing. */
  partsOf(placed: PlacedUnit): UnitParts;
  /** Only the account. It stands on the API cluster, so it can be removed also where the engine cluster cannot be reached. */
  accountOf(row: DesiredUnit, instance: Instance): UnitPart;
  /**
   * Makes these parts, and all other prerequisites, equal to the unit's row, all at the same time. What cannot be done
   * yet is returned as `waits` and `missingPrerequisites`. Throws the first failure, once all of the work has ended.
   */
  apply(placed: PlacedUnit, parts: readonly UnitPart[], signal: AbortSignal): Promise<Applied>;
}

export interface PrerequisitesDeps {
  readonly apiCluster: ApiCluster;
  readonly writer: ObjectWriter;
  readonly applyOwnerBinding: ApplyOwnerBinding;
  readonly repositorySecrets: RepositorySecrets;
  readonly clusterEntries: ClusterEntries;
  readonly workspaceEntries: Pick<WorkspaceEntries, "apply">;
  readonly impersonation: Pick<Impersonation, "grant">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
}

/** Creates the prerequisites of one reconciler. */
export function createPrerequisites(deps: PrerequisitesDeps): Prerequisites {
  const { apiCluster, writer, destination, namespaces } = deps;

  const put = ({ row }: PlacedUnit, { kind, desired, objects, isUnneeded }: UnitPart, signal: AbortSignal) => {
    if (kind === "owner-binding") return deps.applyOwnerBinding(row, desired, signal);
    if (isUnneeded === true) return writer.remove({ objects, at: desired.at, name: kind, fence: desired.fence }, signal);
    return writer.put({ objects, desired, name: kind }, signal);
  };

  /** Who enters by the account itself acts as nobody. */
  const grant = async ({ host: { instance }, row }: PlacedUnit, signal: AbortSignal): Promise<void> => {
    if (sharesEntry(instance)) await deps.impersonation.grant(instance.id, row.unit.id, signal);
  };

  const render = (row: DesiredUnit, instance: Instance, isProjectShared: boolean): UnitObjects =>
    renderUnit({ unit: row.unit, workspace: row.workspace, instance }, { ...row, destination, namespaces, isProjectShared });

  return {
    unlisted: ({ engine }) => [engine, apiCluster].find((cluster) => !cluster.isSynced())?.cluster,
    hasApiClusterEntry({ engine, instance }) {
      return engine.entries.get({ namespace: instance.namespace, name: clusterEntryName(destination.server) }) !== undefined;
    },
    accountOf: (row, instance) => ({ kind: "account", desired: render(row, instance, false).account, objects: apiCluster.accounts }),
    partsOf(placed) {
      const { row, host } = placed;
      const isProjectShared = formerApplications(placed).length > 0;
      const { account, ownerBinding, project, environmentProject } = render(row, host.instance, isProjectShared);
      return {
        account: { kind: "account", desired: account, objects: apiCluster.accounts },
        ownerBinding: { kind: "owner-binding", desired: ownerBinding, objects: apiCluster.bindings },
        project: { kind: "project", desired: project, objects: host.engine.projects },
        environmentProject: { kind: "environment-project", desired: environmentProject, objects: host.engine.projects },
      };
    },
    async apply(placed, parts, signal) {
      const [ends, credentials, entries] = await allOrFirstFailure([
        allOrFirstFailure(parts.map((part) => put(placed, part, signal))),
        deps.repositorySecrets.apply(placed, signal),
        deps.clusterEntries.apply(placed, signal),
        grant(placed, signal),
      ]);
      const ended = (kind: UnitPart["kind"]) => ends[parts.findIndex((part) => part.kind === kind)];
      const account = ended("account");
      const own = await deps.workspaceEntries.apply(
        placed,
        {
          account: account?.kind === "settled" ? account.observed : undefined,
          isUnneeded: parts.some(({ kind, isUnneeded }) => kind === "project" && isUnneeded === true),
        },
        signal,
      );
      const isDone = (part: UnitPart, index: number): boolean => ends[index]?.kind === (part.isUnneeded === true ? "gone" : "settled");
      const project = ended("project");
      const isLetIn = project?.kind !== "settled" || isCached(placed, project.observed);
      const going = parts.filter((part, index) => !isDone(part, index)).map(({ kind }) => waits.going(`the former ${kind}`));
      return {
        ends,
        waits: [...going, ...own, ...(isLetIn ? [] : [waits.letIn]), ...credentials.waits, ...entries.waits],
        missingPrerequisites: [...credentials.missingPrerequisites, ...entries.missingPrerequisites],
      };
    },
  };
}

/**
 * Whether the instance's cache has the workspace's namespace, as the filter in front of it says on the project. Before that Argo CD would take all that
 * stands there for missing.
 */
function isCached({ row, host }: PlacedUnit, project: ObservedObject): boolean {
  return host.instance.entries !== "filtered" || project.annotations[ANNOTATION_LET_IN] === row.workspace.namespace;
}
