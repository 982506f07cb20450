import type { Millis } from "../../domain/clock.ts";
import { canonicalJson, sha256 } from "../../domain/hash.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { MoveReason } from "../../domain/plan.ts";
import type { LoadedInstance } from "../candidate.ts";
import { chooseCandidate } from "../choose-candidate.ts";
import { type Ineligible, type Offer, type PlacementConstraints, whyNotStay } from "../eligibility.ts";
import { type PlacementRule, type Refusal, shareWith, whyNot } from "../place-unit.ts";
import { dominantShare } from "../utilisation.ts";

/** Which instance a unit should go to, with all that the answer rests on. */
export interface CandidateQuestion {
  readonly key: string;
  readonly load: LoadVector;
  /** How many units it is about; absent: one. */
  readonly units?: number;
  readonly constraints: PlacementConstraints;
  /** What the ring prefers; absent where the planner names the instance itself. */
  readonly preferred: InstanceId | undefined;
  /** In the order they were tried. */
  readonly bounds: readonly number[];
  /** The instances that were considered, each without the load that the unit itself has there: the walk first, then others. */
  readonly views: readonly LoadedInstance[];
  /** How many of the views are the ring's walk. */
  readonly walk: number;
}

export interface PlacementAnswer {
  readonly chosen: InstanceId | undefined;
  readonly bound: number | undefined;
  readonly rule: PlacementRule | "NAMED" | "NOTHING_FITS";
  readonly refusals: readonly Refusal[];
}

/** Why a unit has to leave, or should, with the numbers that show it. */
export type Cause =
  | { readonly rule: "UNPLACED" }
  | { readonly rule: "OWNER_GONE"; readonly instance: InstanceId; readonly known: readonly InstanceId[] }
  /** A group that lives together is on several instances. */
  | { readonly rule: "SPREAD"; readonly instances: readonly InstanceId[] }
  | { readonly rule: "MAY_NOT_STAY"; readonly constraints: PlacementConstraints; readonly offer: Offer; readonly ineligible: Ineligible }
  | {
      readonly rule: "ABOVE";
      readonly instance: InstanceId;
      readonly load: LoadVector;
      readonly capacity: LoadVector;
      readonly share: number;
      readonly limit: number;
      readonly forMs: number;
      readonly persistMs: number;
    }
  /** The health verdict says so; `share` is the utilisation of the last ten minutes. */
  | {
      readonly rule: "OVERLOADED";
      readonly instance: InstanceId;
      readonly load: LoadVector;
      readonly capacity: LoadVector;
      readonly share: number;
      readonly limit: number;
    }
  /** A new instance is short of its share. */
  | {
      readonly rule: "BELOW";
      readonly instance: InstanceId;
      readonly load: LoadVector;
      readonly capacity: LoadVector;
      readonly share: number;
      readonly limit: number;
    };

/** One decision about one unit, or a group that moves as one. */
export interface MoveRecord {
  readonly units: readonly UnitId[];
  readonly reason: MoveReason;
  readonly cause: Cause;
  readonly question: CandidateQuestion;
  readonly answer: PlacementAnswer;
}

/** A unit that was considered and left where it is. */
export interface StayRecord {
  readonly unit: UnitId;
  readonly instance: InstanceId;
  readonly at: Millis;
  readonly rule: "MOVING" | "DO_NOT_MOVE" | "COOL_DOWN" | "FAILED_BEFORE";
  readonly until: Millis | undefined;
}

/** Answers the question from what is recorded in it alone. */
function answerOf(question: CandidateQuestion): PlacementAnswer {
  const { views, bounds, walk, preferred } = question;
  const refusal = (view: LoadedInstance, bound: number): Refusal | undefined => whyNot(view, question, bound);
  const candidateSet = {
    size: views.length,
    admits: (candidate: number, bound: number) => refusal(views[candidate] as LoadedInstance, bound) === undefined,
    shareWith: (candidate: number) => shareWith(views[candidate] as LoadedInstance, question.load, question.units),
    tie: (candidate: number) => sha256(`${question.key}|${views[candidate]?.id}`),
  };
  const order = views.slice(0, walk).map((_, candidate) => candidate);
  const choice = chooseCandidate(candidateSet, order, bounds);
  if (choice === undefined) {
    const bound = bounds.at(-1) as number;
    const refusals = views.flatMap((view) => refusal(view, bound) ?? []);
    return { chosen: undefined, bound: undefined, rule: "NOTHING_FITS", refusals };
  }
  const passed = choice.rank < 0 ? order : order.slice(0, choice.rank);
  const chosen = (views[choice.candidate] as LoadedInstance).id;
  const refusals = passed.flatMap((candidate) => refusal(views[candidate] as LoadedInstance, choice.bound) ?? []);
  return { chosen, bound: choice.bound, rule: ruleFor(chosen, preferred, choice.rank), refusals };
}

/** The rule by which an instance was chosen; `rank` is its place in the walk. */
export function ruleFor(chosen: InstanceId, preferred: InstanceId | undefined, rank: number): PlacementAnswer["rule"] {
  if (preferred === undefined) return "NAMED";
  if (chosen === preferred) return "PREFERRED";
  return rank < 0 ? "LEAST_LOADED" : "SPILL";
}

/** Whether a cause follows from the numbers that were recorded with it. */
export function holdsCause(cause: Cause): boolean {
  switch (cause.rule) {
    case "UNPLACED":
      return true;
    case "OWNER_GONE":
      return !cause.known.includes(cause.instance);
    case "SPREAD":
      return new Set(cause.instances).size > 1;
    case "MAY_NOT_STAY":
      return isSame(whyNotStay(cause.constraints, cause.offer), cause.ineligible);
    case "ABOVE":
      return isShare(cause) && cause.share > cause.limit && cause.forMs >= cause.persistMs;
    case "OVERLOADED":
      return isShare(cause) && cause.share > cause.limit;
    case "BELOW":
      return isShare(cause) && cause.share < cause.limit;
  }
}

/** Whether a decision follows from what was recorded with it: cause, choice and every refusal. */
export function reEvaluates(record: MoveRecord): boolean {
  return holdsCause(record.cause) && isSame(answerOf(record.question), record.answer);
}

/** Whether a unit that was left alone had to be. */
export function reEvaluatesStay({ rule, until, at }: StayRecord): boolean {
  return rule === "MOVING" || (until !== undefined && until > at);
}

function isShare({ load, capacity, share }: { readonly load: LoadVector; readonly capacity: LoadVector; readonly share: number }): boolean {
  return dominantShare(load, capacity) === share;
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}
