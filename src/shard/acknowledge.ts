import type { ShardKind, ShardObject } from "../domain/shard-object.ts";
import type { ApplicationPlacement } from "./application-placement.ts";
import type { DesiredObject, ObservedObject } from "./managed-object.ts";

/** An object that is as its row wants it. */
export interface StandingObject {
  readonly kind: ShardKind;
  /** Id of the application or unit it was made for. */
  readonly subject: string;
  readonly desired: DesiredObject;
  /** Absent: there is to be none, and is none. */
  readonly observed: ObservedObject | undefined;
}

/** What to record about an object that stands; `undefined` when the very same is among what is recorded (`known`). */
export function acknowledgementOf(
  placement: ApplicationPlacement,
  standing: StandingObject,
  known: readonly ShardObject[],
): ShardObject | undefined {
  const { kind, subject, desired, observed } = standing;
  const object: ShardObject = {
    instanceId: placement.instance.id,
    kind,
    subject,
    appliedRevision: desired.fence?.revision ?? 0,
    epoch: placement.unit.epoch,
    uid: observed?.uid ?? "",
    hash: observed === undefined ? "" : desired.contentHash,
  };
  return known.some((one) => covers(one, object)) ? undefined : object;
}

function covers(known: ShardObject, object: ShardObject): boolean {
  const isSame = known.instanceId === object.instanceId && known.kind === object.kind && known.subject === object.subject;
  return isSame && known.epoch === object.epoch && known.uid === object.uid && known.appliedRevision >= object.appliedRevision;
}
