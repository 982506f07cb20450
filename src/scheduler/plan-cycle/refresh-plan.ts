import { type Clock, type Millis, millis } from "../../domain/clock.ts";
import { RefusedError, StaleError } from "../../domain/errors.ts";
import type { Ids, InstanceId, PlanId } from "../../domain/ids.ts";
import type { CarriedStep, StoredPlan } from "../../domain/plan.ts";
import { modeInForce, type ReliefPromise } from "../../domain/rebalancing.ts";
import { giveTurns } from "../../runtime/give-turns.ts";
import type { WorkResult } from "../../runtime/keyed-queue.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Counter } from "../../telemetry/metrics.ts";
import { relievedBy, unrelieved, withVerdicts } from "../load/next-overloaded.ts";
import { assembleSnapshotInTurns, type ClassState } from "../plan/assemble.ts";
import { makePlanInTurns } from "../plan/make-plan.ts";
import { nextClassStateInTurns } from "../plan/next-class-state.ts";
import type { PlanDocument } from "../plan/report.ts";
import { proposalOf, proposedOf, SCHEDULER, storedPlanInTurns } from "../plan/stored-plan.ts";
import { promisesOf } from "../rebalancing/relief-promise.ts";
import { settlePromises, withPromises } from "../rebalancing/settle-promises.ts";
import type { RingSource } from "../ring-memo.ts";
import { type SplittingDeps, splitLarge } from "../split/record-splits.ts";
import type { PlanningDeps, PlanRequests } from "./carry-out-plan.ts";
import type { DrainRequests } from "./empty-instance.ts";
import { refreshResources } from "./refresh-resources.ts";
import { refreshSizes, type SizedPools, type SizingDeps } from "./refresh-sizes.ts";

