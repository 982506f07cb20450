import type { Clock, Millis } from "../domain/clock.ts";
import type { Decision } from "../domain/decision.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import { giveTurns } from "../runtime/give-turns.ts";
import type { UnitWithWorkspace } from "../store/placement/port.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import { NO_CONSTRAINTS, type PlacementConstraints } from "./eligibility.ts";
import { type KeptFleets, type OpenFleet, readOpenFleet } from "./keep-fleets.ts";
import { type Placement, placeOn } from "./place-unit.ts";
import { placementDecision, whyUnplaceable } from "./placement-decision.ts";
import { type CandidateMarks, NO_MARKS, openPlacementFleetInTurns, type SeekingUnit } from "./placement-fleet.ts";
import { DEFAULT_POLICY } from "./policy.ts";
import type { createRingMemo } from "./ring-memo.ts";
import { partsApart, unitNeeds } from "./unit-needs.ts";

/** How often a run chooses again because the instance it chose filled up meanwhile; after that the key is queued again. */
const ATTEMPTS = 5;

export interface PlacingDeps {
  readonly store: Pick<Store, "placements">;
  readonly clock: Clock;
  readonly log: Log;
  readonly ringsOf: ReturnType<typeof createRingMemo>;
  /** Absent: fleets are read anew for each choice. */
  readonly fleets?: Pick<KeptFleets, "read">;
}

/** Where a unit should go, and by what. */
export interface Choice {
  readonly fleet: OpenFleet;
  readonly unit: SeekingUnit;
  readonly placement: Placement;
}

/** Gives a unit without an owner an instance, and resolves to which; or records that none has room. */
export async function placeFirst(
  placing: PlacingDeps,
  seen: UnitWithWorkspace,
  signal: AbortSignal,
): Promise<{ readonly placedOn?: InstanceId; readonly requeueAfterMs?: number }> {
  const { store, clock, log } = placing;
  const { id } = seen.unit;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const found = attempt === 0 ? seen : await store.placements.readUnit(id, signal);
    if (found === undefined || found.unit.owner !== undefined) return {};
    const choice = await choosePlacement(placing, found, signal);
    const { placement } = choice;
    if (placement.kind === "unplaceable") {
      await recordWaiting(placing, found, choice, signal);
      return {};
    }
    log.info({ unit: id, instance: placement.instance, rule: placement.rule }, "Placing a unit");
    const { instance, ceiling } = placement;
    const decision = decisionOn(choice, clock.now());
    const outcome = await store.placements.commitFirstPlacement(
      { unitId: id, rowVersion: found.unit.rowVersion, instanceId: instance, ceiling, decision },
      signal,
    );
    if (outcome.kind === "placed") return { placedOn: instance };
  }
  return { requeueAfterMs: 100 };
}

/** Records that no instance has room for a unit that has none. */
export async function recordWaiting(
  { store, clock, log }: PlacingDeps,
  { unit }: UnitWithWorkspace,
  choice: Choice,
  signal: AbortSignal,
): Promise<void> {
  log.warn({ unit: unit.id, class: unit.class }, "Leaving a unit without an instance: none has room");
  const refusal = { decision: decisionOn(choice, clock.now()), reason: whyUnplaceable(choice.placement.facts) };
  await store.placements.recordUnplaceable(unit.id, refusal, signal);
}

/** Chooses an instance of a unit's class for it, by the fleet as it is now: where its group lives, if that takes it. */
export async function choosePlacement(placing: Omit<PlacingDeps, "log">, found: UnitWithWorkspace, signal: AbortSignal): Promise<Choice> {
  const { fleets } = placing;
  const { class: name } = found.unit;
  return chooseOn(fleets === undefined ? await readOpenFleet(placing, name, signal) : await fleets.read(name, signal), found);
}

