import type { Millis } from "../../domain/clock.ts";
import type { PoolSpec } from "../../domain/fleet.ts";
import { type InstanceVerdict, VERDICT_LASTS_MS } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance, RaisableAmount } from "../../domain/instance.ts";
import { renderCpu, renderMemory } from "../../domain/quantity.ts";
import { amountInForce, amountRunOut, isRaiseUnderWay, maximumOf, type ResourceLimit, sizeOf } from "../../domain/raised-resources.ts";

export interface ResourceFacts {
  /** Pools of the class that let resources be raised. */
  readonly pools: readonly PoolSpec[];
  /** All of the class that are not retired. */
  readonly instances: readonly Instance[];
  /** Those on overloaded instances that somebody is just leaving left out. */
  readonly verdicts: readonly Pick<InstanceVerdict, "instanceId" | "state" | "cause" | "component" | "since" | "at">[];
  /** What controllers took when they were measured last, in thousandths of a core, and when. */
  readonly cpu: ReadonlyMap<InstanceId, { readonly milliCpu: number; readonly at: Millis }>;
  /** Instances whose repo-server was ended lately for what one workspace did, as health has found. */
  readonly attributed: ReadonlySet<InstanceId>;
  /** Whether anything is frozen, or a release is being rolled out. */
  readonly isFrozen: boolean;
  readonly at: Millis;
}

/** One instance that is to be given more of one amount. */
export interface ResourceRaise {
  readonly instance: Instance;
  readonly amount: RaisableAmount;
  readonly from: string;
  readonly to: string;
}

export interface LimitedInstance {
  readonly instance: Instance;
  readonly amount: RaisableAmount;
  readonly given: string;
  readonly why: ResourceLimit;
}

export interface ResourcePlan {
  /** Absent: nobody needs more, or it is not the time. */
  readonly raise: ResourceRaise | undefined;
  /** Sorted by id. */
  readonly limited: readonly LimitedInstance[];
}

const MINUTE_MS = 60_000;

/** How resources are raised. */
export const RAISING = {
  /** Half as much again: of a repo-server that is killed at 1 GiB nobody knows how much it needs, and a larger step leaves fewer within the maximum. */
  factor: 1.5,
  /**
   * How long after a change of an instance its next one is decided, in ms. A kill or an eviction counts for ten minutes, and what was compared anew after the change
   * takes its memory within a quarter of an hour.
   */
  restMs: 30 * MINUTE_MS,
  /** How long an instance must be overloaded, in ms. Plans relieve it first, and an instance of its own for the noisiest workspace comes after twenty minutes. */
  overloadedMs: 10 * MINUTE_MS,
  /** The share of its CPU that the controller of an overloaded instance must take for more to help. */
  cpuShare: 0.9,
  /** How old that measurement may be, in ms. Less than `restMs`: it is of what the controller has now. */
  measuredMs: 10 * MINUTE_MS,
  /** How long health has to find whose work it was that ended a repo-server twice, in ms. */
  attributedMs: 5 * MINUTE_MS,
  /** For how long an amount is not tried again with which pods did not get ready, in ms. */
  refusedMs: 24 * 60 * MINUTE_MS,
} as const;

/**
 * Decides which instance of a class is to be given more CPU, memory or disk, if any. What is raised is what has run out:
 *
 * - memory of a controller that was killed for it, or uses about all of it;
 * - CPU of a controller that takes all of it while comparisons or syncs wait;
 * - memory or disk of repo-servers that were ended for it twice, where no single workspace did that: that one gets an instance of its own instead.
 *
 * One step at a time, of one instance of the class at a time, the worst off first, and never beyond what the pool allows. Nothing is lowered: how little
 * would do does not show, because Go fills the memory that it has.
 */
export function planResources(facts: ResourceFacts): ResourcePlan {
  const needs = facts.instances.flatMap((instance) => needOf(instance, facts) ?? []);
  const limited = needs.flatMap(({ instance, pool, amount }) => limitOf(instance, { pool, amount, at: facts.at }) ?? []);
  const held = new Set(limited.map(({ instance }) => instance.id));
  const isBusy = facts.isFrozen || facts.instances.some(isRaiseUnderWay);
  const [first] = isBusy
    ? []
    : needs
        .filter(({ instance }) => !held.has(instance.id) && mayChange(instance, facts.at))
        .toSorted((a, b) => a.urgency - b.urgency || a.since - b.since || (a.instance.id < b.instance.id ? -1 : 1));
  return {
    raise: first && raiseOf(first),
    limited: limited.toSorted((a, b) => (a.instance.id < b.instance.id ? -1 : 1)),
  };
}

