import type { UnfitState } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Entries, InstanceState } from "../domain/instance.ts";
import type { InstanceTraits, UnitNeeds } from "../domain/needs.ts";

/** What a unit, or a group of units that live together, demands of an instance apart from capacity. */
export interface PlacementConstraints {
  readonly class?: string;
  readonly needs: readonly UnitNeeds[];
  /** Names of groups of which an instance may hold only one member. A name that is listed twice cannot be met by any instance. */
  readonly apart: readonly string[];
  /** The instance where the rest of its group lives. */
  readonly joins?: InstanceId;
  /** Instances to which a move of it failed recently. */
  readonly failedAt: readonly InstanceId[];
}

export const NO_CONSTRAINTS: PlacementConstraints = { needs: [], apart: [], failedAt: [] };

/** The facts about one instance that decide whether it is eligible. */
export interface Offer {
  readonly id: InstanceId;
  readonly state: InstanceState;
  /** Absent: its workspaces share a cluster entry. */
  readonly entries?: Entries;
  /** Why its health speaks against new units; absent: it does not, or there is no verdict. */
  readonly health?: UnfitState;
  /** Absent: only its class is known, so it meets no other demand. */
  readonly traits?: InstanceTraits;
  /** Groups of `PlacementConstraints.apart` that have a member here already. */
  readonly occupied?: readonly string[];
  /** By label: the values that somebody here has who must be apart from those of other values (`UnitNeeds.apartBy`). */
  readonly holds?: Readonly<Record<string, readonly string[]>>;
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

/** Why an instance is not eligible. `wants`: what is demanded; `has`: what the instance offers. */
export type Ineligible =
  | { readonly instance: InstanceId; readonly rule: "STATE"; readonly state: InstanceState }
  | { readonly instance: InstanceId; readonly rule: "HEALTH"; readonly health: UnfitState }
  | { readonly instance: InstanceId; readonly rule: Demand; readonly wants: string; readonly has: string };

/** A demand that is not met: what is demanded, and what the instance offers. */
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
 * For each demand, the check that refuses an instance. A dedicated instance takes nobody else's units, and a unit that needs
 * dedicated instances goes to no other. A unit without needs goes to any instance that is open to all.
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
  APART: (constraints, { occupied = [], holds }) => {
    const { apart } = constraints;
    const clash = apart.find((group, index) => occupied.includes(group) || apart.indexOf(group) !== index);
    if (clash !== undefined) return [`none of ${clash}`, clash];
    return holds && firstUnmet(constraints, ({ apartBy }) => strangerIn(apartBy ?? {}, holds));
  },
  FAILED_BEFORE: ({ failedAt }, { id }) => (failedAt.includes(id) ? ["an instance it could be moved to", id] : undefined),
};

/** Another value of a label than the unit's own. */
function strangerIn(apartBy: Readonly<Record<string, string>>, holds: NonNullable<Offer["holds"]>): Unmet {
  for (const [label, value] of Object.entries(apartBy)) {
    const other = holds[label]?.find((each) => each !== value);
    if (other !== undefined) return [`nobody but ${label}=${value}`, `${label}=${other}`];
  }
  return undefined;
}

/** Demands that count only when a unit arrives: a unit that is there already is not sent away because of them. */
const ON_ARRIVAL: readonly Demand[] = ["FLOOR", "FAILED_BEFORE"];
const TO_STAY = DEMANDS.filter((demand) => !ON_ARRIVAL.includes(demand));

/**
 * Why a unit may not be put on an instance, capacity aside; `undefined` when it may. An instance that stands still or fails takes
 * nothing new. Neither does one whose health is unknown, unless `takesUnknown` is set.
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
