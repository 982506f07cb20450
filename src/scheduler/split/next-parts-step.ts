import type { InstanceId, UnitId } from "../../domain/ids.ts";
import { addLoad, type LoadVector, loadVector, ZERO_LOAD } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { WHOLE } from "../policy.ts";
import { dominantShare } from "../utilisation.ts";
import { type Bucket, bucketsOf } from "./buckets.ts";
import { applicationsOf, currentPartsOf, type SplitCapacity, type Splitting } from "./plan-split.ts";

/** A workspace of which every part has an instance. */
export interface PlacedParts extends Pick<Splitting, "deal" | "applications"> {
  /** By number of the part. */
  readonly units: readonly (Pick<
    PlacementUnit,
    "id" | "bucket" | "owner" | "phase" | "load" | "tookFrom" | "joins" | "wantedClass" | "isRegrouped"
  > & {
    /** A live move of it is asked for or under way. */
    readonly isMoving: boolean;
  })[];
}

/** What is to be done next about the parts of a workspace of which something is deployed. */
export type PartsStep =
  | { readonly kind: "none" }
  /** Something is under way that has to end first. */
  | { readonly kind: "wait" }
  /** Cut the unit on its instance: what the deal gives to `part` stays there, the unit keeps the rest. */
  | {
      readonly kind: "cut";
      readonly unitId: UnitId;
      readonly part: number;
      readonly deal: Splitting["deal"];
      readonly loads: { readonly leaving: LoadVector; readonly staying: LoadVector };
    }
  /** Move the unit away from the part that has taken over from it. */
  | { readonly kind: "leave"; readonly unitId: UnitId }
  /** Have the unit joined with another one. */
  | { readonly kind: "join"; readonly unitId: UnitId; readonly into: UnitId; readonly deal: Splitting["deal"] }
  /** Move the unit to the instance of the part that it is to be one with. */
  | { readonly kind: "meet"; readonly unitId: UnitId; readonly to: InstanceId }
  /** Pass the unit's applications to the part that it is joined with, on the instance both are on. */
  | { readonly kind: "take-over"; readonly unitId: UnitId }
  /** Do not join the unit after all. */
  | { readonly kind: "keep-apart"; readonly unitId: UnitId };

const NONE: PartsStep = { kind: "none" };
const WAIT: PartsStep = { kind: "wait" };
/** What leaves may be this much larger than what a part should carry, ppm. */
const EVEN = 1_050_000;
/** A cut is worth its moves where the heavier of the two takes at most this much of what the unit took, ppm. */
const WORTH = 900_000;

/**
 * Decides the next step towards `wanted` parts of a workspace of which something is deployed. Parts are cut and joined one at a time, and never
 * more than two of a workspace are on one instance.
 *
 * A unit is cut where it is: a new part takes over what stays, and the unit leaves with the rest by a live move. So whatever was begun on the
 * instance before the cut, as the unit's account, is refused there from that move on. Parts are joined in the reverse order: a move brings them
 * together, then one takes over all that the other one has. The one that ends is the last by number.
 *
 * Only applications of the workspace's own namespace pass from part to part: an environment has one entry on an instance, with the account of
 * one unit. They are dealt by group; whatever deploys to environments leaves with its unit.
 */
export function nextPartsStep(placed: PlacedParts, wanted: number, capacity: SplitCapacity): PartsStep {
  const { units } = placed;
  const ending = units.find(({ joins }) => joins !== undefined);
  const other = units.find(({ id }) => id === ending?.joins);
  if (ending !== undefined && other !== undefined) return joinStep(ending, other, { placed, wanted });
  const shared = units.find(({ owner, tookFrom }) => units.some(({ id, owner: at }) => id === tookFrom && at === owner));
  const leaving = units.find(({ id }) => id === shared?.tookFrom);
  if (leaving !== undefined) return leaving.isMoving || leaving.phase !== "IDLE" ? WAIT : { kind: "leave", unitId: leaving.id };
  if (units.some(hasToMove)) return WAIT;
  // It was opened for what comes, by rules that cut nothing.
  const isLastEmpty = units.length > 1 && !placed.applications.some(({ part }) => part === units.at(-1)?.bucket);
  if (isLastEmpty) return joinOf(placed);
  if (wanted > units.length) return units.length < capacity.candidates ? cutOf(placed, wanted, capacity) : NONE;
  return wanted < units.length ? joinOf(placed) : NONE;
}

type Part = PlacedParts["units"][number];

function joinStep(ending: Part, other: Part, { placed, wanted }: { readonly placed: PlacedParts; readonly wanted: number }): PartsStep {
  const isEmpty = !placed.applications.some(({ part }) => part === ending.bucket);
  // What is left of it is being taken down.
  if (isEmpty) return WAIT;
  const isAtRest = [ending, other].every(({ isMoving, phase }) => !isMoving && phase === "IDLE");
  if (!isAtRest) return WAIT;
  if (ending.owner === other.owner) return { kind: "take-over", unitId: ending.id };
  if (wanted >= placed.units.length) return { kind: "keep-apart", unitId: ending.id };
  const total = addLoad(ending.load, other.load);
  const isEndingLighter = dominantShare(ending.load, total) <= dominantShare(other.load, total);
  const [coming, host] = isEndingLighter ? [ending, other] : [other, ending];
  return host.owner === undefined ? WAIT : { kind: "meet", unitId: coming.id, to: host.owner };
}

