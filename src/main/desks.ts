import type { EmptyInstance } from "../health/port.ts";
import { HEALTH } from "../health/quarantine/entries.ts";
import { createMoveDesk, type MoveDesk } from "../mover/desk/controller.ts";
import { createDrainingDesk, type DrainingDesk } from "../scheduler/draining/controller.ts";
import type { ApprovalLimits } from "../scheduler/plan/planner-policy.ts";
import { createPlanningDesk, type PlanningDesk } from "../scheduler/planning/controller.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";

/** Where moves, plans and the emptying of instances are asked for, by people and by processes. */
export interface Desks {
  readonly moving: MoveDesk;
  readonly planning: PlanningDesk;
  readonly draining: DrainingDesk;
}

type Parts = Pick<Context, "clock" | "ids" | "log"> & { readonly store: Store; readonly config?: Pick<Context["config"], "moves"> };

export function createDesks(parts: Parts): Desks {
  const moving = createMoveDesk(parts);
  const planning = createPlanningDesk({ ...parts, moving, approval: parts.config && approvalLimits(parts.config.moves) });
  return { moving, planning, draining: createDrainingDesk({ ...parts, planning, moving }) };
}

/** The configuration counts in per cent, planning in parts per million. */
export function approvalLimits({ approval }: Context["config"]["moves"]): ApprovalLimits {
  const { loadPercent, applications, workspacePercent, workspaces } = approval;
  return { loadShare: loadPercent * 10_000, applications, workspaceShare: workspacePercent * 10_000, workspaces };
}

/** Empties what its own controller does not help with, as a person would by `argosy drain --fail-over`. Its pool makes another only once it leaves. */
export function emptying({ draining }: Pick<Desks, "draining">): EmptyInstance {
  return (instance, reason, signal) => draining.begin(instance, { actor: HEALTH, reason, isFailOver: true, isForced: true }, signal);
}
