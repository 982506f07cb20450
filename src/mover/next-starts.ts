import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Move, MoveKind } from "../domain/move.ts";
import { PHASES } from "../domain/move-phases.ts";

/** A move begins only while fewer moves than this are under way: with one instance at either end, of one managed cluster, in the fleet. */
export interface StartBudget {
  readonly instance: number;
  /** Of units that deploy to one cluster other than the API cluster; infinite: any number. */
  readonly cluster: number;
  readonly fleet: number;
}

/** `relief`: a voluntary move off an instance that is overloaded. It could wait as little as a drain: users of that instance wait meanwhile. */
type Purpose = MoveKind | "relief";
export type StartBudgets = Readonly<Record<Purpose, StartBudget>>;

/** The budgets as the configuration has them. */
export interface BudgetSettings {
  readonly perInstance: number;
  readonly fleet: number;
  readonly perManagedCluster: number;
  readonly perOverloadedInstance: number;
  readonly drain: number;
  readonly evacuation: number;
}

/**
 * Voluntary moves disturb little; an overload should end soon (docs/adr/0010, 4); a drain should come to its end; an evacuation is for users
 * whose owner does not work.
 */
export const DEFAULT_SETTINGS: BudgetSettings = {
  perInstance: 2,
  fleet: 20,
  perManagedCluster: 1,
  perOverloadedInstance: 4,
  drain: 8,
  evacuation: 32,
};

/** The budget of each purpose. An evacuation waits for nothing but its own. */
export function budgetsOf(settings: BudgetSettings): StartBudgets {
  const { perInstance, fleet, perManagedCluster: cluster, perOverloadedInstance, drain, evacuation } = settings;
  return {
    voluntary: { instance: perInstance, cluster, fleet },
    relief: { instance: perOverloadedInstance, cluster, fleet },
    drain: { instance: drain, cluster, fleet },
    evacuation: { instance: evacuation, cluster: Number.POSITIVE_INFINITY, fleet: evacuation },
  };
}

export const DEFAULT_BUDGETS: StartBudgets = budgetsOf(DEFAULT_SETTINGS);

/** How many moves one process has to be able to carry out at once, whatever they are made for. */
export function mostAtOnce(budgets: StartBudgets): number {
  return Math.max(...Object.values(budgets).map(({ fleet }) => fleet));
}

type Waiting = Pick<Move, "id" | "unitId" | "phase" | "kind" | "reason" | "from" | "to" | "createdAt">;

export interface Starting {
  readonly budgets?: StartBudgets;
  /** The managed clusters other than the API cluster that units deploy to; units without any may be left out. */
  readonly clusters?: ReadonlyMap<UnitId, readonly string[]>;
}

/**
 * Which waiting moves may begin beside those that are under way: what is urgent first, then the oldest. A move that may not begin does not
 * hold up the moves behind it.
 */
export function nextStarts<M extends Waiting>(live: readonly M[], { budgets = DEFAULT_BUDGETS, clusters }: Starting = {}): readonly M[] {
  const busy = new Map<string, number>();
  const clustersOf = ({ unitId }: Waiting): readonly string[] => clusters?.get(unitId) ?? [];
  const used = (thing: InstanceId | string): number => busy.get(thing) ?? 0;
  const count = (move: Waiting): void =>
    [...endsOf(move), ...clustersOf(move).map(clusterKey)].forEach((thing) => void busy.set(thing, used(thing) + 1));
  const underWay = live.filter(({ phase }) => PHASES[phase].isUnderWay);
  underWay.forEach(count);
  const begun: M[] = [];
  for (const move of live.filter(({ phase }) => phase === "WAITING").sort(inTurn)) {
    const { instance, cluster, fleet } = budgets[purposeOf(move)];
    const isFull = endsOf(move).some((id) => used(id) >= instance) || clustersOf(move).some((url) => used(clusterKey(url)) >= cluster);
    if (isFull || underWay.length + begun.length >= fleet) continue;
    begun.push(move);
    count(move);
  }
  return begun;
}

const endsOf = ({ from, to }: Waiting): readonly InstanceId[] => [from, to];
const clusterKey = (url: string): string => `cluster ${url}`;

const URGENCY: Readonly<Record<Purpose, number>> = { evacuation: 0, relief: 1, drain: 2, voluntary: 3 };

function purposeOf({ kind, reason }: Waiting): Purpose {
  return kind === "voluntary" && reason === "HOT" ? "relief" : kind;
}

function inTurn(a: Waiting, b: Waiting): number {
  return URGENCY[purposeOf(a)] - URGENCY[purposeOf(b)] || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}
