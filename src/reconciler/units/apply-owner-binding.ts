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

/**
 * Makes a unit's owner binding equal to `desired`, which was rendered from `row`. A binding that somebody else has changed is
 * repaired and reported to SREs.
 *
 * @throws StaleError when newer rows than `row` were written, or the namespace is another one by now: read the rows again
 * @throws GoneError when the namespace is being deleted or does not exist
 */
export type ApplyOwnerBinding = (row: DesiredUnit, desired: DesiredObject, signal: AbortSignal) => Promise<Settlement<ObservedBinding>>;

/**
 * How many forged fences one call overwrites. At the next one it throws, so that the key's back-off slows down somebody who
 * forges them in a loop.
 */
const FORGERIES_AT_ONCE = 3;

/**
 * Creates the function that applies owner bindings. They stand in users' namespaces, where others may write: somebody can
 * edit one, delete it, or forge its fence (the epoch and revision in its annotations).
 */
export function createApplyOwnerBinding({ shards, writer, apiCluster, repairs }: ApplyOwnerBindingDeps): ApplyOwnerBinding {
  /**
   * Whether a fence newer than our row may be genuine, so that our row is outdated. Argosy writes rows first, and then objects
   * with the fence of their row. So if the row, read again after the fence was seen, is not newer than ours, the fence is
   * forged. There are two exceptions. While the unit is being moved, the fence may have the epoch that the move has taken and
   * the row gets only at COMMIT. And the binding may be that of another unit, whose row is as new as the fence. A unit without
   * a row counts as outdated too.
   */
  const areWeLate = async ({ id, epoch, desiredRevision }: PlacementUnit, seen: ObservedBinding, signal: AbortSignal): Promise<boolean> => {
    const now = (await shards.readUnit(id, signal))?.unit;
    if (now === undefined || now.phase === "MOVING" || now.epoch > epoch || now.desiredRevision > desiredRevision) return true;
    const claimed = unitOf(seen);
    const other = claimed === undefined || claimed === id ? undefined : await shards.readUnit(claimed, signal);
    return isBorneOutBy(other, seen);
  };

  return async (row, desired, signal) => {
    await checkNamespace(apiCluster, row, desired, signal);
    const seen: TamperingObservation[] = [];
    const forged = new Set<string>();
    // Without its forged fence the binding seems older than ours, and is overwritten.
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

/**
 * Throws when the namespace was deleted and another one of the same name was created, which may be another user's. The API
 * server is not asked while the cache holds the binding with this unit's label. A missing namespace passes: the write fails.
 */
export async function checkNamespace(
  { bindings, readNamespaceUid }: Pick<ApiCluster, "bindings" | "readNamespaceUid">,
  { unit, workspace }: Pick<DesiredUnit, "unit" | "workspace">,
  { at }: DesiredObject,
  signal: AbortSignal,
): Promise<void> {
  const standing = bindings.get(at);
  if (standing !== undefined && unitOf(standing) === unit.id) return;
  const uid = await readNamespaceUid(workspace.namespace, signal);
  if (uid === undefined || uid === workspace.namespaceUid) return;
  throw new StaleError(`giving a right in ${workspace.namespace}, which is another namespace by now`, {
    code: "reconciler.other-namespace",
  });
}

/**
 * Throws `GoneError` when Kubernetes refuses the write because the namespace is being deleted. Kubernetes deletes the content
 * of a namespace before the namespace itself: the owner binding goes first, and cannot be created again.
 */
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
