import type { VerdictState } from "../../domain/health.ts";
import { createOverloadFleet, type OverloadFleet, type OverloadFleetOptions } from "./overload-fleet.ts";

export interface OverloadOptions extends OverloadFleetOptions {
  /** Comparisons a second that a workspace asks for, by its number and the time since the beginning. */
  readonly demandOf: (workspace: number, elapsedMs: number) => number;
  readonly lastsMs: number;
}

/** What happened, instances and workspaces by their numbers, in ms since the beginning. */
export interface OverloadStory {
  /** Verdicts that differ from the one before of that instance. */
  readonly verdicts: readonly { readonly atMs: number; readonly instance: number; readonly state: VerdictState }[];
  /** Plans that relieve an overloaded instance, oldest first. */
  readonly plans: readonly { readonly atMs: number; readonly instance: number }[];
  readonly moves: readonly Moved[];
  /** How long comparisons waited at each probe, in s. */
  readonly waits: readonly { readonly atMs: number; readonly instance: number; readonly waitS: number }[];
}

interface Moved {
  readonly atMs: number;
  readonly workspace: number;
  readonly from: number;
  readonly to: number;
}

type MutableStory = { readonly [Name in keyof OverloadStory]: OverloadStory[Name][number][] };

/** From the change of a row until the new owner compares instead of the old one: real live moves take less. In ms. */
const HAND_OVER_MS = 45_000;
/** How often rows are read for moves, in ms: plans are made every two minutes. */
const FOLLOW_MS = 30_000;
const PLANS_READ = 10_000;
const never = new AbortController().signal;

/** Runs a fleet under the demand of its workspaces, watched and relieved by Argosy's own processes. The same options give the same story. */
export async function runOverload(options: OverloadOptions): Promise<OverloadStory> {
  const { demandOf, lastsMs, periodMs } = options;
  const fleet = await createOverloadFleet(options);
  const { clock, units, instances, models } = fleet;
  const story: MutableStory = { verdicts: [], plans: [], moves: [], waits: [] };
  const beganAt = clock.now();
  /** By workspace, the instance that compares its applications. */
  const holders = units.map((_, workspace) => workspace % instances.length);
  const underWay = new Map<number, Moved>();
  const passTime = (atMs: number): void => {
    for (const [workspace, { atMs: movedMs, to }] of underWay) {
      if (atMs - movedMs < HAND_OVER_MS) continue;
      holders[workspace] = to;
      underWay.delete(workspace);
    }
    const demands = instances.map(() => new Map<string, number>());
    for (const [workspace, unit] of units.entries()) demands[holders[workspace] ?? 0]?.set(unit, demandOf(workspace, atMs));
    for (const [instance, model] of models.entries()) {
      model.pass(clock.now(), demands[instance] ?? new Map());
      story.waits.push({ atMs, instance, waitS: model.waitS() });
    }
  };
  fleet.start();
  for (let atMs = 0; atMs < lastsMs; atMs = clock.now() - beganAt) {
    await clock.advance(periodMs);
    passTime(clock.now() - beganAt);
    await fleet.probe();
    await recordVerdicts(fleet, story, clock.now() - beganAt);
    if ((clock.now() - beganAt) % FOLLOW_MS === 0) await recordMoves(fleet, { story, holders, underWay }, clock.now() - beganAt);
  }
  await fleet.stop();
  story.plans.push(...(await reliefPlans(fleet, beganAt)));
  return story;
}

async function recordVerdicts({ store, instances }: OverloadFleet, { verdicts }: MutableStory, atMs: number): Promise<void> {
  for (const { instanceId, state } of await store.health.listVerdicts(never)) {
    const instance = instances.findIndex(({ id }) => id === instanceId);
    if (verdicts.findLast((reported) => reported.instance === instance)?.state !== state) verdicts.push({ atMs, instance, state });
  }
}

async function reliefPlans({ store, instances }: OverloadFleet, beganAt: number): Promise<OverloadStory["plans"]> {
  const plans = await store.plans.list({}, PLANS_READ, never);
  const hot = plans.toReversed().flatMap(({ createdAt, moves }) => {
    const sources = new Set(moves.flatMap(({ from, reason }) => (reason === "HOT" && from !== undefined ? [from] : [])));
    return [...sources].map((source) => ({ atMs: createdAt - beganAt, instance: instances.findIndex(({ id }) => id === source) }));
  });
  return hot.sort((a, b) => a.atMs - b.atMs);
}

interface OwnersSoFar {
  readonly story: MutableStory;
  readonly holders: readonly number[];
  readonly underWay: Map<number, Moved>;
}

/** Records which rows have a new owner. */
async function recordMoves(
  { store, instances, units }: OverloadFleet,
  { story, holders, underWay }: OwnersSoFar,
  atMs: number,
): Promise<void> {
  const numbers = new Map(units.map((unit, workspace) => [unit, workspace]));
  for (const [to, { id }] of instances.entries())
    for (const { unitId } of await store.loads.countUnits(id, never)) {
      const workspace = numbers.get(unitId) ?? 0;
      const from = underWay.get(workspace)?.to ?? holders[workspace] ?? to;
      if (from === to) continue;
      const moved = { atMs, workspace, from, to };
      underWay.set(workspace, moved);
      story.moves.push(moved);
    }
}

/** The times in which comparisons of an instance waited longer than `waitS`, in ms since the beginning; the last may have no end. */
export function spansOf(
  { waits }: OverloadStory,
  instance: number,
  waitS: number,
): readonly (readonly [fromMs: number, untilMs?: number])[] {
  const spans: [number, number?][] = [];
  for (const each of waits) {
    if (each.instance !== instance) continue;
    const last = spans.at(-1);
    const isOpen = last !== undefined && last[1] === undefined;
    if (each.waitS > waitS && !isOpen) spans.push([each.atMs]);
    if (each.waitS <= waitS && isOpen) last[1] = each.atMs;
  }
  return spans;
}
