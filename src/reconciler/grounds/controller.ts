import { UnavailableError } from "../../domain/errors.ts";
import { diffObject } from "../../shard/diff-object.ts";
import type { Lack } from "../../shard/lack.ts";
import { clusterEntryName } from "../../shard/names.ts";
import type { Destination, OwnNamespaces } from "../../shard/seat.ts";
import type { ShardStore } from "../../store/shard/port.ts";
import type { EnvironmentEntries } from "../environments/controller.ts";
import { createGroundParts, type GroundPart } from "../ground-parts/controller.ts";
import type { ImpersonationController } from "../impersonation/controller.ts";
import type { Carrier } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import type { ApiCluster, Engines, Grounds } from "../port.ts";
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

/** The same objects that the owner has, but for the register, on an instance that a live move says. */
export function createGrounds(deps: GroundsDeps): Grounds {
  const { apiCluster, carrier, destination } = deps;

  const { render, survey, takeAway } = createGroundParts(deps);
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
      const put = ({ name, desired, objects }: GroundPart) =>
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
    async enteredFreely(ground, signal) {
      const found = await render(ground, signal);
      return found && deps.entries.enteredFreely(found.row, ground.instance, signal);
    },
    async clear(ground, signal) {
      if (ground.isAway === true) {
        const rendered = await render(ground, signal);
        return rendered && void (await takeAway(rendered.account, signal));
      }
      const found = await survey(ground, signal);
      if (found === undefined) {
        const context = { cluster: ground.instance.engineCluster };
        throw new UnavailableError("clearing what stood for a unit", { code: "reconciler.no-ground", context });
      }
      const { row, seat, host, parts } = found;
      const none = { ...row, environments: [] };
      const [left] = await allOrFirstFailure([
        deps.entries.clear(none, host, signal),
        deps.repositories.clear(seat, host, signal),
        ...parts.map((part) => takeAway(part, signal)),
      ]);
      if (left.length === 0) return;
      throw new UnavailableError("clearing what stood for a unit", { code: "reconciler.ground-left", context: { unit: row.unit.id } });
    },
  };
}
