import type { EmptyInstance } from "../health/port.ts";
import { HEALTH } from "../health/quarantine/entries.ts";
import { createMoveDesk, type MoveDesk } from "../mover/desk/controller.ts";
import { createDrainingDesk, type DrainingDesk } from "../scheduler/draining/controller.ts";
import { createPlanningDesk, type PlanningDesk } from "../scheduler/planning/controller.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";

/** Where moves, plans and the emptying of instances are asked for, by people and by processes. */
export interface Desks {
  readonly moving: MoveDesk;
  readonly planning: PlanningDesk;
  readonly draining: DrainingDesk;
}

export function createDesks(parts: Pick<Context, "clock" | "ids" | "log"> & { readonly store: Store }): Desks {
  const moving = createMoveDesk(parts);
  const planning = createPlanningDesk({ ...parts, moving });
  return { moving, planning, draining: createDrainingDesk({ ...parts, planning, moving }) };
}

/** Empties what its own controller does not help with, as a person would by `argosy drain --fail-over`. Its pool makes another only once it leaves. */
export function emptying({ draining }: Pick<Desks, "draining">): EmptyInstance {
  return (instance, reason, signal) => draining.begin(instance, { actor: HEALTH, reason, isFailOver: true, isForced: true }, signal);
}
