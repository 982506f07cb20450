import { type Clock, millis } from "../domain/clock.ts";
import type { PoolSpec } from "../domain/fleet.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import { amountRunOut, isRaiseUnderWay, maximumOf } from "../domain/raised-resources.ts";
import type { HeavyUnit } from "../store/load/port.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { remedyDecision, stepsTaken } from "./decisions.ts";
import { fillerOf, type Taken } from "./filler.ts";
import { DAY_MS, FLEET_WINDOW, filledOf, type NamedFiller, nextRemedy, type Remedy, STICKS_MS } from "./next-remedy.ts";
import type { EmptyInstance, OpenNamespace } from "./port.ts";
import type { Quarantines } from "./quarantine/carry-out-quarantine.ts";
import type { Filled } from "./quarantine/schema.ts";

export interface RemedyDeps {
  readonly store: Pick<Store, "decisions" | "loads" | "placements">;
  readonly openNamespace: OpenNamespace;
  readonly empty: EmptyInstance;
  /** Absent: an instance of its own for a workspace is always only advice. */
  readonly quarantines: Pick<Quarantines, "plan"> | undefined;
  /** After this many restarts for one cause within an hour, an instance that is stuck again is drained. 0: never. */
  readonly emptyAfter: number;
  /** Least time between two restarts of one instance. */
  readonly restartApartMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * An instance with its latest verdict. `serving`: all instances that are judged, itself included. `repositories`: what each repository took of its
 * repo-servers lately.
 */
export interface Judged {
  readonly instance: Instance;
  readonly verdict: InstanceVerdict;
  readonly serving: readonly Instance[];
  readonly repositories: Taken;
  /** What the instance is made from; absent: its pool is not declared any more. */
  readonly pool?: Pick<PoolSpec, "resources"> | undefined;
}

export interface Remedies {
  /** Takes the next remedy for an instance, if one is due. */
  help(judged: Judged, signal: AbortSignal): Promise<void>;
}

const MANY = 1_000;
const HELPED: readonly string[] = ["overloaded", "stalled", "failed"];

/**
 * Takes the steps of the remedy ladder. Reads the steps taken lately, lets `nextRemedy` decide, writes the step into
 * the journal, then takes it. A process that dies in between has used up budget, and has done no harm.
 */
export function createRemedies(deps: RemedyDeps): Remedies {
  const { store, openNamespace, empty, emptyAfter, restartApartMs: apartMs, quarantines, clock, log, metrics } = deps;
  const steps = metrics.counter("argosy_health_remedies_total", "Steps of the remedy ladder that were taken or advised.", ["step"]);

  const help: Remedies["help"] = async (judged, signal) => {
    if (!mayBeHelped(judged)) return;
    // One decision at a time: what affects many instances shows on all of them at once, and each decision has to
    // count the steps before it.
    const remedy = await inTurn(() => decide(judged, signal));
    if (remedy !== undefined) await take(judged.instance, remedy, signal);
  };

  /** Decides the step that is due and writes it into the journal. */
  async function decide({ instance, verdict, serving, repositories, pool }: Judged, signal: AbortSignal): Promise<Remedy | undefined> {
    const now = clock.now();
    const lately = { subject: instance.id, kind: "health", since: millis(now - DAY_MS) } as const;
    const taken = stepsTaken(await store.decisions.list(lately, MANY, signal));
    const restarts = await countElsewhere(instance.id, { step: "RESTART", withinMs: FLEET_WINDOW * apartMs }, signal);
    const emptied = await countElsewhere(instance.id, { step: "DRAIN", withinMs: STICKS_MS }, signal);
    const noisiest = verdict.state === "overloaded" ? await findNoisiest(instance, signal) : undefined;
    const filled = filledOf(verdict);
    const filler = filled && (await nameFiller(instance, { taken: repositories, filled }, signal));
    const due = nextRemedy({
      now,
      apartMs,
      emptyAfter,
      stateSince: instance.stateSince,
      verdict,
      taken,
      others: serving.filter((one) => one.id !== instance.id && one.class === instance.class && one.state === "ACTIVE").length,
      fleet: { restarts, emptied, instances: serving.length },
      noisiest: noisiest?.namespace,
      filler,
      isRaised: isRaisedByScheduler(verdict, pool),
    });
    if (due === undefined) return undefined;
    const heaviest = noisiest && { unitId: noisiest.unitId, isMeasured: noisiest.known !== undefined };
    const leaving = filler === undefined ? heaviest : { unitId: filler.unitId, isMeasured: true };
    const planned = due.step === "QUARANTINE" ? await quarantines?.plan({ instance, remedy: due, leaving, filled }, signal) : undefined;
    const remedy = planned ?? due;
    await store.decisions.append([remedyDecision(remedy, verdict, now)], signal);
    steps.add(1, { step: remedy.step });
    log.warn({ instance: instance.name, step: remedy.step, cause: verdict.cause, text: remedy.text }, "Helping an instance");
    return remedy;
  }

  /** How often a step was carried out for other instances within the time. */
  async function countElsewhere(
    id: InstanceId,
    { step, withinMs }: { readonly step: "RESTART" | "DRAIN"; readonly withinMs: number },
    signal: AbortSignal,
  ): Promise<number> {
    const entries = await store.decisions.list({ kind: "health", verdict: step, since: millis(clock.now() - withinMs) }, MANY, signal);
    return entries.filter(({ subject, details }) => subject !== id && details["isAdvice"] !== true).length;
  }

  async function findNoisiest({ id }: Instance, signal: AbortSignal): Promise<HeavyUnit | undefined> {
    const [heaviest] = await store.loads.listHeaviest({ limit: 1, instanceId: id }, signal);
    return heaviest;
  }

  /** The unit that fills the instance's repo-server, if one stands out, with the namespace of its workspace. */
  async function nameFiller(
    { id }: Instance,
    { taken, filled }: { readonly taken: Taken; readonly filled: Filled },
    signal: AbortSignal,
  ): Promise<NamedFiller | undefined> {
    const filler = fillerOf(await store.loads.countUnits(id, signal), taken, filled);
    const held = filler && (await store.placements.readUnit(filler.unitId, signal));
    return filler && held && { ...filler, namespace: held.workspace.namespace };
  }

  async function take(instance: Instance, { step, component, isAdvice, text }: Remedy, signal: AbortSignal): Promise<void> {
    if (step === "RESTART" && component !== undefined) await restart(instance, component, signal);
    if (step === "DRAIN" && !isAdvice) await empty(instance, text, signal);
  }

  async function restart(instance: Instance, component: string, signal: AbortSignal): Promise<void> {
    const namespace = await openNamespace(instance, signal);
    const pods = (await namespace?.listPods(signal)) ?? [];
    for (const pod of pods) if (pod.component === component) await namespace?.deletePod(pod.name, signal);
  }

  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run, run);
    last = next;
    return next;
  };
  return { help };
}

/** Whether the pool lets the scheduler give more of what the instance has run out of. */
function isRaisedByScheduler(verdict: InstanceVerdict, pool: Judged["pool"]): boolean {
  const amount = amountRunOut(verdict);
  return amount !== undefined && pool !== undefined && maximumOf(pool, amount) !== undefined;
}

/** An instance that is drained by fail-over needs no help, and one that is being changed may be slow for a while. */
function mayBeHelped({ instance, verdict }: Judged): boolean {
  if (instance.version !== instance.desiredVersion || instance.failsOver || isRaiseUnderWay(instance)) return false;
  return HELPED.includes(verdict.state) || verdict.cause === "memory" || verdict.cause === "disk";
}