/** The same, on a fleet that was read before. */
export function chooseOn(fleet: OpenFleet, found: UnitWithWorkspace): Choice {
  const { unit, companions } = found;
  const constraints = constraintsOf(found, fleet.instances);
  const seeking = { id: unit.id, load: unit.load, constraints, marks: marksOf(found) };
  const joins = companions.find((id) => fleet.placements.indexOf(id) !== undefined);
  if (joins !== undefined) {
    const joining = { ...seeking, constraints: { ...constraints, joins } };
    const placement = placeOn(fleet.placements, joining, DEFAULT_POLICY);
    // Where its group has no room, or somebody whom it must be apart from, it lives elsewhere.
    if (placement.kind === "chosen") return { fleet, unit: joining, placement };
  }
  return { fleet, unit: seeking, placement: placeOn(fleet.placements, seeking, DEFAULT_POLICY) };
}

/** The journal's entry for a choice. */
export function decisionOn({ fleet: { placements }, unit: { marks, ...unit }, placement }: Choice, at: Millis): Decision {
  const question = { unit, candidates: placements.candidates(marks), policy: DEFAULT_POLICY, summary: placements.summary(marks) };
  return placementDecision(question, placement, at);
}

/** Where a unit would go if it had to leave its instance; `undefined`: the unit is gone, has no instance, or no other one takes it. */
export async function findOtherInstance(
  placing: Omit<PlacingDeps, "log">,
  id: UnitId,
  signal: AbortSignal,
): Promise<{ readonly unit: PlacementUnit; readonly target: Instance } | undefined> {
  const { store, clock, ringsOf } = placing;
  const found = await store.placements.readUnit(id, signal);
  if (found?.unit.owner === undefined) return undefined;
  const { unit } = found;
  const { instances, placements } = await readOpenFleet(placing, unit.class, signal);
  const others = placements.candidates().filter(({ id: candidate }) => candidate !== unit.owner);
  const fleet = await giveTurns(openPlacementFleetInTurns(others, DEFAULT_POLICY.hardLimit, ringsOf(unit.class)), clock, signal);
  const seeking = { id: unit.id, load: unit.load, constraints: constraintsOf(found, instances), marks: marksOf(found) };
  const placement = placeOn(fleet, seeking, DEFAULT_POLICY);
  if (placement.kind === "unplaceable") return undefined;
  const target = instances.find((instance) => instance.id === placement.instance);
  return target && { unit, target };
}

function constraintsOf(found: UnitWithWorkspace, instances: readonly Instance[]): PlacementConstraints {
  const { unit, workspace, directive } = found;
  const needs = unitNeeds({ class: unit.class, trustClass: workspace.trustClass, directive, groups: workspace.groups }, instances);
  const apart = found.siblings.length === 0 ? [] : [partsApart(workspace.id)];
  return needs === undefined && apart.length === 0
    ? NO_CONSTRAINTS
    : { ...NO_CONSTRAINTS, needs: needs === undefined ? [] : [needs], apart };
}

/** Where other parts of the workspace are, and whom it must be apart from. */
function marksOf({ workspace, siblings, strangers }: UnitWithWorkspace): CandidateMarks {
  if (siblings.length === 0 && strangers.length === 0) return NO_MARKS;
  const holds = new Map([...Map.groupBy(strangers, ({ instance }) => instance)].map(([id, here]) => [id, valuesOf(here)]));
  const marked = [...new Set([...siblings, ...holds.keys()])];
  return new Map(
    marked.map((id) => {
      const here = holds.get(id);
      const occupied = siblings.includes(id) ? { occupied: [partsApart(workspace.id)] } : {};
      return [id, here === undefined ? occupied : { ...occupied, holds: here }] as const;
    }),
  );
}

/** What is on an instance that the workspace must be apart from, by label. */
function valuesOf(here: UnitWithWorkspace["strangers"]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries([...Map.groupBy(here, ({ label }) => label)].map(([label, all]) => [label, all.map(({ value }) => value)]));
}
