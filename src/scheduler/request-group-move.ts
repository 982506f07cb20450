import { countText } from "../domain/count-text.ts";
import { freezeOfRollout } from "../domain/rollout.ts";
import type { UnitWithWorkspace } from "../store/placement/port.ts";
import { choosePlacement, decisionOn } from "./find-instance.ts";
import { whyUnplaceable } from "./placement-decision.ts";
import { freezeAt } from "./plan/assemble.ts";
import { type ClassMoveDeps, SCHEDULER } from "./request-class-move.ts";

/**
 * Sees whether a unit whose workspace's groups were changed may stay where it is. Where somebody is from whom it must be apart, it requests a live move to
 * an instance without any, and neither a hold nor a freeze puts that off; where none takes it, the journal says why, and whoever sweeps comes back to it. Where nobody is,
 * and others of its group live elsewhere, it requests one move to them, if they have room and nothing holds it: if that fails, it stays. Resolves to
 * whether the unit waits for a move.
 */
export async function requestGroupMove(deps: ClassMoveDeps, found: UnitWithWorkspace, signal: AbortSignal): Promise<boolean> {
  const { store, moving, log } = deps;
  const { unit, strangers, companions } = found;
  if (unit.phase === "MOVING" || unit.owner === undefined) return true;
  const here = strangers.filter(({ instance }) => instance === unit.owner);
  if (here.length > 0) {
    await leave(deps, found, here, signal);
    return true;
  }
  const isAway = companions.length > 0 && !companions.includes(unit.owner);
  const words = `${countText(companions.length, "instance")} hold others of its group, and its own does not`;
  const hasGone = isAway && !(await isHeld(deps, found, signal)) && (await join());
  await store.placements.recordRegrouped(unit.id, signal);
  return hasGone;

  async function join(): Promise<boolean> {
    const { placement } = await choosePlacement(deps, found, signal);
    if (placement.kind !== "chosen" || !companions.includes(placement.instance)) return false;
    const { instance: to, ceiling } = placement;
    const request = { unitId: unit.id, to, epoch: unit.epoch, ceiling, kind: "voluntary", reason: "FORCED", plan: undefined } as const;
    const asked = await moving.askFor({ ...request, actor: SCHEDULER, words }, signal);
    if (asked.kind === "asked") log.info({ unit: unit.id, to, move: asked.id }, "Handing a unit over to where its group lives");
    return asked.kind === "asked";
  }
}

async function leave(
  deps: ClassMoveDeps,
  found: UnitWithWorkspace,
  here: UnitWithWorkspace["strangers"],
  signal: AbortSignal,
): Promise<void> {
  const { store, moving, clock, log } = deps;
  const { unit } = found;
  const names = here.map(({ label, value }) => `${label}=${value}`).join(", ");
  const words = `its workspace must be apart from ${names}`;
  const choice = await choosePlacement(deps, found, signal);
  const { placement } = choice;
  const stay = (decision: Parameters<typeof store.placements.recordUnplaceable>[1]): Promise<void> => {
    log.warn(
      { unit: unit.id, instance: unit.owner, from: names, reason: decision.reason },
      "Leaving a unit beside somebody it must be apart from",
    );
    return store.placements.recordUnplaceable(unit.id, decision, signal);
  };
  if (placement.kind === "unplaceable") {
    const { details, ...decision } = decisionOn(choice, clock.now());
    return stay({ decision: { ...decision, details: { ...details, apartFrom: names } }, reason: whyUnplaceable(placement.facts) });
  }
  const { instance: to, ceiling } = placement;
  const request = { unitId: unit.id, to, epoch: unit.epoch, ceiling, kind: "drain", reason: "FORCED", plan: undefined } as const;
  const asked = await moving.askFor({ ...request, actor: SCHEDULER, words }, signal);
  if (asked.kind === "asked")
    return log.info({ unit: unit.id, from: unit.owner, to, move: asked.id }, "Handing a unit over that must be apart from others");
  const details = { apartFrom: names, to, reason: asked.why };
  const subject = { at: clock.now(), subject: unit.id, kind: "placement", verdict: "UNPLACEABLE", rule: "NOT_MOVABLE" } as const;
  return stay({ decision: { ...subject, details }, reason: asked.why });
}

/** Whether a hold, a freeze or a rollout keeps it where it is. */
async function isHeld(
  { store, clock }: ClassMoveDeps,
  { unit, directive, companions }: UnitWithWorkspace,
  signal: AbortSignal,
): Promise<boolean> {
  const now = clock.now();
  if (directive.hold !== undefined && directive.hold.until > now) return true;
  const touched = [...companions, ...(unit.owner === undefined ? [] : [unit.owner])].map((id) => ({ id }));
  const rollout = freezeOfRollout(await store.rollouts.readLive(signal), touched);
  return freezeAt([...(await store.directives.listFreezes(signal)), ...rollout], now) !== undefined;
}
