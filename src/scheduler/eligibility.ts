import type { UnfitState } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { InstanceState } from "../domain/instance.ts";
import type { InstanceTraits, UnitNeeds } from "../domain/needs.ts";

/** Everything a unit, or a group of units that live together, demands of an instance beside room. */
export interface PlacementConstraints {
  readonly class?: string;
  readonly needs: readonly UnitNeeds[];
  /** Names of groups of which an instance holds one member at most. One that stands here twice can be met nowhere. */
  readonly apart: readonly string[];
  /** The instance where the rest of its group lives. */
  readonly joins?: InstanceId;
  /** Instances to which a move of it failed not long ago. */
  readonly failedAt: readonly InstanceId[];
}

export const NO_CONSTRAINTS: PlacementConstraints = { needs: [], apart: [], failedAt: [] };

/** An instance as far as eligibility goes. */
export interface Offer {
  readonly id: InstanceId;
  readonly state: InstanceState;
  /** What its health says against new units; absent: nothing, or nobody judges it. */
  readonly health?: UnfitState;
  /** Absent: nothing is known but the class it was found in, so it meets no demand. */
  readonly traits?: InstanceTraits;
  /** Groups of `Wish.apart` that have a member here already. */
  readonly occupied?: readonly string[];
}

export const DEMANDS = [
  "CLASS",
  "FLOOR",
  "DEDICATION",
  "PINNED",
  "NOT_ON",
  "REGION",
  "TRUST",
  "CHANNEL",
  "TOGETHER",
  "APART",
  "FAILED_BEFORE",
] as const;
export type Demand = (typeof DEMANDS)[number];

/** An instance that does not offer what is demanded: `wants` is what was, `has` what there is. */
export type Ineligible =
  | { readonly instance: InstanceId; readonly rule: "STATE"; readonly state: InstanceState }
  | { readonly instance: InstanceId; readonly rule: "HEALTH"; readonly health: UnfitState }
  | { readonly instance: InstanceId; readonly rule: Demand; readonly wants: string; readonly has: string };

/** A demand that is not met: what was wanted and what there is. */
type Unmet = readonly [wants: string, has: string] | undefined;

const UNKNOWN = "unknown";
const NOBODY = "nobody";
const list = (names: readonly string[]): string => [...names].sort().join(", ");
const differs = (wants: string | undefined, has: string | undefined): Unmet =>
  wants === undefined || wants === has ? undefined : [wants, has ?? UNKNOWN];
const firstUnmet = (constraints: PlacementConstraints, demand: (needs: UnitNeeds) => Unmet): Unmet => {
  for (const needs of constraints.needs) {
    const unmet = demand(needs);
    if (unmet !== undefined) return unmet;
  }
  return undefined;
};

/**
 * Each demand with the question that refuses an instance. An instance that is dedicated takes nobody else's units, and a unit
 * that wants dedicated instances goes to no other. A unit without needs goes anywhere that is open to all.
 */
const RULES: Readonly<Record<Demand, (constraints: PlacementConstraints, offer: Offer) => Unmet>> = {
  CLASS: (constraints, { traits }) => differs(constraints.class, traits === undefined ? constraints.class : traits.class),
  FLOOR: (_constraints, { traits }) => (traits?.isBelowFloor === true ? ["a version at or above the floor", "one below it"] : undefined),
  DEDICATION: (constraints, { traits }) => {
    const owner = traits?.dedication;
    if (constraints.needs.length === 0) return owner === undefined ? undefined : [NOBODY, owner];
    return firstUnmet(constraints, ({ dedication }) => (dedication === owner ? undefined : [dedication ?? NOBODY, owner ?? NOBODY]));
  },
  PINNED: (constraints, { id }) =>
    firstUnmet(constraints, ({ pinnedTo }) => (pinnedTo === undefined || pinnedTo.includes(id) ? undefined : [list(pinnedTo), id])),
  NOT_ON: (constraints, { id }) =>
    firstUnmet(constraints, ({ notOn }) => (notOn?.includes(id) === true ? [`not ${list(notOn)}`, id] : undefined)),
  REGION: (constraints, { traits }) => firstUnmet(constraints, ({ region }) => differs(region, traits?.region)),
  TRUST: (constraints, { traits }) => firstUnmet(constraints, ({ trust }) => differs(trust, traits?.trust)),
  CHANNEL: (constraints, { traits }) => firstUnmet(constraints, ({ channel }) => differs(channel, traits?.channel)),
  TOGETHER: (constraints, { id }) => differs(constraints.joins, id),
  APART: ({ apart }, { occupied = [] }) => {
    const clash = apart.find((group, index) => occupied.includes(group) || apart.indexOf(group) !== index);
    return clash === undefined ? undefined : [`none of ${clash}`, clash];
  },
  FAILED_BEFORE: ({ failedAt }, { id }) => (failedAt.includes(id) ? ["an instance it could be moved to", id] : undefined),
};

/** Demands that only bear on where a unit goes: one that is there already is not sent away for them. */
const ON_ARRIVAL: readonly Demand[] = ["FLOOR", "FAILED_BEFORE"];
const TO_STAY = DEMANDS.filter((demand) => !ON_ARRIVAL.includes(demand));

/**
 * Why a unit may not be put on an instance, leaving room aside; `undefined` when it may. One that stands still or fails takes nothing new, and
 * neither does one of which nobody can tell, unless it has to do (`takesUnknown`).
 */
export function whyNotEligible(constraints: PlacementConstraints, offer: Offer, takesUnknown = false): Ineligible | undefined {
  const { id, state, health } = offer;
  if (state !== "ACTIVE") return { instance: id, rule: "STATE", state };
  if (health !== undefined && !(takesUnknown && health === "unknown")) return { instance: id, rule: "HEALTH", health };
  return unmetBy(constraints, offer, DEMANDS);
}

/** States in which an instance keeps the units it has. */
const KEEPS: readonly InstanceState[] = ["ACTIVE", "CORDONED"];

/** Why a unit may not stay on the instance that holds it; `undefined` when it may. */
export function whyNotStay(constraints: PlacementConstraints, offer: Offer): Ineligible | undefined {
  if (!KEEPS.includes(offer.state)) return { instance: offer.id, rule: "STATE", state: offer.state };
  return unmetBy(constraints, offer, TO_STAY);
}

function unmetBy(constraints: PlacementConstraints, offer: Offer, demands: readonly Demand[]): Ineligible | undefined {
  for (const rule of demands) {
    const unmet = RULES[rule](constraints, offer);
    if (unmet !== undefined) return { instance: offer.id, rule, wants: unmet[0], has: unmet[1] };
  }
  return undefined;
}
