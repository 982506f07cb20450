import { type Millis, millis } from "../../domain/clock.ts";
import { type InstanceVerdict, VERDICT_LASTS_MS } from "../../domain/health.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { LoadVector } from "../../domain/load.ts";
import type { MoveReason } from "../../domain/plan.ts";
import { dominantShare } from "../utilisation.ts";

/** What an instance's units take now, and since when it has been thought to be overloaded. */
export interface PresentLoad {
  readonly id: string;
  readonly load: LoadVector;
  readonly capacity: LoadVector;
  readonly since: Millis | undefined;
}

/** Present use at which an overload begins, and below which it has ended; ppm. The gap keeps the state from flickering. */
const OVERLOAD = {
  begins: 900_000,
  ends: 800_000,
  /** How long it must last before units move because of it: two samples, so that one odd page moves nothing. */
  persistMs: 240_000,
};

/** Since when each instance has been overloaded, after one more measurement; those that are not are left out. */
export function nextOverloaded(instances: readonly PresentLoad[], at: Millis): Readonly<Record<string, Millis>> {
  const over = instances.filter(({ load, capacity, since }) => {
    const share = dominantShare(load, capacity);
    return share > OVERLOAD.begins || (since !== undefined && share >= OVERLOAD.ends);
  });
  return Object.fromEntries(over.map(({ id, since }) => [id, since ?? at]));
}

/**
 * Adds the instances with the verdict overloaded: one whose comparisons always wait is overloaded, however little of its capacity its
 * units are measured to take. Such a verdict is given only after the overload has lasted, so it is believed at once.
 */
export function withVerdicts(
  since: Readonly<Record<string, Millis>>,
  verdicts: readonly Pick<InstanceVerdict, "instanceId" | "state" | "since">[],
): Readonly<Record<string, Millis>> {
  const reported = verdicts.filter(({ state }) => state === "overloaded");
  const begun = reported.map(({ instanceId, since: at }) => [
    instanceId,
    millis(Math.min(since[instanceId] ?? at, at - OVERLOAD.persistMs)),
  ]);
  return { ...since, ...Object.fromEntries(begun) };
}

/**
 * How long after a move nobody knows yet whether it has helped, in ms. The new owner has to compare first, and a verdict lasts a minute
 * longer than its reason: on a real instance it ended 106 s after the COMMIT of the move that relieved it.
 */
const SETTLE_MS = 150_000;

/** What shows which instances of a class are being relieved, or were a moment ago. */
export interface Relieving {
  readonly instances: readonly { readonly id: InstanceId }[];
  readonly units: readonly { readonly unit: { readonly owner?: InstanceId | undefined }; readonly movingTo: InstanceId | undefined }[];
  readonly moves: readonly { readonly from: InstanceId; readonly reason: MoveReason; readonly at: Millis }[];
}

/**
 * The verdicts on these instances that still hold. Left out are old ones, and those on an instance that units are leaving, or left so
 * short a time ago that the effect cannot show yet: it would be relieved twice for one overload.
 */
export function unrelieved<Verdict extends Pick<InstanceVerdict, "instanceId" | "at">>(
  verdicts: readonly Verdict[],
  { instances, units, moves }: Relieving,
  at: Millis,
): readonly Verdict[] {
  const leaving = units.filter(({ movingTo }) => movingTo !== undefined).map(({ unit }) => unit.owner);
  const left = moves.filter((move) => move.reason === "HOT" && at - move.at < SETTLE_MS).map(({ from }) => from);
  const relieved = new Set([...leaving, ...left]);
  const meant = new Set(instances.map(({ id }) => id));
  return verdicts.filter(
    ({ instanceId, at: observedAt }) => at - observedAt <= VERDICT_LASTS_MS && meant.has(instanceId) && !relieved.has(instanceId),
  );
}

/** The instances with the verdict overloaded that a plan relieves because of it. */
export function relievedBy(
  { moves }: { readonly moves: readonly { readonly from: InstanceId | undefined; readonly reason: string }[] },
  verdicts: readonly Pick<InstanceVerdict, "instanceId" | "state">[],
): readonly InstanceId[] {
  const hot = new Set(moves.flatMap(({ from, reason }) => (reason === "HOT" && from !== undefined ? [from] : [])));
  return verdicts.filter(({ instanceId, state }) => state === "overloaded" && hot.has(instanceId)).map(({ instanceId }) => instanceId);
}

/** Whether an overload has lasted long enough to be believed. */
export function isOverloaded(since: Millis | undefined, at: Millis): boolean {
  return since !== undefined && at - since >= OVERLOAD.persistMs;
}
