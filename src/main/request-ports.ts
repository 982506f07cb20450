import { RefusedError } from "../domain/errors.ts";
import type { EmptyInstance, PlaceElsewhere } from "../health/port.ts";
import { HEALTH } from "../health/quarantine/entries.ts";
import { createMoveRequests, type MoveRequests } from "../mover/request-moves.ts";
import { findOtherInstance } from "../scheduler/find-instance.ts";
import type { ApprovalLimits } from "../scheduler/plan/planner-policy.ts";
import { createPlanRequests, type PlanRequests } from "../scheduler/plan-cycle/carry-out-plan.ts";
import { createDrainRequests, type DrainRequests } from "../scheduler/plan-cycle/empty-instance.ts";
import { createRingMemo } from "../scheduler/ring-memo.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";

/** Where moves, plans and the emptying of instances are asked for, by people and by processes. */
export interface RequestPorts {
  readonly moving: MoveRequests;
  readonly planning: PlanRequests;
  readonly draining: DrainRequests;
}

type Parts = Pick<Context, "clock" | "ids" | "log"> & { readonly store: Store; readonly config?: Pick<Context["config"], "moves"> };

export function createRequestPorts(parts: Parts): RequestPorts {
  const moving = createMoveRequests(parts);
  const planning = createPlanRequests({ ...parts, moving, approval: parts.config && approvalLimits(parts.config.moves) });
  return { moving, planning, draining: createDrainRequests({ ...parts, planning, moving }) };
}

/** The configuration counts in per cent, planning in parts per million. */
export function approvalLimits({ approval }: Context["config"]["moves"]): ApprovalLimits {
  const { loadPercent, applications, workspacePercent, workspaces } = approval;
  return { loadShare: loadPercent * 10_000, applications, workspaceShare: workspacePercent * 10_000, workspaces };
}

/** Gives a unit to where it would go if it were placed now, as a person would by `argosy move --fail-over`. */
export function placingElsewhere({ moving, store, clock }: Pick<RequestPorts, "moving"> & Pick<Parts, "store" | "clock">): PlaceElsewhere {
  const ringsOf = createRingMemo();
  return async (id, why, signal) => {
    const found = await findOtherInstance({ store, clock, ringsOf }, id, signal);
    if (found === undefined) return "no other instance takes it";
    return refusalOf(moving.ask({ ...found, kind: "evacuation", isFailOver: true, actor: HEALTH, words: why }, signal));
  };
}

/** What an order was refused for; `undefined`: it was taken. */
export async function refusalOf(asking: Promise<unknown>): Promise<string | undefined> {
  try {
    await asking;
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    throw error;
  }
}

/** Empties what its own controller does not help with, as a person would by `argosy drain --fail-over`. Its pool makes another only once it leaves. */
export function emptying({ draining }: Pick<RequestPorts, "draining">): EmptyInstance {
  return (instance, reason, signal) => draining.begin(instance, { actor: HEALTH, reason, isFailOver: true, isForced: true }, signal);
}
