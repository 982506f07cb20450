import type { Clock } from "../../domain/clock.ts";
import type { ApplicationId, EnvironmentId, MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Move } from "../../domain/move.ts";
import type { ObjectAt } from "../../shard/managed-object.ts";
import { registerName } from "../../shard/names.ts";
import { renderRegister } from "../../shard/render-unit.ts";
import type { Destination, OwnNamespaces, Seat } from "../../shard/seat.ts";
import type { Store } from "../../store/port.ts";
import type { EnvironmentRegisters } from "../../workspace/environment/port.ts";
import { type Abroad, abroadOf } from "../abroad.ts";
import { createEnds } from "../ends/controller.ts";
import { lookHome, UNSEEN } from "../home/controller.ts";
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
  /** Absent: nobody goes there. */
  readonly sourceSights: Sights | undefined;
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
  readonly world: Omit<MoveWorld, "groundWaits" | "enteredFreely" | "isRefusalProven" | "answer" | "askedAt" | "visits">;
}

export interface LookDeps {
  readonly store: Pick<Store, "moves" | "shards" | "intents">;
  readonly sights: SightSource;
  readonly managed: Pick<ManagedCluster, "read" | "readNamespace">;
  readonly destination: Destination;
  readonly namespaces: OwnNamespaces;
  readonly registers: Pick<EnvironmentRegisters, "isKnown">;
  readonly clock: Clock;
}

/** There is nothing to do for a move: its turn has not come, or it has ended, or is gone with its unit. */
export type Idle = "waits" | "over";

export interface Look {
  /** Throws `UnavailableError` where one of its ends cannot be reached. */
  at(id: MoveId, signal: AbortSignal): Promise<View | Idle>;
}

export function createLook({ store, sights, managed, destination, namespaces, registers, clock }: LookDeps): Look {
  const believed = createBelieved(store);
  const ends = createEnds(sights);
  /** What was last heard of applications; `undefined` where their source is looked at. */
  const recordedOf = async ({ isFailOver }: Move, ids: readonly ApplicationId[], signal: AbortSignal) => {
    if (!isFailOver) return undefined;
    const known = await store.intents.readByIds(ids, signal);
    return new Map(known.flatMap(({ application, status }) => (status === undefined ? [] : [[application.id, status.status] as const])));
  };

  /** Environments that the target has no account for: only beside a source that was stopped does a move go on without. */
  const unknownTo = async ({ unitId, to }: Move, { halt }: Instance, abroad: readonly Abroad[], signal: AbortSignal) => {
    if (halt !== "seen") return [];
    const known = await Promise.all(abroad.map(({ environment }) => registers.isKnown(environment, { unitId, instanceId: to }, signal)));
    return abroad.flatMap(({ environment }, index) => (known[index] === true || !environment.createsAccount ? [] : [environment.id]));
  };

  return {
    async at(id, signal) {
      const known = await store.moves.readRows(id, signal);
      if (known === undefined || known.move.endedAt !== undefined) return "over";
      if (known.move.phase === "WAITING") return "waits";
      const { move, unit: row } = known;
      const { source, target } = await ends.find(known);
      const { workspace, environments, applications: rows } = row;
      const unit = { ...row.unit, owner: move.to, epoch: move.toEpoch };
      const seat: Seat = { unit, workspace, instance: target.instance };
      const register = { namespace: workspace.namespace, name: registerName(unit.bucket) };
      const looks = LOOKS[move.phase];
      const [seen, onTarget, home] = await Promise.all([
        looks.atApplications ? ends.listSource(move, source, signal) : [],
        looks.atApplications ? ends.listTarget(target, unit.id, signal) : [],
        looks.atRegister ? lookHome({ unitId: unit.id, workspace, register }, managed, signal) : UNSEEN,
      ]);
      const granted = renderRegister(seat, namespaces);
      const abroad = abroadOf(environments, rows);
      const unknown = await unknownTo(move, source.instance, abroad, signal);
      const ids = rows.map(({ application }) => application.id);
      const recorded = await recordedOf(move, ids, signal);
      const [onSource, isSourceAway] = [seen ?? [], seen === undefined];
      const pairs = pairUp(seat, { rows, onSource, isSourceAway, onTarget, unknown, own: destination, recorded });
      const isSourceStopped = source.instance.halt === "seen";
      const mine = await believed(move, granted, home.register, signal);
      const world = {
        now: clock.now(),
        pairs,
        onSource,
        isSourceAway,
        onTarget,
        register: mine,
        isHomeGone: home.isGone,
        granted,
        isSourceStopped,
      };
      const sides = { source: source.instance, target: target.instance, sourceSights: source.sights, targetSights: target.sights };
      const visits = abroad.length === 0 ? [] : undefined;
      return { move, ...sides, seat, register, abroad, unknown, unitEpoch: row.unit.epoch, visits, world };
    },
  };
}
