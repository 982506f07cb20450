import { GoneError, RefusedError, StaleError } from "../../domain/errors.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { diffObject } from "../../shard/diff-object.ts";
import type { DesiredObject } from "../../shard/managed-object.ts";
import { unitOf } from "../../shard/parse-application.ts";
import type { ObservedBinding } from "../../shard/parse-rights.ts";
import { isBorneOutBy, judgeTampering, type Look } from "../../shard/tampering.ts";
import type { DesiredUnit, ShardStore } from "../../store/shard/port.ts";
import type { Carrier, Settlement } from "../object/controller.ts";
import type { ApiCluster } from "../port.ts";
import { createRepairJournal, type RepairJournal, type RepairJournalDeps } from "../repairs/controller.ts";

/** Keeps registers as they should be. Unlike all else that is ours they stand where others may write. */
export interface RegisterKeeper extends Pick<RepairJournal, "tell" | "waitMs" | "start" | "stop" | "idle"> {
  /** Makes the unit's register equal to `desired`; what somebody else did to it is told of. */
  put(row: DesiredUnit, desired: DesiredObject, signal: AbortSignal): Promise<Settlement<ObservedBinding>>;
}

export interface RegisterDeps extends RepairJournalDeps {
  readonly shards: Pick<ShardStore, "readUnit">;
  readonly carrier: Carrier;
  readonly apiCluster: Pick<ApiCluster, "bindings" | "readNamespaceUid">;
}

/** Whoever forges the fence again and again is answered with the key's back-off. */
const FORGERIES_AT_ONCE = 3;

export function createRegisterKeeper(deps: RegisterDeps): RegisterKeeper {
  const { shards, carrier, apiCluster } = deps;
  const repairs = createRepairJournal(deps);
  /**
   * A fence is written after the row it stands for: read after it was seen, rows that are not newer than ours prove it forged. While the unit
   * is being moved its own row is not newer yet: the move has taken the epoch that the fence may be of.
   */
  const areWeLate = async ({ id, epoch, desiredRevision }: PlacementUnit, seen: ObservedBinding, signal: AbortSignal): Promise<boolean> => {
    const now = (await shards.readUnit(id, signal))?.unit;
    if (now === undefined || now.phase === "MOVING" || now.epoch > epoch || now.desiredRevision > desiredRevision) return true;
    const claimed = unitOf(seen);
    const other = claimed === undefined || claimed === id ? undefined : await shards.readUnit(claimed, signal);
    return isBorneOutBy(other, seen);
  };

  /** In a namespace that was made anew under the name of one that ended nothing is ours: it may be another user's. */
  const checkHome = async ({ unit, workspace }: DesiredUnit, { at }: DesiredObject, signal: AbortSignal): Promise<void> => {
    const standing = apiCluster.bindings.get(at);
    if (standing !== undefined && unitOf(standing) === unit.id) return;
    const uid = await apiCluster.readNamespaceUid(workspace.namespace, signal);
    if (uid === undefined || uid === workspace.namespaceUid) return;
    throw new StaleError(`giving a right in ${workspace.namespace}, which is another namespace by now`, {
      code: "reconciler.other-namespace",
    });
  };

  return {
    ...repairs,
    async put(row, desired, signal) {
      await checkHome(row, desired, signal);
      const looks: Look[] = [];
      const forged = new Set<string>();
      const plan = (observed: ObservedBinding | undefined) => {
        const isForged = observed !== undefined && forged.has(observed.resourceVersion);
        const action = diffObject(desired, isForged ? { ...observed, epoch: undefined, revision: undefined } : observed);
        looks.push({ observed, step: action.kind });
        return action;
      };
      const carry = async (): Promise<Settlement<ObservedBinding>> => {
        try {
          const task = { objects: apiCluster.bindings, at: desired.at, plan, name: "register" };
          return await unlessEnding(row, carrier.carryOut(task, signal));
        } catch (error) {
          const claimed = looks.at(-1);
          if (!(error instanceof StaleError) || claimed?.step !== "fenced" || claimed.observed === undefined) throw error;
          if (forged.size === FORGERIES_AT_ONCE || (await areWeLate(row.unit, claimed.observed, signal))) throw error;
          forged.add(claimed.observed.resourceVersion);
          return carry();
        }
      };
      const end = await carry();
      if (end.kind !== "settled") return end;
      const known = row.acknowledged.find(({ kind }) => kind === "register");
      const tampering = judgeTampering(looks, { desired, settled: end.observed, known });
      if (tampering !== undefined) repairs.tell(row, tampering);
      return end;
    },
  };
}

/** Kubernetes deletes what is in a namespace before the namespace itself: the register goes first, and cannot be put back. */
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
