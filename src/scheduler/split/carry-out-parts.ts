import type { Millis } from "../../domain/clock.ts";
import type { Decision } from "../../domain/decision.ts";
import type { Ids, InstanceId, UnitId } from "../../domain/ids.ts";
import type { LiveMoves } from "../../mover/port.ts";
import type { Store } from "../../store/port.ts";
import type { SplitRow } from "../../store/split/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { choosePlacement, type PlacingDeps } from "../find-instance.ts";
import type { PlanningFacts } from "../plan/assemble.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { ceilingOf } from "../utilisation.ts";
import type { PartsStep } from "./next-parts-step.ts";

export interface PartsDeps extends PlacingDeps {
  readonly store: PlacingDeps["store"] & Pick<Store, "splits">;
  readonly moving: Pick<LiveMoves, "askFor">;
  readonly ids: Ids;
  readonly log: Log;
}

/** A step about the parts of one workspace, and what it was decided from. */
export interface PartsTask {
  readonly row: SplitRow;
  readonly step: Exclude<PartsStep, { readonly kind: "none" | "wait" }>;
  readonly facts: Pick<PlanningFacts, "instances">;
  readonly at: Millis;
}

/** Who asks for these moves. */
const SCHEDULER = "scheduler";

/**
 * Carries out one step about a workspace's parts. What changed meanwhile is left for the next cycle, and so is a move that is refused: the
 * log says why.
 */
export async function carryOutParts(deps: PartsDeps, { row, step, facts, at }: PartsTask, signal: AbortSignal): Promise<void> {
  const { store, ids, log } = deps;
  const { workspaceId } = row;
  const seen = row.units.map(({ id, rowVersion }) => ({ id, rowVersion }));
  const nameOf = (id: UnitId): number => row.units.find((unit) => unit.id === id)?.bucket ?? 0;
  const about = { workspace: workspaceId, unit: step.unitId, part: nameOf(step.unitId) };
  switch (step.kind) {
    case "cut": {
      const { unitId, deal, loads, part } = step;
      const decision = decisionOf(at, unitId, "CUT", { parts: row.units.length + 1, part, loads });
      const staying = { id: ids.next<UnitId>(), part };
      if (await store.splits.cut({ workspaceId, seen, unitId, staying, deal, loads, decision }, signal))
        log.info({ ...about, staying: part }, "Cutting a unit: what stays has passed to a new part, and the rest is to leave");
      return;
    }
    case "leave":
      return leave(deps, step.unitId, signal);
    case "join": {
      const { unitId, into, deal } = step;
      const decision = decisionOf(at, unitId, "JOINED", { parts: row.units.length, part: nameOf(unitId), into: nameOf(into) });
      if (await store.splits.join({ workspaceId, seen, unitId, into, deal, decision }, signal))
        log.info({ ...about, into: nameOf(into) }, "Joining a part with another one");
      return;
    }
    case "meet":
      return meet(deps, { row, facts }, step, signal);
    case "take-over": {
      const details = { parts: row.units.length - 1, part: nameOf(step.unitId) };
      if (await store.splits.takeOver(step.unitId, decisionOf(at, step.unitId, "TAKEN_OVER", details), signal))
        log.info(about, "A part's applications have passed to the part that it is joined with");
      return;
    }
    case "keep-apart":
      return store.splits.keepApart(step.unitId, signal);
  }
}

function decisionOf(at: Millis, subject: UnitId, verdict: string, details: Decision["details"]): Decision {
  return { at, subject, kind: "placement", verdict, rule: "PARTS", details };
}

/** Requests the move of a unit that was cut, to an instance that has no part of its workspace. */
async function leave(deps: PartsDeps, unitId: UnitId, signal: AbortSignal): Promise<void> {
  const found = await deps.store.placements.readUnit(unitId, signal);
  if (found?.unit.owner === undefined) return;
  const { placement } = await choosePlacement(deps, found, signal);
  if (placement.kind === "unplaceable")
    return deps.log.warn({ unit: unitId }, "A unit that was cut stays beside the part that took over from it: no other instance has room");
  const { instance: to, ceiling } = placement;
  await request(deps, { unitId, epoch: found.unit.epoch, to, ceiling, words: "its workspace is cut in parts" }, signal);
}

/** Requests the move that brings a part to the one it is to be joined with. */
async function meet(
  deps: PartsDeps,
  { row, facts }: Pick<PartsTask, "row" | "facts">,
  { unitId, to }: { readonly unitId: UnitId; readonly to: InstanceId },
  signal: AbortSignal,
): Promise<void> {
  const unit = row.units.find(({ id }) => id === unitId);
  const target = facts.instances.find(({ id }) => id === to);
  if (unit === undefined || target === undefined) return;
  const ceiling = ceilingOf(target.capacity, DEFAULT_POLICY.hardLimit);
  await request(deps, { unitId, epoch: unit.epoch, to, ceiling, words: "parts of its workspace are joined" }, signal);
}

type Wanted = Pick<Parameters<LiveMoves["askFor"]>[0], "unitId" | "epoch" | "to" | "ceiling" | "words">;

async function request({ moving, log }: PartsDeps, wanted: Wanted, signal: AbortSignal): Promise<void> {
  const asked = await moving.askFor({ ...wanted, kind: "voluntary", reason: "FORCED", plan: undefined, actor: SCHEDULER }, signal);
  if (asked.kind === "refused") log.warn({ unit: wanted.unitId, to: wanted.to, reason: asked.why }, "A part stays where it is for now");
}
