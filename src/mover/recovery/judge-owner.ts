import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { InstanceId, UnitId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { accountName, isPartBindingName, ownerBindingName } from "../../shard/names.ts";
import type { ObservedOwnerBinding } from "../../shard/parse-observation.ts";

/** A unit as a restored database has it. */
export interface RestoredUnit {
  readonly id: UnitId;
  readonly namespace: string;
  readonly bucket: number;
  readonly owner: InstanceId;
  readonly epoch: number;
}

/** Who owns a unit after its database was restored, and why. */
export interface OwnerJudgement {
  readonly owner: InstanceId;
  /**
   * KEPT: the owner binding names the owner that the row has, or nobody. MOVED: it names the account of another instance, which is the owner.
   * STRANGER: it names an account that no instance of this database acts as. The row's owner stays, and the stranger has to lose the right
   * before anything is written.
   */
  readonly rule: "KEPT" | "MOVED" | "STRANGER";
  /** The owner binding, if there is one. */
  readonly ownerBinding: ObservedOwnerBinding | undefined;
}

/**
 * Decides who owns a unit by its owner binding: API servers go by it, and a row may be older than the last moves. Only its subject is
 * believed, because users may write where it is. A user who edits it can choose among the instances that have served this unit, or loses
 * the right to write.
 */
export function judgeOwner(
  unit: RestoredUnit,
  ownerBindings: ReadonlyMap<string, ObservedOwnerBinding>,
  instances: readonly Pick<Instance, "id" | "state">[],
): OwnerJudgement {
  const ownerBinding = ownerBindings.get(ownerBindingKey({ namespace: unit.namespace, name: ownerBindingName(unit.bucket) }));
  const [subject, ...more] = ownerBinding?.subjects ?? [];
  if (subject === undefined) return { owner: unit.owner, rule: "KEPT", ownerBinding };
  const named = instances.find(({ id, state }) => state !== "RETIRED" && accountName(unit.id, id) === subject);
  if (named === undefined || more.length > 0) return { owner: unit.owner, rule: "STRANGER", ownerBinding };
  return { owner: named.id, rule: named.id === unit.owner ? "KEPT" : "MOVED", ownerBinding };
}

/**
 * Owner bindings that let somebody write for a unit which no row places: of a part that was made by a cut since, or of a workspace that came
 * since. What the database has of their applications belongs to other units, whose instances are to write for them alone.
 */
export function unknownOwnerBindings(
  units: readonly Pick<RestoredUnit, "namespace" | "bucket">[],
  ownerBindings: ReadonlyMap<string, ObservedOwnerBinding>,
): readonly ObservedOwnerBinding[] {
  const known = new Set(units.map(({ namespace, bucket }) => ownerBindingKey({ namespace, name: ownerBindingName(bucket) })));
  const isOwners = ({ at: { name } }: ObservedOwnerBinding): boolean => name === ownerBindingName(0) || isPartBindingName(name);
  return [...ownerBindings].flatMap(([key, found]) => (known.has(key) || !isOwners(found) || found.subjects.length === 0 ? [] : [found]));
}

/** What an owner binding is found by. */
export function ownerBindingKey({ namespace, name }: ObservedOwnerBinding["at"]): string {
  return `${namespace}/${name}`;
}

/** Newer epochs may have been given than any that was found, to units whose accounts are gone by now. There are plenty of epochs. */
const LEAP = 1_000_000;

/** The epoch that every later one has to be newer than: above all that were given, also those that were not found. */
export function epochsAbove(last: number, newestSeen: number): number {
  return Math.max(last, newestSeen) + LEAP;
}

/** Whether the database is older than what was written from it. `last`: its newest epoch; `newestSeen`: the newest in the cluster. */
export function isOlder(last: number, newestSeen: number): boolean {
  return newestSeen > last;
}

/** The journal's entry of a unit that was recovered. */
export function recoveryDecision(unit: RestoredUnit, { owner, rule, ownerBinding }: OwnerJudgement, at: Millis): Decision {
  const details = { from: unit.owner, to: owner, restoredEpoch: unit.epoch, seenEpoch: ownerBinding?.epoch ?? null };
  return { at, subject: unit.id, kind: "placement", verdict: "RECOVERED", rule, details };
}
