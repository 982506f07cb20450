import type { Clock, Millis } from "../domain/clock.ts";
import { unfitState } from "../domain/health.ts";
import type { InstanceId, UnitId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { PlacementUnit } from "../domain/workspace.ts";
import type { FleetSnapshot, UnitWithWorkspace } from "../store/placement/port.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import { NO_CONSTRAINTS, type PlacementConstraints } from "./eligibility.ts";
import { instanceTraits } from "./instance-traits.ts";
import { type Candidate, placeUnit } from "./place-unit.ts";
import { placementDecision, whyUnplaceable } from "./placement-decision.ts";
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
    const { question, placement } = await choosePlacement(placing, found, signal);
    const { unit } = question;
    const decision = placementDecision(question, placement, clock.now());
    if (placement.kind === "unplaceable") {
      log.warn({ unit: id, class: unit.class }, "Leaving a unit without an instance: none has room");
      await store.placements.recordUnplaceable(id, { decision, reason: whyUnplaceable(placement.facts) }, signal);
      return {};
    }
    log.info({ unit: id, instance: placement.instance, rule: placement.rule }, "Placing a unit");
    const { instance, ceiling } = placement;
    const outcome = await store.placements.commitFirstPlacement(
      { unitId: id, rowVersion: unit.rowVersion, instanceId: instance, ceiling, decision },
      signal,
    );
    if (outcome.kind === "placed") return { placedOn: instance };
  }
  return { requeueAfterMs: 100 };
}

/** Chooses an instance of a unit's class for it, by the fleet as it is now: where its group lives, if that takes it. */
export async function choosePlacement({ store, clock, ringsOf }: Omit<PlacingDeps, "log">, found: UnitWithWorkspace, signal: AbortSignal) {
  const fleet = await store.placements.readFleet(found.unit.class, signal);
  const constraints = constraintsOf(found, fleet);
  const question = { unit: { ...found.unit, constraints }, candidates: candidatesOf(fleet, found, clock.now()), policy: DEFAULT_POLICY };
  const ring = ringsOf(found.unit.class);
  const joins = found.companions.find((id) => fleet.instances.some(({ instance }) => instance.id === id));
  if (joins !== undefined) {
    const joining = { ...question, unit: { ...question.unit, constraints: { ...constraints, joins } } };
    const placement = placeUnit(joining, ring);
    // Where its group has no room, or somebody whom it must be apart from, it lives elsewhere.
    if (placement.kind === "chosen") return { fleet, question: joining, placement };
  }
  return { fleet, question, placement: placeUnit(question, ring) };
}

/** Where a unit would go if it had to leave its instance; `undefined`: the unit is gone, has no instance, or no other one takes it. */
export async function findOtherInstance(
  { store, clock, ringsOf }: Omit<PlacingDeps, "log">,
  id: UnitId,
  signal: AbortSignal,
): Promise<{ readonly unit: PlacementUnit; readonly target: Instance } | undefined> {
  const found = await store.placements.readUnit(id, signal);
  if (found?.unit.owner === undefined) return undefined;
  const { unit } = found;
  const fleet = await store.placements.readFleet(unit.class, signal);
  const candidates = candidatesOf(fleet, found, clock.now()).filter(({ id: candidate }) => candidate !== unit.owner);
  const placement = placeUnit(
    { unit: { ...unit, constraints: constraintsOf(found, fleet) }, candidates, policy: DEFAULT_POLICY },
    ringsOf(unit.class),
  );
  if (placement.kind === "unplaceable") return undefined;
  const target = fleet.instances.find(({ instance }) => instance.id === placement.instance)?.instance;
  return target && { unit, target };
}

function constraintsOf(found: UnitWithWorkspace, { instances }: FleetSnapshot): PlacementConstraints {
  const { unit, workspace, directive } = found;
  const needs = unitNeeds(
    { class: unit.class, trustClass: workspace.trustClass, directive, groups: workspace.groups },
    instances.map(({ instance }) => instance),
  );
  const apart = found.siblings.length === 0 ? [] : [partsApart(workspace.id)];
  return needs === undefined && apart.length === 0
    ? NO_CONSTRAINTS
    : { ...NO_CONSTRAINTS, needs: needs === undefined ? [] : [needs], apart };
}

/** What is on an instance that the workspace must be apart from. */
function holdsOf(strangers: UnitWithWorkspace["strangers"], id: InstanceId): Candidate["holds"] {
  const here = strangers.filter(({ instance }) => instance === id);
  if (here.length === 0) return undefined;
  return Object.fromEntries([...Map.groupBy(here, ({ label }) => label)].map(([label, all]) => [label, all.map(({ value }) => value)]));
}

function candidatesOf(fleet: FleetSnapshot, { workspace, siblings, strangers }: UnitWithWorkspace, now: Millis): readonly Candidate[] {
  return fleet.instances.map(({ instance, load, verdict }) => {
    const { id, name, state, entries, capacity, weight } = instance;
    const health = unfitState(verdict, now);
    const own = entries === "shared" ? {} : { entries };
    const holds = holdsOf(strangers, id);
    const groups = holds === undefined ? {} : { holds };
    const facts = { id, name, state, ...own, ...groups, traits: instanceTraits(instance, fleet.floor), capacity, weight, load };
    const candidate = health === undefined ? facts : { ...facts, health };
    return siblings.includes(id) ? { ...candidate, occupied: [partsApart(workspace.id)] } : candidate;
  });
}
