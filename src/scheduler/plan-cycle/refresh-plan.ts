import { type Clock, millis } from "../../domain/clock.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { Ids } from "../../domain/ids.ts";
import type { StoredPlan } from "../../domain/plan.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Counter } from "../../telemetry/metrics.ts";
import { relievedBy, unrelieved, withVerdicts } from "../load/next-overloaded.ts";
import { assembleSnapshot } from "../plan/assemble.ts";
import { makePlan } from "../plan/make-plan.ts";
import { nextClassState } from "../plan/next-class-state.ts";
import { proposalOf, proposedOf, SCHEDULER, storedPlanOf } from "../plan/stored-plan.ts";
import type { RingSource } from "../ring-memo.ts";
import { splitLarge } from "../split/record-splits.ts";
import type { PlanningDeps, PlanRequests } from "./carry-out-plan.ts";
import type { DrainRequests } from "./empty-instance.ts";

export interface ClassPlanDeps extends Pick<PlanningDeps, "approval"> {
  readonly store: Pick<Store, "plans" | "loads" | "splits" | "health">;
  readonly planning: Pick<PlanRequests, "apply" | "followUp">;
  readonly draining: Pick<DrainRequests, "carryOn">;
  /** Whether moves that relieve an instance with the verdict overloaded are carried out without a person. */
  readonly relieves: boolean;
  /** Plans that were proposed, by class. */
  readonly proposed: Counter;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

type Facts = Awaited<ReturnType<Store["plans"]["readFacts"]>>;

const DAY_MS = 24 * 60 * 60_000;
const PLANS_READ = 20;

/**
 * Plans for one class from its current rows: finishes what was begun, records since when instances have been too full, splits workspaces
 * that are too large, and proposes what should move. Only moves that relieve an overloaded instance are carried out without a person.
 */
export async function refreshPlan(deps: ClassPlanDeps, name: string, ringOf: RingSource, signal: AbortSignal): Promise<void> {
  const { store, planning, clock } = deps;
  await planning.followUp(name, SCHEDULER, signal);
  const at = clock.now();
  const facts = await carryOnDraining(deps, () => store.plans.readFacts(name, millis(at - DAY_MS), signal), signal);
  const verdicts = unrelieved(await store.health.listVerdicts(signal), facts, at);
  const next = nextClassState(facts, assembleSnapshot(facts, at));
  const state = { ...next, overloadedSince: withVerdicts(next.overloadedSince, verdicts) };
  await store.loads.recordState(name, state as Facts["state"], signal);
  await splitLarge(deps, facts, at, signal);
  const made = makePlan({ ...facts, state }, { kind: "rebalance" }, { at, ringOf, approval: deps.approval });
  if (made.plan.moves.every(({ from }) => from === undefined)) return;
  const plan = await propose(
    deps,
    storedPlanOf(made, { id: deps.ids.next(), goal: "rebalance", subject: "", actor: SCHEDULER, at }),
    signal,
  );
  if (deps.relieves) await relieve(deps, plan, verdicts, signal);
}

/** Carries on with draining. Rows are read again after it, so that moves it began are not proposed once more. */
async function carryOnDraining({ draining }: ClassPlanDeps, read: () => Promise<Facts>, signal: AbortSignal): Promise<Facts> {
  const before = await read();
  const leaving = before.instances.filter(({ state }) => state === "DRAINING");
  for (const instance of leaving) await draining.carryOn(instance, SCHEDULER, signal);
  return leaving.length === 0 ? before : read();
}

/** Records the plan, unless the same moves are proposed already. Returns the plan that is recorded. */
async function propose({ store, proposed, log }: ClassPlanDeps, fresh: StoredPlan, signal: AbortSignal): Promise<StoredPlan> {
  const standing = proposedOf(await store.plans.list({ class: fresh.class }, PLANS_READ, signal), fresh);
  if (standing !== undefined) return standing;
  await store.plans.record(fresh, proposalOf(fresh), signal);
  proposed.add(1, { class: fresh.class });
  log.info({ plan: fresh.id, class: fresh.class, moves: fresh.moves.length }, "Proposing a plan, `argosy explain` tells why");
  return fresh;
}

/** Carries out what relieves overloaded instances. All other moves of the plan wait for a person; an overload must not last until one comes. */
async function relieve(
  { planning }: ClassPlanDeps,
  plan: StoredPlan,
  verdicts: readonly InstanceVerdict[],
  signal: AbortSignal,
): Promise<void> {
  for (const only of relievedBy(plan, verdicts)) await planning.apply(plan.id, { actor: SCHEDULER, only }, signal);
}
