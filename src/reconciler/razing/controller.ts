import type { ShardKind } from "../../domain/shard-object.ts";
import { planRemoval } from "../../shard/diff-object.ts";
import type { DesiredObject, ObservedObject } from "../../shard/managed-object.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { EnvironmentEntries } from "../environments/controller.ts";
import type { ImpersonationController } from "../impersonation/controller.ts";
import type { Carrier } from "../object/controller.ts";
import { allOrFirstFailure } from "../object/controller.ts";
import type { ManagedObjects } from "../port.ts";
import type { RepositoriesController } from "../repositories/controller.ts";
import type { Host } from "../seats/controller.ts";

/** One of a unit's own objects, and where it is kept. */
export interface UnitPart {
  readonly kind: Extract<ShardKind, "account" | "register" | "project">;
  readonly desired: DesiredObject;
  readonly objects: ManagedObjects<ObservedObject>;
}

/** Takes down what stands for a unit whose namespace went and of which nothing else is left. */
export interface Razing {
  /**
   * First what stands, then the rows. These stay while an account is left on a cluster; its end asks for the unit again, and until then
   * only what the watch shows is looked at.
   */
  raze(row: DesiredUnit, host: Host, parts: readonly UnitPart[], signal: AbortSignal): Promise<void>;
}

export interface RazingDeps {
  readonly shards: Pick<ShardStore, "forgetWorkspace">;
  readonly carrier: Carrier;
  readonly impersonation: Pick<ImpersonationController, "align">;
  readonly entries: Pick<EnvironmentEntries, "clear">;
  readonly repositories: Pick<RepositoriesController, "clear">;
}

export function createRazing({ shards, carrier, impersonation, entries, repositories }: RazingDeps): Razing {
  return {
    async raze(row, host, parts, signal) {
      // In a namespace of the same name that was made since stands the register of another unit.
      const isOther = (observed: ObservedObject) => ![undefined, row.unit.id].includes(unitOf(observed));
      const own = (observed: ObservedObject | undefined) => (observed === undefined || isOther(observed) ? undefined : observed);
      const take = ({ kind, desired, objects }: UnitPart) =>
        carrier.carryOut({ objects, at: desired.at, plan: (observed) => planRemoval(own(observed), desired.fence), name: kind }, signal);
      const seat = { unit: row.unit, workspace: row.workspace, instance: host.instance };
      const none = { ...row, environments: [] };
      const left = row.hasAccountsElsewhere ? parts.filter(({ objects, desired }) => objects.get(desired.at) !== undefined) : parts;
      await allOrFirstFailure([...left.map(take), repositories.clear(seat, host, signal), entries.clear(none, host, signal)]);
      if (row.hasAccountsElsewhere || !(await shards.forgetWorkspace(row.workspace.id, signal))) return;
      await impersonation.align(host.instance.id, signal);
    },
  };
}
