import type { Clock } from "../../domain/clock.ts";
import { UnavailableError } from "../../domain/errors.ts";
import type { EnvironmentId, InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import { registerName } from "../../shard/names.ts";
import { renderUnit } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces, Seat } from "../../shard/seat.ts";
import type { Store } from "../../store/port.ts";
import type { EnvironmentRegisters } from "../../workspace/environment/port.ts";
import { type Abroad, abroadOf } from "../abroad.ts";
import { LOOKS } from "../looks.ts";
import type { MoveWorld } from "../next-step.ts";
import { pairUp } from "../pair-up.ts";
import type { ManagedCluster, SightSource, Sights } from "../port.ts";
import { createBelieved } from "../register-seen/controller.ts";
import type { Visited } from "../visits.ts";

/** Everything a step of one move is decided from and carried out with. */
export interface View {
  readonly move: Move;
  readonly source: Instance;
  readonly target: Instance;
  /** The unit on the target under the move's epoch. */
  readonly seat: Seat;
  readonly sourceSights: Sights;
  readonly targetSights: Sights;
  readonly register: ObjectAt;
  /** Environments where the unit has, or had, a register of its own. */
  readonly abroad: readonly Abroad[];
  /** Those that the target has no account for, and does without: what deploys there is made once it has one. */
  readonly unknown: readonly EnvironmentId[];
  /** The epoch the unit's row has: the source's until COMMIT, the target's from then on, the source's newer one after a move was given up. */
  readonly unitEpoch: number;
  /** What came of going there in this phase. */
  readonly visits: readonly Visited[] | undefined;
  readonly world: Omit<MoveWorld, "groundWaits" | "isRefusalProven" | "answer" | "askedAt" | "visits">;
}

export interface LookDeps {
  readonly store: Pick<Store, "moves" | "shards" | "fleet">;
  readonly sights: SightSource;
  readonly managed: Pick<ManagedCluster, "read">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly registers: Pick<EnvironmentRegisters, "isKnown">;
  readonly clock: Clock;
}

export interface Look {
  /** `undefined`: the unit is gone. Throws `UnavailableError` where one of its ends cannot be reached. */
  at(move: Move, signal: AbortSignal): Promise<View | undefined>;
}

export function createLook({ store, sights, managed, destination, namespaces, registers, clock }: LookDeps): Look {
  const believed = createBelieved(store);
  const ends = async (id: InstanceId, signal: AbortSignal): Promise<{ readonly instance: Instance; readonly sights: Sights }> => {
    const instance = await store.fleet.readInstance(id, signal);
    const found = instance === undefined ? undefined : await sights.of(instance.engineCluster);
    if (instance !== undefined && found !== undefined) return { instance, sights: found };
    throw new UnavailableError("reaching an instance of a move", { code: "mover.no-instance", context: { instance: id } });
  };

  /** Environments that the target has no account for: only beside a source that was stopped does a move go on without. */
  const unknownTo = async ({ unitId, to }: Move, { halt }: Instance, abroad: readonly Abroad[], signal: AbortSignal) => {
    if (halt !== "seen") return [];
    const known = await Promise.all(abroad.map(({ environment }) => registers.isKnown(environment, { unitId, instanceId: to }, signal)));
    return abroad.flatMap(({ environment }, index) => (known[index] === true || !environment.createsAccount ? [] : [environment.id]));
  };

  return {
    async at(move, signal) {
      const [source, target] = await Promise.all([ends(move.from, signal), ends(move.to, signal)]);
      const row = await store.shards.readUnit(move.unitId, signal);
      if (row === undefined) return undefined;
      const rows = await store.shards.readApplications(await store.moves.listApplications(move.unitId, signal), signal);
      const unit = { ...row.unit, owner: move.to, epoch: move.toEpoch };
      const seat: Seat = { unit, workspace: row.workspace, instance: target.instance };
      const register = { namespace: row.workspace.namespace, name: registerName(unit.bucket) };
      const looks = LOOKS[move.phase];
      const seen = ({ instance, sights: from }: typeof source) =>
        looks.atApplications ? from.list({ namespace: instance.namespace, unitId: unit.id }, signal) : [];
      const [onSource, onTarget, present] = await Promise.all([
        seen(source),
        seen(target),
        looks.atRegister ? managed.read(register, signal) : undefined,
      ]);
      const { repoUrls, environments } = row;
      const granted = renderUnit(seat, { destination, namespaces, repoUrls, environments }).register;
      const abroad = abroadOf(environments, rows);
      const unknown = await unknownTo(move, source.instance, abroad, signal);
      const pairs = pairUp(seat, { rows, onSource, onTarget, unknown, own: destination });
      const isSourceStopped = source.instance.halt === "seen";
      const mine = await believed(move, granted, present, signal);
      const world = { now: clock.now(), pairs, onSource, onTarget, register: mine, granted, isSourceStopped };
      const sides = { source: source.instance, target: target.instance, sourceSights: source.sights, targetSights: target.sights };
      const visits = abroad.length === 0 ? [] : undefined;
      return { move, ...sides, seat, register, abroad, unknown, unitEpoch: row.unit.epoch, visits, world };
    },
  };
}
