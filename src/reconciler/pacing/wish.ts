import type { ApplicationId, InstanceId, UnitId } from "../../domain/ids.ts";
import type { ObjectAt, ObservedObject } from "../../shard/managed-object.ts";
import { holderOf, unitOf } from "../../shard/parse-application.ts";
import type { Lane } from "./lane.ts";

/** Work for an instance's controller that may as well begin later: see `mayWait`, and the syncs that users ask for. */
export interface Wish {
  readonly kind: "application" | "sync";
  readonly id: ApplicationId;
  readonly unit: UnitId;
  readonly at: ObjectAt;
}

/** A unit on an instance. */
export type LaneKey = `${string}|${string}`;

export function laneOf(instance: InstanceId, unit: UnitId): LaneKey {
  return `${instance}|${unit}`;
}

/** The lane that an object's labels name; `undefined` for one that does not say whose it is. */
export function laneOfObject(object: Pick<ObservedObject, "labels">): LaneKey | undefined {
  const [instance, unit] = [holderOf(object), unitOf(object)];
  return instance === undefined || unit === undefined ? undefined : laneOf(instance, unit);
}

/** The lanes that a changed object is or was in. */
export function lanesOf<T extends Pick<ObservedObject, "labels">>(change: {
  readonly before?: T | undefined;
  readonly now?: T;
}): ReadonlySet<LaneKey> {
  return new Set([change.now, change.before].flatMap((side) => (side === undefined ? [] : (laneOfObject(side) ?? []))));
}

export function nameOf({ kind, id }: Pick<Wish, "kind" | "id">): string {
  return `${kind}|${id}`;
}

export function placeOf({ namespace, name }: ObjectAt): string {
  return `${namespace}|${name}`;
}

/** The metric's samples, of the instances that have a name here: the others are other processes'. */
export function samplesOf(lanes: ReadonlyMap<LaneKey, Pick<Lane, "size">>, instances: ReadonlyMap<InstanceId, string>) {
  const states = ["working", "held"] as const;
  return [...instances].flatMap(([id, instance]) => {
    const sizes = [...lanes].filter(([key]) => key.startsWith(`${id}|`)).map(([, lane]) => lane.size());
    return states.map((state) => ({ labels: { instance, state }, value: sizes.reduce((sum, size) => sum + size[state], 0) }));
  });
}
