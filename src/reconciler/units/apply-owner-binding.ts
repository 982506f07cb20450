import { GoneError, RefusedError, StaleError } from "../../domain/errors.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { diffObject } from "../../shard/diff-object.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { ObservedBinding } from "../../shard/parse-rights.ts";
import { isBorneOutBy, judgeTampering, type TamperingObservation } from "../../shard/tampering.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { ObjectWriter, Settlement } from "../apply-object.ts";
import type { ApiCluster } from "../port.ts";
import type { RepairReports } from "./report-repairs.ts";

export interface ApplyOwnerBindingDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly writer: ObjectWriter;
  readonly apiCluster: Pick<ApiCluster, "bindings" | "readNamespaceUid">;
  readonly repairs: Pick<RepairReports, "add">;
}

/** Makes a unit's owner binding equal to `desired`. */
export type ApplyOwnerBinding = (row: DesiredUnit, desired: DesiredObject, signal: AbortSignal) => Promise<Settlement<ObservedBinding>>;

/** Whoever forges the fence again and again is answered with the key's back-off. */
const FORGERIES_AT_ONCE = 3;

/** Returns what keeps owner bindings. Unlike all else that is ours they stand where others may write: what others did to one is reported. */
export function createApplyOwnerBinding({ shards, writer, apiCluster, repairs }: ApplyOwnerBindingDeps): ApplyOwnerBinding {
  /**
   * A fence is written after the row it stands for. So rows that are read after it was seen, and are not newer than ours, prove it forged.
   * While the unit is being moved its own row is not newer yet: the move has taken the epoch that the fence may be of.
   */
  const areWeLate = async ({ id, epoch, desiredRevision }: PlacementUnit, seen: ObservedBinding, signal: AbortSignal): Promise<boolean> => {
    const now = (await shards.readUnit(id, signal))?.unit;
    if (now === undefined || now.phase === "MOVING" || now.epoch > epoch || now.desiredRevision > desiredRevision) return true;
    const claimed = unitOf(seen);
    const other = claimed === undefined || claimed === id ? undefined : await shards.readUnit(claimed, signal);
    return isBorneOutBy(other, seen);
  };

  /** A namespace may have ended and been made anew under its name. Nothing in it is ours then: it may be another user's. */
  const checkNamespace = async ({ unit, workspace }: DesiredUnit, { at }: DesiredObject, signal: AbortSignal): Promise<void> => {
    const standing = apiCluster.bindings.get(at);
    if (standing !== undefined && unitOf(standing) === unit.id) return;
    const uid = await apiCluster.readNamespaceUid(workspace.namespace, signal);
    if (uid === undefined || uid === workspace.namespaceUid) return;
    throw new StaleError(`giving a right in ${workspace.namespace}, which is another namespace by now`, {
      code: "reconciler.other-namespace",
    });
  };

  return async (row, desired, signal) => {
    await checkNamespace(row, desired, signal);
    const seen: TamperingObservation[] = [];
    const forged = new Set<string>();
    const plan = (observed: ObservedBinding | undefined) => {
      const isForged = observed !== undefined && forged.has(observed.resourceVersion);
      const action = diffObject(desired, isForged ? { ...observed, epoch: undefined, revision: undefined } : observed);
      seen.push({ observed, step: action.kind });
      return action;
    };
    const put = async (): Promise<Settlement<ObservedBinding>> => {
      try {
        const task = { objects: apiCluster.bindings, at: desired.at, plan, name: "owner-binding" };
        return await unlessEnding(row, writer.apply(task, signal));
      } catch (error) {
        const claimed = seen.at(-1);
        if (!(error instanceof StaleError) || claimed?.step !== "fenced" || claimed.observed === undefined) throw error;
        if (forged.size === FORGERIES_AT_ONCE || (await areWeLate(row.unit, claimed.observed, signal))) throw error;
        forged.add(claimed.observed.resourceVersion);
        return put();
      }
    };
    const end = await put();
    if (end.kind !== "settled") return end;
    const known = row.acknowledged.find(({ kind }) => kind === "owner-binding");
    const tampering = judgeTampering(seen, { desired, settled: end.observed, known });
    if (tampering !== undefined) repairs.add(row, tampering);
    return end;
  };
}

/** Kubernetes deletes what is in a namespace before the namespace itself: the owner binding goes first, and cannot be put back. */
async function unlessEnding<T>({ workspace: { namespace } }: DesiredUnit, put: Promise<T>): Promise<T> {
  try {
    return await put;
  } catch (error) {
    if (!(error instanceof RefusedError) || error.code !== "kube.namespace-ending") throw error;
    throw new GoneError(`giving a right in ${namespace}, which is being deleted`, {
      ...{ code: "reconciler.namespace-ending", context: { namespace }, cause: error },
    });
  }
}
