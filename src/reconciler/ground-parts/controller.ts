import { newerFence, planRemoval } from "../../shard/diff-object.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { Carrier } from "../object/controller.ts";
import type { ApiCluster, Engines, Ground, ManagedObjects } from "../port.ts";

/** One of the objects that Applications of a unit need, and where it is kept. */
export interface GroundPart {
  readonly name: string;
  readonly desired: DesiredObject;
  readonly objects: ManagedObjects<ObservedObject>;
}

interface GroundPartsDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly engines: Engines;
  readonly apiCluster: ApiCluster;
  readonly carrier: Carrier;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
}

/** Reads what a unit's Applications need on an instance, and takes it away. */
export function createGroundParts({ shards, engines, apiCluster, carrier, destination, namespaces }: GroundPartsDeps) {
  /** What the unit's row makes of it on that instance. */
  const render = async ({ unitId, instance, epoch }: Ground, signal: AbortSignal) => {
    const row = await shards.readUnit(unitId, signal);
    if (row === undefined) return undefined;
    const unit = { ...row.unit, owner: instance.id, epoch };
    const seat = { unit, workspace: row.workspace, instance };
    const surroundings = { destination, namespaces, repoUrls: row.repoUrls, environments: row.environments };
    const { account, project } = renderUnit(seat, surroundings);
    const acknowledged = row.acknowledged.filter(({ kind, instanceId }) => kind === "cluster-entry" && instanceId === instance.id);
    return {
      row: { ...row, unit, acknowledged },
      seat,
      account: { name: "account", desired: account, objects: apiCluster.accounts },
      project,
    };
  };
  const survey = async (ground: Ground, signal: AbortSignal) => {
    const { instance } = ground;
    const rendered = await render(ground, signal);
    const engine = rendered === undefined ? undefined : await engines.get(instance.engineCluster);
    if (rendered === undefined || engine === undefined) return undefined;
    const { row, seat, account, project } = rendered;
    const parts: readonly GroundPart[] = [account, { name: "project", desired: project, objects: engine.projects }];
    return { row, seat, host: { instance, engine }, parts };
  };
  /** But for what newer rows wrote: that is wanted again. */
  const takeAway = ({ name, desired, objects }: GroundPart, signal: AbortSignal) => {
    const ours = (one: ObservedObject | undefined) => (one === undefined || newerFence(desired.fence, one) !== undefined ? undefined : one);
    return carrier.carryOut({ objects, at: desired.at, plan: (observed) => planRemoval(ours(observed)), name }, signal);
  };

  return { render, survey, takeAway };
}
