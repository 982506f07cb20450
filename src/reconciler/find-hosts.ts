import type { InstanceId } from "../domain/ids.ts";
import { type Instance, type InstanceState, sharesEntry } from "../domain/instance.ts";
import type { Partition } from "../domain/partition.ts";
import type { ApplicationPlacement, Destination } from "../shard/application-placement.ts";
import { environmentProjectName } from "../shard/names.ts";
import { type EnvironmentAccess, type ObservedApplication, unitOf } from "../shard/parse-application.ts";
import type { FleetStore } from "../store/fleet/port.ts";
import type { DesiredUnit } from "../store/shard/port.ts";
import type { EngineShard, Engines } from "./port.ts";

/** An instance together with its content. */
export interface Host {
  readonly instance: Instance;
  readonly engine: EngineShard;
}

/** A unit's row together with a host that is to have what the unit needs: its owner's, or one that a move names. */
export interface PlacedUnit {
  readonly row: DesiredUnit;
  readonly host: Host;
}

export function placementOf({ row, host }: PlacedUnit): ApplicationPlacement {
  return { unit: row.unit, workspace: row.workspace, instance: host.instance };
}

/**
 * The unit's Applications on the instance that a version before made: they name the project of the own namespace for an environment. Also
 * those that are being deleted. None where the unit has no environment: nothing would permit them anyway.
 */
export function formerApplications(placed: PlacedUnit): readonly ObservedApplication[] {
  return placed.row.environments.length === 0 ? [] : applicationsThrough(placed, "own-project");
}

/**
 * The unit's Applications that a version before wrote on an instance with an entry for each workspace, which it took for one with an entry that all
 * share.
 */
export function sharingApplications(
  { row, host: { instance, engine } }: PlacedUnit,
  { server }: Destination,
): readonly ObservedApplication[] {
  if (sharesEntry(instance)) return [];
  return engine.applications.list(instance.namespace).filter((one) => one.server === server && unitOf(one) === row.unit.id);
}

/** Whether the unit has no environment any more, and Applications still name the project that it had for these. */
export function isLeavingEnvironments(placed: PlacedUnit): boolean {
  const { row, host } = placed;
  const at = { namespace: host.instance.namespace, name: environmentProjectName(row.unit.id) };
  if (row.environments.length > 0 || host.engine.projects.get(at) === undefined) return false;
  return applicationsThrough(placed, "environment-project").length > 0;
}

function applicationsThrough({ row, host }: PlacedUnit, access: EnvironmentAccess): readonly ObservedApplication[] {
  const standing = host.engine.applications.list(host.instance.namespace);
  return standing.filter((one) => one.entersBy === access && unitOf(one) === row.unit.id);
}

/** How soon to try again while a cluster's objects are not listed, in ms: no event says when they are. */
export const UNLISTED_AGAIN_MS = 250;

/** Which instances are ours to fill, and where they are. */
export interface Hosts {
  /** Reads every instance anew. */
  refresh(signal: AbortSignal): Promise<void>;
  /** The host of one instance; `undefined` when it is somebody else's, holds nothing in its state, or cannot be reached. */
  find(id: InstanceId, signal: AbortSignal): Promise<Host | undefined>;
  /** Why an instance of ours cannot be filled, for people, after `find` did not find it; `undefined` where it is not ours. */
  whyNot(id: InstanceId): string | undefined;
  /** Instances of ours, in any state, as of the last refresh. */
  mine(): readonly Instance[];
  /** Those of them that have content. */
  filled(): readonly Instance[];
  /** Whether an instance of ours is gone for good, as of the last refresh. */
  isRetired(id: InstanceId): boolean;
}

/** States in which an instance has a namespace to write to. */
const FILLED_STATES: ReadonlySet<InstanceState> = new Set(["CREATING", "WARMING", "ACTIVE", "CORDONED", "DRAINING"]);

/** Whether there is something of an instance to watch. */
export function hasContent({ state }: Pick<Instance, "state">): boolean {
  return FILLED_STATES.has(state);
}

export function createHosts(deps: {
  readonly fleet: FleetStore;
  readonly engines: Pick<Engines, "get">;
  readonly partition: Partition;
}): Hosts {
  let known = new Map<InstanceId, Instance>();
  const mine = () => [...known.values()].filter((instance) => deps.partition.isMine(instance.id));
  return {
    async refresh(signal) {
      known = new Map((await deps.fleet.listInstances(signal)).map((instance) => [instance.id, instance]));
    },
    async find(id, signal) {
      if (!deps.partition.isMine(id)) return undefined;
      const instance = known.get(id) ?? (await deps.fleet.readInstance(id, signal));
      if (instance === undefined) return undefined;
      known.set(id, instance);
      if (!hasContent(instance)) return undefined;
      const engine = await deps.engines.get(instance);
      return engine === undefined ? undefined : { instance, engine };
    },
    whyNot(id) {
      if (!deps.partition.isMine(id)) return undefined;
      const instance = known.get(id);
      if (instance === undefined) return "for its instance, which is not recorded";
      const { name, state, engineCluster } = instance;
      return hasContent(instance)
        ? `for engine cluster ${engineCluster}, which cannot be reached`
        : `for instance ${name}, which is ${state}`;
    },
    isRetired: (id) => deps.partition.isMine(id) && known.get(id)?.state === "RETIRED",
    mine,
    filled: () => mine().filter(hasContent),
  };
}