export interface ClassPlanDeps
  extends Pick<PlanningDeps, "approval">,
    Pick<SizingDeps, "scaling">,
    Pick<SplittingDeps, "splitting" | "moving"> {
  readonly store: Pick<Store, "plans" | "loads" | "splits" | "health" | "decisions" | "placements" | "fleet">;
  readonly planning: Pick<PlanRequests, "apply" | "followUp">;
  readonly draining: Pick<DrainRequests, "carryOn" | "begin">;
  /** Whether moves away from an instance with the verdict overloaded are carried out without a person. */
  readonly relieves: boolean;
  /** Plans that were proposed, by class. */
  readonly proposed: Counter;
  /** What automatic moves promised and how it came out, by class and verdict. */
  readonly promised: Counter;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

type Facts = Awaited<ReturnType<Store["plans"]["readFacts"]>>;

/** How far back moves are read, in ms: the planner's circuit breaker counts those of the last day. */
const DAY_MS = 24 * 60 * 60_000;
/** How soon the next step about parts that change hands is tried, in ms: those of an instance pass in seconds, and a move takes about as long. */
const PARTS_MS = 20_000;
/** How many of the class's newest plans are searched for one that proposes the same moves. */
const PLANS_READ = 20;

/**
 * One planning cycle of a class of instances, from its current rows:
 *
 * 1. Carries on with exchanges and drains that have begun.
 * 2. Measures what earlier automatic moves were to do.
 * 3. Records since when instances have been too full or overloaded, and how many of them its pools are to have. Begins to empty the one that is not
 *    needed any more.
 * 4. Gives one instance that has run out of CPU, memory or disk more of it, where its pool allows that.
 * 5. Splits workspaces that are too large; what is deployed in mode `auto` alone, one step of it in each cycle.
 * 6. Plans what should move, and records the plan as a proposal; not in mode `off`.
 * 7. Carries out the plan's moves away from overloaded instances, where `relieves` is set, and in mode `auto` the others too. All other
 *    moves of the plan wait for a person.
 */
export async function refreshPlan(deps: ClassPlanDeps, name: string, ringOf: RingSource, signal: AbortSignal): Promise<WorkResult> {
  const { store, planning, clock } = deps;
  await planning.followUp(name, SCHEDULER, signal);
  const at = clock.now();
  const facts = await carryOnDraining(deps, () => store.plans.readFacts(name, millis(at - DAY_MS), signal), signal);
  // Verdicts on instances that are being relieved already are left out.
  const known = await store.health.listVerdicts(signal);
  const verdicts = unrelieved(known, facts, at);
  const snapshot = await giveTurns(assembleSnapshotInTurns(facts, at), clock, signal);
  const next = await giveTurns(nextClassStateInTurns(facts, snapshot), clock, signal);
  const judged = { ...next, overloadedSince: withVerdicts(next.overloadedSince, verdicts) };
  const measured = await measurePromises(deps, judged, { facts, at }, signal);
  const sized = await refreshSizes(deps, measured, { facts, at, metrics: snapshot.metrics, verdicts: known }, signal);
  const state = await refreshResources(deps, sized.state, { facts, verdicts: raisingVerdicts(known, verdicts), at }, signal);
  await store.loads.recordState(name, state as Facts["state"], signal);
  if (sized.emptied !== undefined) await empty(deps, sized.emptied, facts, signal);
  const mode = modeInForce(facts.rebalancing, state.measured ?? [], at);
  const isSplitting = await splitLarge({ ...deps, ringsOf: () => ringOf }, { facts, at, isAutomatic: mode === "auto" }, signal);
  if (mode !== "off") await evenOut(deps, { facts, state, verdicts, mode, at }, ringOf, signal);
  return isSplitting ? { requeueAfterMs: PARTS_MS } : {};
}

/** Memory and disk run out whoever is leaving; whether more CPU is needed shows when nobody is. */
function raisingVerdicts<Verdict extends Parameters<typeof relievedBy>[1][number]>(
  known: readonly Verdict[],
  unrelieved: readonly Verdict[],
): readonly Verdict[] {
  return known.filter((verdict) => verdict.state !== "overloaded" || unrelieved.includes(verdict));
}

interface Judged {
  readonly facts: Facts;
  readonly state: ClassState;
  readonly verdicts: Parameters<typeof relievedBy>[1];
  readonly mode: "propose" | "auto";
  readonly at: Millis;
}

/** Plans what should move, and carries out what needs no person. */
async function evenOut(
  deps: ClassPlanDeps,
  { facts, state, verdicts, mode, at }: Judged,
  ringOf: RingSource,
  signal: AbortSignal,
): Promise<void> {
  const { store, planning } = deps;
  const { class: name } = facts;
  const options = { at, ringOf, approval: deps.approval };
  const made = await giveTurns(makePlanInTurns({ ...facts, state }, { kind: "rebalance" }, options), deps.clock, signal);
  // A unit without an instance needs no plan: the scheduler places it as soon as an instance has room.
  if (made.plan.moves.every(({ from }) => from === undefined)) return;
  const head = { id: deps.ids.next<PlanId>(), goal: "rebalance", subject: "", actor: SCHEDULER, at } as const;
  const plan = await propose(deps, await giveTurns(storedPlanInTurns(made, head), deps.clock, signal), signal);
  const relieved = deps.relieves ? relievedBy(plan, verdicts) : [];
  const leaving = mode === "auto" ? [...new Set([...relieved, ...carriedOutAlone(plan, state.promises ?? [])])] : relieved;
  const steps: CarriedStep[] = [];
  for (const only of leaving) steps.push(...(await planning.apply(plan.id, { actor: SCHEDULER, only }, signal)));
  const promises = promisesOf(plan, steps, facts, { means: state.meanLoads ?? {}, at });
  if (promises.length > 0) await store.loads.recordState(name, withPromises(state, promises) as Facts["state"], signal);
}

/** Hands over what an instance holds that is not needed any more, as a person's drain does; the provisioner lets it go then. */
async function empty(
  { draining, log }: ClassPlanDeps,
  { instance: id, reason }: NonNullable<SizedPools["emptied"]>,
  { instances }: Facts,
  signal: AbortSignal,
): Promise<void> {
  const instance = instances.find((one) => one.id === id);
  if (instance === undefined) return;
  try {
    await draining.begin(instance, { actor: SCHEDULER, reason }, signal);
  } catch (error) {
    // Somebody else drains, or it is the last one that takes units: it stays, and is found again when it is spare once more.
    if (!(error instanceof RefusedError) && !(error instanceof StaleError)) throw error;
    log.warn({ instance: instance.name, error }, "An instance that is not needed stays for now");
  }
}

/** Compares what automatic moves have done with what they were to do, and says so in the journal. Returns what is remembered from now on. */
async function measurePromises(
  { store, promised, log }: ClassPlanDeps,
  before: ClassState,
  { facts, at }: { readonly facts: Facts; readonly at: Millis },
  signal: AbortSignal,
): Promise<ClassState> {
  const { state, decisions } = settlePromises(before, facts, at);
  if (decisions.length > 0) await store.decisions.append(decisions, signal);
  for (const { verdict, details } of decisions) {
    promised.add(1, { class: facts.class, verdict });
    const about = { plan: details.plan, instance: details.from, class: facts.class, reason: details.reason };
    if (verdict === "BROKEN") log.warn(about, "Automatic moves did not relieve an instance as much as they were to");
    else log.info({ ...about, verdict }, "Measured what automatic moves have done");
  }
  return state;
}

/**
 * Carries on with drains, and returns the facts to plan from. After a drain the rows are read again, so that moves it began
 * are not proposed once more.
 */
async function carryOnDraining({ draining }: ClassPlanDeps, read: () => Promise<Facts>, signal: AbortSignal): Promise<Facts> {
  const before = await read();
  const leaving = before.instances.filter(({ state }) => state === "DRAINING");
  for (const instance of leaving) await draining.carryOn(instance, SCHEDULER, signal);
  return leaving.length === 0 ? before : read();
}

/** Records the plan, unless one with the same moves is recorded and has not expired. Returns the recorded one. */
async function propose({ store, proposed, log }: ClassPlanDeps, fresh: StoredPlan, signal: AbortSignal): Promise<StoredPlan> {
  const standing = proposedOf(await store.plans.list({ class: fresh.class }, PLANS_READ, signal), fresh);
  if (standing !== undefined) return standing;
  await store.plans.record(fresh, proposalOf(fresh), signal);
  proposed.add(1, { class: fresh.class });
  log.info({ plan: fresh.id, class: fresh.class, moves: fresh.moves.length }, "Proposing a plan, `argosy explain` tells why");
  return fresh;
}

/**
 * The instances from which the scheduler carries the plan out without a person. Only overloaded ones, if it moves so much that an approver has to agree, and
 * of those of which it is not measured yet what earlier moves have done.
 */
function carriedOutAlone({ moves, report }: StoredPlan, promises: readonly ReliefPromise[]): readonly InstanceId[] {
  const needsApprover = (report as unknown as PlanDocument).approval.length > 0;
  const measuring = new Set(promises.map(({ instance }) => instance));
  const mayLeave = (from: InstanceId): boolean => !needsApprover && !measuring.has(from);
  const left = moves.flatMap(({ from, reason }) => (from !== undefined && (reason === "HOT" || mayLeave(from)) ? [from] : []));
  return [...new Set(left)];
}
