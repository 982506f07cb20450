import { UnavailableError } from "../../domain/errors.ts";
import { diffObject, newerFence, planRemoval } from "../../shard/diff-object.ts";
import type { Lack } from "../../shard/lack.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { clusterEntryName } from "../../shard/names.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { EnvironmentEntries } from "../environments/controller.ts";
import type { ImpersonationController } from "../impersonation/controller.ts";
import type { Carrier } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import type { ApiCluster, Engines, Ground, Grounds, ManagedObjects } from "../port.ts";
import { waits } from "../progress/reasons.ts";
import type { RegisterKeeper } from "../register/controller.ts";
import type { RepositoriesController } from "../repositories/controller.ts";

export interface GroundsDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly engines: Engines;
  readonly apiCluster: ApiCluster;
  readonly carrier: Carrier;
  readonly impersonation: ImpersonationController;
  readonly repositories: RepositoriesController;
  readonly register: Pick<RegisterKeeper, "tell">;
  readonly entries: EnvironmentEntries;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
}

interface Part {
  readonly name: string;
  readonly desired: DesiredObject;
  readonly objects: ManagedObjects<ObservedObject>;
}

/** The same objects that the owner has, but for the register, on an instance that a live move says. */
export function createGrounds(deps: GroundsDeps): Grounds {
  const { shards, apiCluster, carrier, destination, namespaces } = deps;

  const survey = async ({ unitId, instance, epoch }: Ground, signal: AbortSignal) => {
    const row = await shards.readUnit(unitId, signal);
    const engine = row === undefined ? undefined : await deps.engines.get(instance.engineCluster);
    if (row === undefined || engine === undefined) return undefined;
    const unit = { ...row.unit, owner: instance.id, epoch };
    const seat = { unit, workspace: row.workspace, instance };
    const surroundings = { destination, namespaces, repoUrls: row.repoUrls, environments: row.environments };
    const { account, project } = renderUnit(seat, surroundings);
    const parts: readonly Part[] = [
      { name: "account", desired: account, objects: apiCluster.accounts },
      { name: "project", desired: project, objects: engine.projects },
    ];
    const acknowledged = row.acknowledged.filter(({ kind, instanceId }) => kind === "cluster-entry" && instanceId === instance.id);
    return { row: { ...row, unit, acknowledged }, seat, host: { instance, engine }, parts };
  };

  return {
    tellRepair: (whose, tampering) => deps.register.tell(whose, tampering),
    async raise(ground, signal) {
      const found = await survey(ground, signal);
      if (found === undefined) return [`for engine cluster ${ground.instance.engineCluster}, which cannot be reached`];
      const { row, seat, host, parts } = found;
      const unlisted = [host.engine, apiCluster].find((cluster) => !cluster.isSynced());
      if (unlisted !== undefined) return [waits.unlisted(unlisted.cluster)];
      const entry = { namespace: ground.instance.namespace, name: clusterEntryName(destination.server) };
      if (host.engine.entries.get(entry) === undefined) return [waits.entry];
      const put = ({ name, desired, objects }: Part) =>
        carrier.carryOut({ objects, at: desired.at, plan: (observed) => diffObject(desired, observed), name }, signal);
      const [ends, credentials, environments] = await allOrFirstFailure([
        allOrFirstFailure(parts.map(put)),
        deps.repositories.align(seat, row, host, signal),
        deps.entries.raise(row, host, signal),
        deps.impersonation.grant(ground.instance.id, ground.unitId, signal),
      ]);
      const going = parts.filter((_, index) => ends[index]?.kind !== "settled").map(({ name }) => waits.going(`the former ${name}`));
      const isMissed = (lack: Lack): boolean => lack.kind !== "environment" || ground.withoutEnvironments?.includes(lack.id) !== true;
      const lacks = [...credentials.lacks, ...environments.lacks.filter(isMissed)].map(waits.credential);
      return [...going, ...credentials.waits, ...environments.waits, ...lacks];
    },
    async clear(ground, signal) {
      const found = await survey(ground, signal);
      if (found === undefined) {
        const context = { cluster: ground.instance.engineCluster };
        throw new UnavailableError("clearing what stood for a unit", { code: "reconciler.no-ground", context });
      }
      const { row, seat, host, parts } = found;
      const take = ({ name, desired, objects }: Part) => {
        // What newer rows wrote is wanted again.
        const ours = (one: ObservedObject | undefined) =>
          one === undefined || newerFence(desired.fence, one) !== undefined ? undefined : one;
        return carrier.carryOut({ objects, at: desired.at, plan: (observed) => planRemoval(ours(observed)), name }, signal);
      };
      const none = { ...row, environments: [] };
      const [left] = await allOrFirstFailure([
        deps.entries.clear(none, host, signal),
        deps.repositories.clear(seat, host, signal),
        ...parts.map(take),
      ]);
      if (left.length === 0) return;
      throw new UnavailableError("clearing what stood for a unit", { code: "reconciler.ground-left", context: { unit: row.unit.id } });
    },
  };
}
