import type { Millis } from "./clock.ts";
import { type PoolSpec, USUAL_DISK } from "./fleet.ts";
import type { Verdict } from "./health.ts";
import { type Instance, RAISABLE_AMOUNTS, type RaisableAmount, type RaisedAmounts } from "./instance.ts";
import { type LoadVector, loadVector } from "./load.ts";
import { parseQuantity } from "./quantity.ts";

/** Why an instance that needs more of an amount gets none. MAXIMUM: it has what its pool allows. REFUSED: its pods did not get ready with more. */
export type ResourceLimit = "MAXIMUM" | "REFUSED";

/** What an instance ran out of and cannot be given. */
export interface RememberedLimit {
  readonly amount: RaisableAmount;
  /** How much it has. */
  readonly given: string;
  readonly why: ResourceLimit;
  readonly since: Millis;
  /** When that was seen last. */
  readonly seenAt: Millis;
}

/** By id of the instance. */
export type ResourceLimits = Readonly<Record<string, RememberedLimit>>;

type Resources = Omit<PoolSpec["resources"], "max">;
type Declared = Pick<PoolSpec, "resources">;

/** Whether an instance was given other resources and was not seen to run with them yet. */
export function isRaiseUnderWay({ raised }: Pick<Instance, "raised">): boolean {
  return raised?.before !== undefined;
}

/** What a verdict says that an instance ran out of, and can be given. A component that is overloaded may be so for other reasons than its CPU. */
export function amountRunOut({ cause, component }: Pick<Verdict, "cause" | "component">): RaisableAmount | undefined {
  if (cause === "memory" && component === "controller") return "controller.memory";
  if (component !== "repo-server") return undefined;
  return cause === "memory" ? "repoServer.memory" : cause === "disk" ? "repoServer.disk" : undefined;
}

/** What a pool declares of an amount. */
export function declaredAmount({ resources: { controller, repoServer } }: Declared, amount: RaisableAmount): string {
  switch (amount) {
    case "controller.cpu":
      return controller.cpu;
    case "controller.memory":
      return controller.memory;
    case "repoServer.memory":
      return repoServer.memory;
    case "repoServer.disk":
      return repoServer.disk ?? USUAL_DISK;
    default:
      return amount satisfies never;
  }
}

/** Up to where a pool lets an amount be raised; `undefined`: it does not. */
export function maximumOf({ resources: { max } }: Declared, amount: RaisableAmount): string | undefined {
  switch (amount) {
    case "controller.cpu":
      return max?.controller?.cpu;
    case "controller.memory":
      return max?.controller?.memory;
    case "repoServer.memory":
      return max?.repoServer?.memory;
    case "repoServer.disk":
      return max?.repoServer?.disk;
    default:
      return amount satisfies never;
  }
}

/**
 * What an instance of a pool has of an amount: what it was raised to, never more than the pool's maximum of now, and never less than is declared. So a
 * person who lowers the maximum, or takes it away, lowers what was raised.
 */
export function amountInForce(pool: Declared, raised: RaisedAmounts | undefined, amount: RaisableAmount): string {
  const declared = declaredAmount(pool, amount);
  const [own, maximum] = [raised?.[amount], maximumOf(pool, amount)];
  if (own === undefined || maximum === undefined) return declared;
  const bounded = sizeOf(own) > sizeOf(maximum) ? maximum : own;
  return sizeOf(bounded) > sizeOf(declared) ? bounded : declared;
}

/** The resources that an instance of a pool is made with. */
export function resourcesFor(pool: Declared, raised: RaisedAmounts | undefined): Resources {
  const { controller, repoServer, redis } = pool.resources;
  const of = (amount: RaisableAmount): string => amountInForce(pool, raised, amount);
  const disk = of("repoServer.disk");
  const isDiskSaid = repoServer.disk !== undefined || disk !== USUAL_DISK;
  return {
    controller: { ...controller, cpu: of("controller.cpu"), memory: of("controller.memory") },
    repoServer: { ...repoServer, memory: of("repoServer.memory"), ...(isDiskSaid ? { disk } : {}) },
    redis,
  };
}

/**
 * What an instance of a pool bears: of CPU as many times more as its controller was given, of everything else what is declared. More memory lets a controller
 * hold what is declared, and says nothing of how much beyond that it would.
 */
export function capacityFor(pool: Declared & Pick<PoolSpec, "capacity">, raised: RaisedAmounts | undefined): LoadVector {
  const declared = sizeOf(declaredAmount(pool, "controller.cpu"));
  const given = sizeOf(amountInForce(pool, raised, "controller.cpu"));
  if (given === declared) return pool.capacity;
  return loadVector((dimension) =>
    dimension === "milliCpu" ? Math.floor((pool.capacity.milliCpu * given) / declared) : pool.capacity[dimension],
  );
}

/** Amounts of an instance that are above what its pool declares, with both quantities. */
export function raisesInForce(
  pool: Declared,
  raised: RaisedAmounts | undefined,
): readonly { readonly amount: RaisableAmount; readonly declared: string; readonly given: string }[] {
  return RAISABLE_AMOUNTS.map((amount) => ({
    amount,
    declared: declaredAmount(pool, amount),
    given: amountInForce(pool, raised, amount),
  })).filter(({ declared, given }) => sizeOf(given) > sizeOf(declared));
}

/** A quantity in its base unit. Declared ones are quantities, which their schema has seen to. */
export function sizeOf(quantity: string): number {
  return parseQuantity(quantity) ?? 0;
}
