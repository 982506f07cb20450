// Longer than others: the order and what carries it out read as one story.
import type { Clock, Millis } from "../../domain/clock.ts";
import { RefusedError } from "../../domain/errors.ts";
import type { InstanceId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import type { CarriedStep, StoredPlan } from "../../domain/plan.ts";
import type { LiveMoves } from "../../mover/port.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import { leaving, unplaceableSteps } from "../plan/carried-steps.ts";
import { drainDecision, drainReason, haltDecision, haltReason, mayHalt, whyLast, whyNotDrain } from "../plan/drain.ts";
import { interruptedOf, proposalOf, standingOf } from "../plan/stored-plan.ts";
import type { PlanRequests } from "./carry-out-plan.ts";

export interface DrainingDeps {
  readonly store: Pick<Store, "plans" | "fleet">;
  readonly planning: Pick<PlanRequests, "draft" | "apply">;
  readonly moving: Pick<LiveMoves, "isHeldBySource" | "giveUp">;
  readonly clock: Clock;
  readonly log: Log;
}

interface DrainOrder {
  readonly actor: string;
  readonly reason: string;
  /** The instance cannot be reached: its units leave by fail-over. Once set, this stays set for the instance. */
  readonly isFailOver?: boolean;
  /** It is emptied even if no other instance of its class takes units; until one does, everything stays. */
  readonly isForced?: boolean;
}

/** Empties instances. */
export interface DrainRequests {
  /** The plan that would empty it; it is not stored. */
  draft(instance: Instance, actor: string, signal: AbortSignal): Promise<StoredPlan>;
  /** The units for which such a plan finds no other instance. */
  staying(plan: StoredPlan, instance: Instance): readonly Pick<CarriedStep, "unit" | "name" | "why">[];
  /** Why it should not be emptied unless that is forced, and what to do first. */
  whyLast(instance: Instance, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Sends an instance's units away and no new ones there. If it is being emptied already, that is carried on. Throws `RefusedError` for
   * an instance that does not serve, and for the last one that takes units unless that is forced.
   */
  begin(instance: Instance, said: DrainOrder, signal: AbortSignal): Promise<void>;
  /** For a DRAINING instance: finishes plans that were interrupted, plans anew for the units that are not about to leave, and carries that out. */
  carryOn(instance: Instance, actor: string, signal: AbortSignal): Promise<void>;
  /** For an instance that stays: hands over the units that are not about to leave to instances that run this release. */
  handOver(instance: Instance, release: string, actor: string, signal: AbortSignal): Promise<void>;
}

const PLANS_READ = 50;

export function createDrainRequests({ store: { plans, fleet }, planning, moving, clock, log }: DrainingDeps): DrainRequests {
  const draft: DrainRequests["draft"] = (instance, actor, signal) =>
    planning.draft(instance.class, { kind: "drain", instance, subject: instance.name, actor }, signal);

  const left = (plan: StoredPlan, id: InstanceId): readonly Pick<CarriedStep, "unit">[] => [
    ...leaving(plan.moves, id),
    ...leaving(unplaceableSteps(plan), id),
  ];

  /** Stops the instance if its last units cannot leave while its controller runs. */
  const haltIfHeld = async (instance: Instance, plan: StoredPlan, actor: string, signal: AbortSignal): Promise<void> => {
    const { id, revision, state, attempt } = instance;
    if (instance.halt !== "none") return;
    const units = (await fleet.countUnits(signal)).get(id) ?? 0;
    const deployed = leaving(plan.moves, id);
    if (deployed.length !== units) return;
    const heldBySource: boolean[] = [];
    for (const { unit, to } of deployed) heldBySource.push(await moving.isHeldBySource(unit, to, signal));
    if (!mayHalt(instance, { units, heldBySource })) return;
    const decision = haltDecision(instance, clock.now(), actor, units);
    await fleet.changeInstance(
      { id, revision, state, reason: haltReason(instance), cause: undefined, attempt, halt: "wanted", decision },
      signal,
    );
    log.warn({ instance: instance.name, units }, "Stopping an instance: only that takes the right to write from it for its last units");
  };

  /** Returns the plan that was carried out; `undefined`: nothing was left to be planned. */
  const carryOut = async (instance: Instance, actor: string, signal: AbortSignal, release?: string): Promise<StoredPlan | undefined> => {
    const known = await plans.list({ class: instance.class }, PLANS_READ, signal);
    for (const { id } of interruptedOf(known, instance, clock.now())) await planning.apply(id, { actor, only: instance.id }, signal);
    const goal = { kind: "drain", instance, release, subject: instance.name, actor } as const;
    const fresh = await planning.draft(instance.class, goal, signal);
    if (left(fresh, instance.id).length === 0) return undefined;
    const standing = standingOf(known, fresh);
    if (standing === undefined) await plans.record(fresh, proposalOf(fresh), signal);
    const { id } = standing ?? fresh;
    const steps = await planning.apply(id, { actor, only: instance.id }, signal);
    log.info({ instance: instance.name, plan: id, steps: steps.length }, "Carrying on with draining an instance");
    return fresh;
  };
  const carryOn: DrainRequests["carryOn"] = async (instance, actor, signal) => {
    const plan = await carryOut(instance, actor, signal);
    if (plan !== undefined) await haltIfHeld(instance, plan, actor, signal);
  };

  return {
    draft,
    staying: (plan, { id }) => leaving(unplaceableSteps(plan), id),
    whyLast: async (instance, signal) => whyLast(instance, await fleet.listInstances(signal)),
    carryOn,
    async handOver(instance, release, actor, signal) {
      await carryOut(instance, actor, signal, release);
    },
    async begin(instance, { actor, reason, isFailOver = false, isForced = false }, signal) {
      const why = whyNotDrain(instance);
      if (why !== undefined)
        throw new RefusedError(`instance ${instance.name} ${why}`, { code: "instance.no-drain", context: { instance: instance.name } });
      const failsOver = instance.failsOver || isFailOver;
      if (instance.state === "DRAINING" && failsOver === instance.failsOver) return carryOn(instance, actor, signal);
      const row = await sendAway(fleet, instance, { at: clock.now(), actor, reason, failsOver, isForced }, signal);
      if (failsOver) await moving.giveUp(instance.id, "that go there", actor, signal);
      return carryOn(row, actor, signal);
    },
  };
}

/** Records that it is being emptied. If another one was ordered to be emptied at the same moment, this one may be the last, and is refused. */
async function sendAway(
  fleet: DrainingDeps["store"]["fleet"],
  instance: Instance,
  {
    at,
    actor,
    reason,
    failsOver,
    isForced,
  }: Required<Omit<DrainOrder, "isFailOver">> & { readonly at: Millis; readonly failsOver: boolean },
  signal: AbortSignal,
): Promise<Instance> {
  const { id, revision, attempt } = instance;
  const isFree = isForced || instance.state === "DRAINING";
  const last = isFree ? undefined : whyLast(instance, await fleet.listInstances(signal));
  if (last !== undefined) throw lastOne(last, instance);
  const text = drainReason(actor, reason, failsOver);
  const decision = drainDecision(instance, { at, actor, reason: text });
  const change = { id, revision, state: "DRAINING", reason: text, cause: undefined, attempt, failsOver, decision } as const;
  return fleet.changeInstance(isFree ? change : { ...change, onlyIfNotLast: true }, signal).catch(async (error: unknown) => {
    if (!(error instanceof RefusedError) || error.code !== "store.instance-last") throw error;
    throw lastOne(whyLast(instance, await fleet.listInstances(signal)) ?? error.message, instance);
  });
}

function lastOne(text: string, { name }: Instance): RefusedError {
  return new RefusedError(text, { code: "instance.last", context: { instance: name } });
}
