import type { Millis } from "../../domain/clock.ts";
import { rfc3339 } from "../../domain/clock.ts";
import type { Directive } from "../../domain/directive.ts";
import type { VerdictState } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { byInstanceName } from "../../domain/instance-name.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import type { Remedy } from "../next-remedy.ts";
import { isInQuarantine, type Quarantine } from "./entries.ts";
import type { Filled } from "./schema.ts";

/** The workspace that takes most of an instance, or fills its repo-server. */
export interface Noisiest {
  readonly unit: PlacementUnit;
  readonly namespace: string;
  /** Whether its load was measured. The load of a new workspace is assumed. */
  readonly isMeasured: boolean;
  readonly directive: Directive;
  /** How many units the workspace has. The parts of a split workspace live on different instances. */
  readonly parts: number;
}

export interface QuarantineFacts {
  readonly now: Millis;
  /** Largest number of instances of one pool that are kept for one workspace each. */
  readonly most: number;
  readonly source: Instance;
  readonly noisiest: Noisiest | undefined;
  /** What it filled there. Absent: it takes most of the instance, which is overloaded. */
  readonly filled?: Filled | undefined;
  /** Why nothing may be moved now that need not be. Absent: there is no freeze. */
  readonly freeze: string | undefined;
  /** Open quarantines of all classes. */
  readonly open: readonly Quarantine[];
  readonly instances: readonly Instance[];
  /** How many units have anything on each instance, or will have. */
  readonly units: ReadonlyMap<InstanceId, number>;
  readonly verdicts: ReadonlyMap<InstanceId, VerdictState>;
  /** Why a live move to any other instance is not possible. Absent: it is possible. */
  readonly refusal: string | undefined;
  /** The name of the next instance of the pool, or why the pool gets none. */
  readonly next: { readonly name: string } | { readonly why: string };
  /** Whether an instance of that capacity has room for a unit of that load. */
  readonly fits: (load: LoadVector, capacity: LoadVector) => boolean;
}

export type QuarantinePlan =
  | { readonly kind: "begin"; readonly quarantine: Omit<Quarantine, "at"> }
  /** The step stays advice for a person, for this reason. */
  | { readonly kind: "advice"; readonly why: string };

/**
 * Decides whether the workspace that takes most of an overloaded instance, or fills a repo-server, gets an instance of its own without
 * a person, and which: an existing one of the class without units, else a new one of the pool. One quarantine of a
 * class at a time, at most `most` in a pool, and none against what a person has ordered for the workspace.
 */
export function planQuarantine(facts: QuarantineFacts): QuarantinePlan {
  const { source, noisiest, units, open, refusal } = facts;
  const advice = (why: string): QuarantinePlan => ({ kind: "advice", why });
  if (noisiest === undefined || !noisiest.isMeasured) return advice("it was not measured which workspace takes most");
  if ((units.get(source.id) ?? 0) <= 1) return advice(`${noisiest.namespace} has ${source.name} for itself`);
  const why = whyStays(noisiest, facts) ?? refusal;
  if (why !== undefined) return advice(why);
  const other = open.find((one) => one.class === source.class);
  if (other !== undefined) return advice(`${other.namespace} is just given one, and a class gets one at a time`);
  return chooseTarget(noisiest, facts);
}

/** Why a workspace is not to be moved without a person. `undefined`: nothing speaks against it. */
export function whyStays(
  { namespace, directive: { pin, hold }, parts }: Pick<Noisiest, "namespace" | "directive" | "parts">,
  { freeze, now }: Pick<QuarantineFacts, "freeze" | "now">,
): string | undefined {
  if (pin !== undefined) return `${namespace} is pinned by ${pin.actor}`;
  if (hold !== undefined && hold.until > now) return `${namespace} is held until ${rfc3339(hold.until)}`;
  if (freeze !== undefined) return `a freeze holds: ${freeze}`;
  return parts > 1 ? `${namespace} has ${parts} parts, which live apart` : undefined;
}

function chooseTarget({ unit: { id: unitId, workspaceId, load }, namespace }: Noisiest, facts: QuarantineFacts): QuarantinePlan {
  const { source, filled, instances, most, next, fits } = facts;
  const begin = (target: string, pool: string, isNew: boolean): QuarantinePlan => ({
    kind: "begin",
    quarantine: {
      source: source.id,
      sourceName: source.name,
      class: source.class,
      workspaceId,
      unitId,
      namespace,
      target,
      pool,
      isNew,
      ...(filled === undefined ? {} : { filled }),
    },
  });
  const isFull = (pool: string): boolean => instances.filter((one) => one.pool === pool && isInQuarantine(one)).length >= most;
  const idle = instances.filter((one) => isIdle(one, facts) && !isFull(one.pool)).toSorted(nearestFirst(source.pool));
  const taken = idle.find(({ capacity }) => fits(load, capacity));
  if (taken !== undefined) return begin(taken.name, taken.pool, false);
  const { pool } = source;
  if (isFull(pool)) return { kind: "advice", why: `pool ${pool} has ${most} in quarantine already (health.quarantines)` };
  if ("why" in next) return { kind: "advice", why: next.why };
  if (!fits(load, source.capacity)) return { kind: "advice", why: `${namespace} is larger than an instance of pool ${pool}` };
  return begin(next.name, pool, true);
}

/** The step QUARANTINE as it is written into the journal. */
export function remedyOf(remedy: Remedy, plan: QuarantinePlan): Remedy {
  if (plan.kind === "advice") return { ...remedy, text: `${remedy.text}; by itself that is not done: ${plan.why}` };
  const { quarantine } = plan;
  const { namespace, target, pool, isNew } = quarantine;
  const which = isNew ? `${target}, which pool ${pool} is asked for` : `${target}, which serves nobody`;
  return { ...remedy, isAdvice: false, text: `give ${namespace} an instance of its own: ${which}`, quarantine };
}

/** The instance that the pool would get next, as far as the check of a move needs it. */
export function likeIt(source: Instance): Instance {
  return { ...source, id: "" as InstanceId, state: "ACTIVE" };
}

const ILL: readonly (VerdictState | undefined)[] = ["overloaded", "stalled", "failed"];

function isIdle(one: Instance, { source, units, verdicts }: QuarantineFacts): boolean {
  const isSteady = one.state === "ACTIVE" && one.version === one.desiredVersion && one.version === source.version;
  return isSteady && one.class === source.class && !units.has(one.id) && !ILL.includes(verdicts.get(one.id));
}

/** Instances of the pool first; within a pool the highest number, which was created last and is missed least. */
function nearestFirst(pool: string): (a: Instance, b: Instance) => number {
  return (a, b) => Number(b.pool === pool) - Number(a.pool === pool) || byInstanceName(b, a);
}
