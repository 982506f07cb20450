import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { accountName, registerName } from "../../shard/names.ts";
import type { RegisterSight } from "../../shard/parse-sight.ts";

/** A unit as a restored database has it. */
export interface RestoredUnit {
  readonly id: UnitId;
  readonly namespace: string;
  readonly bucket: number;
  readonly owner: InstanceId;
  readonly epoch: number;
}

/** Who owns a unit after its database was restored, and why that is believed. */
export interface Verdict {
  readonly owner: InstanceId;
  /**
   * KEPT: the register names the owner that the row has, or nobody. MOVED: it names another instance's account, which is the owner. STRANGER:
   * it names somebody that no instance of this database acts as; the row's owner stays, and whoever it is has to lose the right first.
   */
  readonly rule: "KEPT" | "MOVED" | "STRANGER";
  /** The register that stands, if one does. */
  readonly register: RegisterSight | undefined;
}

/**
 * Decides from the register, which is what API servers go by: a row may be older than the last moves. Nothing else of a register is believed,
 * for it stands where users may write: one who edits it chooses among the instances that have served this unit, or loses the right.
 */
export function judgeOwner(
  unit: RestoredUnit,
  registers: ReadonlyMap<string, RegisterSight>,
  instances: readonly Pick<Instance, "id" | "state">[],
): Verdict {
  const register = registers.get(registerKey({ namespace: unit.namespace, name: registerName(unit.bucket) }));
  const [subject, ...more] = register?.subjects ?? [];
  if (subject === undefined) return { owner: unit.owner, rule: "KEPT", register };
  const named = instances.find(({ id, state }) => state !== "RETIRED" && accountName(unit.id, id) === subject);
  if (named === undefined || more.length > 0) return { owner: unit.owner, rule: "STRANGER", register };
  return { owner: named.id, rule: named.id === unit.owner ? "KEPT" : "MOVED", register };
}

/** What a register is found by. */
export function registerKey({ namespace, name }: RegisterSight["at"]): string {
  return `${namespace}/${name}`;
}

/** Beside what stands there was what no account was left of; epochs are plenty. */
const LEAP = 1_000_000;

/** The epoch that every one from now on has to be newer than: beyond whatever stands, also what was not found. */
export function epochsAbove(last: number, newestSeen: number): number {
  return Math.max(last, newestSeen) + LEAP;
}

/** Whether the database is older than what was written from it. */
export function isOlder(last: number, newestSeen: number): boolean {
  return newestSeen > last;
}

/** The journal's entry of a unit that was brought up to what stands. */
export function recoveryDecision(unit: RestoredUnit, { owner, rule, register }: Verdict, at: Millis): Decision {
  const details = { from: unit.owner, to: owner, restoredEpoch: unit.epoch, seenEpoch: register?.epoch ?? null };
  return { at, subject: unit.id, kind: "placement", verdict: "RECOVERED", rule, details };
}