/** The last part by number ends, and is joined with the lightest of the others, unless it deploys to environments. */
function joinOf({ units, applications, deal }: PlacedParts): PartsStep {
  const ending = units.reduce<Part | undefined>((last, unit) => (last === undefined || unit.bucket > last.bucket ? unit : last), undefined);
  if (ending === undefined || applications.some(({ part, environment }) => part === ending.bucket && environment !== "")) return NONE;
  const total = sumOf(units);
  const [into] = units
    .filter(({ id }) => id !== ending.id)
    .toSorted((a, b) => dominantShare(a.load, total) - dominantShare(b.load, total) || a.bucket - b.bucket);
  if (into === undefined) return NONE;
  const entries = Object.entries(deal).map(([key, part]) => [key, part === ending.bucket ? into.bucket : part] as const);
  return { kind: "join", unitId: ending.id, into: into.id, deal: Object.fromEntries(entries) };
}

/** Cuts the heaviest unit so that it leaves with about an equal share of the workspace; `none`: it cannot be cut, or that would not even anything out. */
function cutOf(placed: PlacedParts, wanted: number, { target }: SplitCapacity): PartsStep {
  const { units } = placed;
  const total = sumOf(units);
  const [unit] = units.toSorted((a, b) => dominantShare(b.load, total) - dominantShare(a.load, total) || a.bucket - b.bucket);
  if (unit === undefined) return NONE;
  const buckets = bucketsOf(applicationsOf(placed, total), target);
  const current = currentPartsOf(placed, buckets);
  const all = sumOf(buckets);
  const sized = buckets
    .filter(({ key }) => current.get(key) === unit.bucket)
    .map((bucket) => ({ bucket, size: dominantShare(bucket.load, all) }));
  const staying = stayingOf(sized, WHOLE / wanted);
  const stays = new Set(staying.map(({ bucket }) => bucket.key));
  const weight = (some: readonly SizedBucket[]): number => some.reduce((sum, { size }) => sum + size, 0);
  const [whole, stayed] = [weight(sized), weight(staying)];
  const isWorth = Math.max(stayed, whole - stayed) * WHOLE <= whole * WORTH;
  if (staying.length === 0 || staying.length === sized.length || !isWorth) return NONE;
  const part = lowestFree(units);
  const deal = Object.fromEntries(buckets.map(({ key }) => [key, stays.has(key) ? part : (current.get(key) as number)]));
  return { kind: "cut", unitId: unit.id, part, deal, loads: loadsOf(unit, staying) };
}

/** Groups of the own namespace that do not leave with the unit. What is bound to environments leaves in any case; groups follow while that is too little. */
function stayingOf(sized: readonly SizedBucket[], share: number): readonly SizedBucket[] {
  const mayStay = ({ bucket }: SizedBucket): boolean => bucket.cluster === OWN_CLUSTER;
  let leaving = sized.reduce((sum, each) => sum + (mayStay(each) ? 0 : each.size), 0);
  const staying: SizedBucket[] = [];
  for (const each of sized.filter(mayStay).toSorted((a, b) => b.size - a.size || (a.bucket.key < b.bucket.key ? -1 : 1))) {
    const fits = (leaving + each.size) * WHOLE <= share * EVEN;
    if (fits) leaving += each.size;
    else staying.push(each);
  }
  return staying;
}

interface SizedBucket {
  readonly bucket: Bucket;
  /** Share of the workspace in the dimension it weighs most in, ppm. */
  readonly size: number;
}

/** The cluster of a workspace's own namespace has no name. */
const OWN_CLUSTER = "";

function sumOf(parts: readonly { readonly load: LoadVector }[]): LoadVector {
  return parts.reduce((sum, { load }) => addLoad(sum, load), ZERO_LOAD);
}

function loadsOf({ load }: Part, staying: readonly SizedBucket[]): { readonly leaving: LoadVector; readonly staying: LoadVector } {
  const stays = sumOf(staying.map(({ bucket }) => bucket));
  const bounded = loadVector((dimension) => Math.min(Math.ceil(stays[dimension]), load[dimension]));
  return { staying: bounded, leaving: loadVector((dimension) => load[dimension] - bounded[dimension]) };
}

function lowestFree(units: readonly Part[]): number {
  const taken = new Set(units.map(({ bucket }) => bucket));
  return Array.from({ length: units.length + 1 }, (_, part) => part).find((part) => !taken.has(part)) ?? units.length;
}

/** Whether a move of it is under way, or may be wanted. */
function hasToMove({ isMoving, phase, wantedClass, isRegrouped }: PlacedParts["units"][number]): boolean {
  return isMoving || phase !== "IDLE" || wantedClass !== undefined || isRegrouped === true;
}
