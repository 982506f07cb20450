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

/** Present use at which an overload begins, and below which it has ended; ppm. The gap is what keeps one from flickering. */
const OVERLOAD = {
  begins: 900_000,
  ends: 800_000,
  /** How long it must last before anybody moves for it: two samples, so that one odd page opens no gate. */
  persistMs: 240_000,
};

/** Since when each instance has been overloaded, after one more look; those that are not are left out. */
export function nextOverloaded(instances: readonly PresentLoad[], at: Millis): Readonly<Record<string, Millis>> {
  const over = instances.filter(({ load, capacity, since }) => {
    const share = dominantShare(load, capacity);
    return share > OVERLOAD.begins || (since !== undefined && share >= OVERLOAD.ends);
  });
  return Object.fromEntries(over.map(({ id, since }) => [id, since ?? at]));
}

/**
 * The same with what the health of instances says: who waits for comparisons all the time is overloaded, whatever share of its capacity its units are
 * said to take. Such a verdict had to last before it was given, and is believed at once.
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
 * Whoever took over has to look first, and a verdict stands a minute longer than its reason: one of a real instance ended 106 s after COMMIT of the move
 * that relieved it. So long after a move nobody knows what it has helped. In ms.
 */
const SETTLE_MS = 150_000;

/** What moves of a class tell of relief that is under way, or has been given a moment ago. */
export interface Relieving {
  readonly instances: readonly { readonly id: InstanceId }[];
  readonly units: readonly { readonly unit: { readonly owner?: InstanceId | undefined }; readonly movingTo: InstanceId | undefined }[];
  readonly moves: readonly { readonly from: InstanceId; readonly reason: MoveReason; readonly at: Millis }[];
}

/**
 * The verdicts of these instances that speak of them as they are. While something leaves an overloaded one, and until it could have shown that this was
 * enough, it would be relieved twice for one overload.
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

/** Instances whose health says that they are overloaded and that a plan relieves for that. */
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
