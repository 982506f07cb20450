import type { Decision } from "../domain/decision.ts";
import { readClass } from "../domain/fleet.ts";
import { freezeOfRollout } from "../domain/rollout.ts";
import type { LiveMoves } from "../mover/port.ts";
import type { UnitWithWorkspace } from "../store/placement/port.ts";
import type { Store } from "../store/port.ts";
import { choosePlacement, decisionOn, type PlacingDeps } from "./find-instance.ts";
import { whyUnplaceable } from "./placement-decision.ts";
import { freezeAt } from "./plan/assemble.ts";

export interface ClassMoveDeps extends PlacingDeps {
  readonly store: PlacingDeps["store"] & Pick<Store, "directives" | "rollouts">;
  readonly moving: Pick<LiveMoves, "askFor">;
}

/** Who asks for these moves. */
export const SCHEDULER = "scheduler";

/**
 * Requests a live move of a unit to an instance of the class that it is to have, chosen as the first one of a new unit is. It waits while the unit
 * is being moved, is held where it is, or a freeze holds, as a rollout over instances of either side is one; where no instance of the class takes it, the journal says why. Whoever sweeps comes back
 * to it in each case.
 */
export async function requestClassMove(deps: ClassMoveDeps, found: UnitWithWorkspace, wanted: string, signal: AbortSignal): Promise<void> {
  const { store, moving, clock, log } = deps;
  const { unit, workspace, directive } = found;
  const now = clock.now();
  if (unit.phase === "MOVING" || (directive.hold !== undefined && directive.hold.until > now)) return;
  const arriving = {
    ...found,
    unit: { ...unit, class: wanted },
    workspace: { ...workspace, trustClass: readClass(wanted).trust },
  };
  const choice = await choosePlacement(deps, arriving, signal);
  const { placement } = choice;
  const { instances } = choice.fleet;
  if (instances.some(({ id }) => id === unit.owner)) return store.placements.takeClassOfOwner(unit.id, signal);
  const touched = [...instances, ...(unit.owner === undefined ? [] : [{ id: unit.owner }])];
  const rollout = freezeOfRollout(await store.rollouts.readLive(signal), touched);
  if (freezeAt([...(await store.directives.listFreezes(signal)), ...rollout], now) !== undefined) return;
  if (placement.kind === "unplaceable") {
    const { details, ...decision } = decisionOn(choice, now);
    return stay({ ...decision, details: { ...details, wantedClass: wanted } }, whyUnplaceable(placement.facts));
  }
  const words = `its workspace is to have class ${wanted}`;
  const { instance: to, ceiling } = placement;
  const request = { unitId: unit.id, to, epoch: unit.epoch, ceiling, kind: "voluntary", reason: "FORCED", plan: undefined } as const;
  const asked = await moving.askFor({ ...request, actor: SCHEDULER, words }, signal);
  const about = { unit: unit.id, from: unit.owner, to, class: wanted };
  if (asked.kind === "asked") return log.info({ ...about, move: asked.id }, "Handing a unit over to an instance of another class");
  const details = { wantedClass: wanted, to, reason: asked.why };
  await stay({ at: now, subject: unit.id, kind: "placement", verdict: "UNPLACEABLE", rule: "NOT_MOVABLE", details }, asked.why);

  /** Journals why it keeps its class for now, once for each reason in a row. */
  function stay(decision: Decision, reason: string): Promise<void> {
    log.warn({ unit: unit.id, class: wanted, reason }, "Leaving a unit in its class, which is to have another one");
    return store.placements.recordUnplaceable(unit.id, { decision, reason }, signal);
  }
}
