import type { Instance } from "../../domain/instance.ts";
import type { ShardKind } from "../../domain/shard-object.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { clusterEntryName } from "../../shard/names.ts";
import { renderUnit, type UnitObjects } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { DesiredUnit } from "../../store/shard/port.ts";
import { allOrFirstFailure, type ObjectWriter, type Settlement } from "../apply-object.ts";
import type { Host, PlacedUnit } from "../find-hosts.ts";
import type { ApiCluster, ManagedObjects } from "../port.ts";
import { type BlockedBy, waits } from "../trouble.ts";
import type { ClusterEntries } from "./apply-cluster-entries.ts";
import type { ApplyOwnerBinding } from "./apply-owner-binding.ts";
import type { RepositorySecrets } from "./apply-repository-secrets.ts";
import type { Impersonation } from "./grant-impersonation.ts";

/** One of a unit's own objects, and where it is kept. */
export interface UnitPart {
  readonly kind: Extract<ShardKind, "account" | "register" | "project">;
  readonly desired: DesiredObject;
  readonly objects: ManagedObjects<ObservedObject>;
  /** It is to be gone. */
  readonly isUnneeded?: boolean;
}

/** The parts that a unit has on its owner. An instance that a move names has all but the owner binding. */
export interface UnitParts {
  readonly account: UnitPart;
  readonly ownerBinding: UnitPart;
  readonly project: UnitPart;
}

/** What was reached of a unit's prerequisites. */
export interface Applied extends BlockedBy {
  /** How each of the parts ended, in their order. */
  readonly ends: readonly Settlement<ObservedObject>[];
}

/**
 * What has to stand on an instance before a unit's Applications can: the unit's account, its owner binding, its project, its repository
 * Secrets, the entries of its remote clusters, and the right to impersonate its account. Owners and moves have them from here alike.
 */
export interface Prerequisites {
  /** Name of a cluster on which they stand and whose objects are not listed yet; `undefined`: all are. */
  unlisted(host: Host): string | undefined;
  /** Whether the instance has its entry for the API cluster, without which no unit may stand there. */
  hasApiClusterEntry(host: Host): boolean;
  partsOf(placed: PlacedUnit): UnitParts;
  /** The one part that stands on no engine cluster. */
  accountOf(row: DesiredUnit, instance: Instance): UnitPart;
  /** Makes these parts, and all the rest, equal to the unit's row. */
  apply(placed: PlacedUnit, parts: readonly UnitPart[], signal: AbortSignal): Promise<Applied>;
}

export interface PrerequisitesDeps {
  readonly apiCluster: ApiCluster;
  readonly writer: ObjectWriter;
  readonly applyOwnerBinding: ApplyOwnerBinding;
  readonly repositorySecrets: RepositorySecrets;
  readonly clusterEntries: ClusterEntries;
  readonly impersonation: Pick<Impersonation, "grant">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
}

export function createPrerequisites(deps: PrerequisitesDeps): Prerequisites {
  const { apiCluster, writer, destination, namespaces } = deps;

  const put = ({ row }: PlacedUnit, { kind, desired, objects, isUnneeded }: UnitPart, signal: AbortSignal) => {
    if (kind === "register") return deps.applyOwnerBinding(row, desired, signal);
    if (isUnneeded === true) return writer.remove({ objects, at: desired.at, name: kind, fence: desired.fence }, signal);
    return writer.put({ objects, desired, name: kind }, signal);
  };

  const render = (row: DesiredUnit, instance: Instance): UnitObjects =>
    renderUnit(
      { unit: row.unit, workspace: row.workspace, instance },
      { destination, namespaces, repoUrls: row.repoUrls, environments: row.environments },
    );

  return {
    unlisted: ({ engine }) => [engine, apiCluster].find((cluster) => !cluster.isSynced())?.cluster,
    hasApiClusterEntry({ engine, instance }) {
      return engine.entries.get({ namespace: instance.namespace, name: clusterEntryName(destination.server) }) !== undefined;
    },
    accountOf: (row, instance) => ({ kind: "account", desired: render(row, instance).account, objects: apiCluster.accounts }),
    partsOf({ row, host }) {
      const { account, register, project } = render(row, host.instance);
      return {
        account: { kind: "account", desired: account, objects: apiCluster.accounts },
        ownerBinding: { kind: "register", desired: register, objects: apiCluster.bindings },
        project: { kind: "project", desired: project, objects: host.engine.projects },
      };
    },
    async apply(placed, parts, signal) {
      const [ends, credentials, entries] = await allOrFirstFailure([
        allOrFirstFailure(parts.map((part) => put(placed, part, signal))),
        deps.repositorySecrets.apply(placed, signal),
        deps.clusterEntries.apply(placed, signal),
        deps.impersonation.grant(placed.host.instance.id, placed.row.unit.id, signal),
      ]);
      const isDone = (part: UnitPart, index: number): boolean => ends[index]?.kind === (part.isUnneeded === true ? "gone" : "settled");
      const going = parts.filter((part, index) => !isDone(part, index)).map(({ kind }) => waits.going(`the former ${kind}`));
      return {
        ends,
        waits: [...going, ...credentials.waits, ...entries.waits],
        lacks: [...credentials.lacks, ...entries.lacks],
      };
    },
  };
}