interface Need {
  readonly instance: Instance;
  readonly pool: PoolSpec;
  readonly amount: RaisableAmount;
  /** Lower is more urgent. */
  readonly urgency: number;
  readonly since: Millis;
}

const URGENCY: Readonly<Partial<Record<InstanceVerdict["state"], number>>> = { failed: 0, degraded: 1, overloaded: 2 };

/** What an instance has run out of, if its pool lets more of it be given. */
function needOf(instance: Instance, facts: ResourceFacts): Need | undefined {
  const pool = facts.pools.find(({ name }) => name === instance.pool);
  const verdict = facts.verdicts.find(({ instanceId }) => instanceId === instance.id);
  if (pool === undefined || verdict === undefined || facts.at - verdict.at > VERDICT_LASTS_MS) return undefined;
  const amount = amountOf(instance, { pool, verdict, facts });
  if (amount === undefined || maximumOf(pool, amount) === undefined) return undefined;
  return { instance, pool, amount, urgency: URGENCY[verdict.state] ?? 3, since: verdict.since };
}

interface Judged {
  readonly pool: PoolSpec;
  readonly verdict: ResourceFacts["verdicts"][number];
  readonly facts: ResourceFacts;
}

function amountOf(instance: Instance, { pool, verdict, facts }: Judged): RaisableAmount | undefined {
  const { state, component, since } = verdict;
  const lasted = facts.at - since;
  if (state === "overloaded") {
    return lasted >= RAISING.overloadedMs && isCpuUsedUp(instance, pool, facts) ? "controller.cpu" : undefined;
  }
  // Once may be whoever's work was under way by chance, and an evicted repo-server begins with an empty disk.
  const isNobodys = state === "failed" && lasted >= RAISING.attributedMs && !facts.attributed.has(instance.id);
  return component === "repo-server" && !isNobodys ? undefined : amountRunOut(verdict);
}

function isCpuUsedUp({ id, raised }: Instance, pool: PoolSpec, { cpu, at }: ResourceFacts): boolean {
  const measured = cpu.get(id);
  if (measured === undefined || at - measured.at > RAISING.measuredMs) return false;
  return measured.milliCpu >= RAISING.cpuShare * 1_000 * sizeOf(amountInForce(pool, raised?.amounts, "controller.cpu"));
}

function limitOf(
  instance: Instance,
  { pool, amount, at }: Pick<Need, "pool" | "amount"> & Pick<ResourceFacts, "at">,
): LimitedInstance | undefined {
  const given = amountInForce(pool, instance.raised?.amounts, amount);
  if (sizeOf(given) >= sizeOf(maximumOf(pool, amount) ?? "")) return { instance, amount, given, why: "MAXIMUM" };
  const refused = instance.raised?.refused;
  const isRefused = refused?.amount === amount && at - refused.at < RAISING.refusedMs;
  return isRefused ? { instance, amount, given, why: "REFUSED" } : undefined;
}

/** Only what serves, is not being changed, and has had its last change for a while. */
function mayChange({ state, version, desiredVersion, halt, failsOver, raised }: Instance, at: Millis): boolean {
  const serves = (state === "ACTIVE" || state === "CORDONED") && version === desiredVersion && halt === "none" && !failsOver;
  return serves && at - (raised?.at ?? Number.NEGATIVE_INFINITY) >= RAISING.restMs;
}

function raiseOf({ instance, pool, amount }: Need): ResourceRaise {
  const from = amountInForce(pool, instance.raised?.amounts, amount);
  const maximum = maximumOf(pool, amount) ?? from;
  const next = render(amount, sizeOf(from) * RAISING.factor);
  return { instance, amount, from, to: sizeOf(next) >= sizeOf(maximum) ? maximum : next };
}

const MIB = 2 ** 20;

/** CPU in whole thousandths of a core; memory and disk in whole MiB, or in bytes where that would be none. Rounded up. */
function render(amount: RaisableAmount, size: number): string {
  if (amount === "controller.cpu") return renderCpu(Math.ceil(size * 1_000) / 1_000);
  return renderMemory(size < MIB ? size : Math.ceil(size / MIB) * MIB);
}
