import { type Clock, millis } from "../domain/clock.ts";
import type { InstanceVerdict } from "../domain/health.ts";
import type { InstanceId } from "../domain/ids.ts";
import type { Instance } from "../domain/instance.ts";
import type { Store } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { remedyDecision, stepsTaken } from "./decisions.ts";
import { DAY_MS, FLEET_WINDOW, nextRemedy, type Remedy, STICKS_MS } from "./next-remedy.ts";
import type { EmptyInstance, OpenNamespace } from "./port.ts";
import type { Quarantines } from "./quarantine/carry-out-quarantine.ts";

export interface RemedyDeps {
  readonly store: Pick<Store, "decisions" | "loads">;
  readonly openNamespace: OpenNamespace;
  readonly empty: EmptyInstance;
  /** Absent: that a workspace gets an instance of its own is advice, always. */
  readonly quarantines: Pick<Quarantines, "plan"> | undefined;
  /** After so many restarts for one cause within an hour an instance that sticks again is emptied; 0: never. */
  readonly emptyAfter: number;
  /** Time between two restarts of one instance. */
  readonly restartApartMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Remedies {
  /** Takes the next step that is due for an instance, if one is; `serving`: all that serve, itself among them. */
  help(
    about: { readonly instance: Instance; readonly verdict: InstanceVerdict; readonly serving: readonly Instance[] },
    signal: AbortSignal,
  ): Promise<void>;
}

const MANY = 1_000;
const NOISIEST_LOOKED_AT = 100;
const HELPED: readonly string[] = ["overloaded", "stalled", "failed"];
const isHelped = ({ state, cause }: InstanceVerdict): boolean => HELPED.includes(state) || cause === "memory";

/** Takes steps of the remedy ladder. Each is in the journal before it is taken: who dies in between has used up budget, and harmed nobody. */
export function createRemedies({
  store,
  openNamespace,
  empty,
  emptyAfter,
  restartApartMs,
  quarantines,
  clock,
  log,
  metrics,
}: RemedyDeps): Remedies {
  const apartMs = restartApartMs;
  const steps = metrics.counter("argosy_health_remedies_total", "Steps of the remedy ladder that were taken or advised.", ["step"]);
  const restart = async (instance: Instance, component: string, signal: AbortSignal): Promise<void> => {
    const namespace = await openNamespace(instance, signal);
    const pods = (await namespace?.listPods(signal)) ?? [];
    for (const pod of pods) if (pod.component === component) await namespace?.deletePod(pod.name, signal);
  };
  /** How often a step was carried out for others within that time. */
  const elsewhere = async (id: InstanceId, step: "RESTART" | "DRAIN", withinMs: number, signal: AbortSignal): Promise<number> => {
    const entries = await store.decisions.list({ kind: "health", verdict: step, since: millis(clock.now() - withinMs) }, MANY, signal);
    return entries.filter(({ subject, details }) => subject !== id && details["isAdvice"] !== true).length;
  };
  const take = async (instance: Instance, { step, component, isAdvice, text }: Remedy, signal: AbortSignal): Promise<void> => {
    if (step === "RESTART" && component !== undefined) await restart(instance, component, signal);
    if (step === "DRAIN" && !isAdvice) await empty(instance, text, signal);
  };
  /** The step that is due, which is in the journal by then. */
  const decide = async (
    { instance, verdict, serving }: Parameters<Remedies["help"]>[0],
    signal: AbortSignal,
  ): Promise<Remedy | undefined> => {
    const now = clock.now();
    const { decisions } = store;
    const taken = stepsTaken(await decisions.list({ subject: instance.id, kind: "health", since: millis(now - DAY_MS) }, MANY, signal));
    const [restarts, emptied] = [
      await elsewhere(instance.id, "RESTART", FLEET_WINDOW * apartMs, signal),
      await elsewhere(instance.id, "DRAIN", STICKS_MS, signal),
    ];
    const others = serving.filter(
      ({ id, class: name, state }) => id !== instance.id && name === instance.class && state === "ACTIVE",
    ).length;
    const heaviest = verdict.state === "overloaded" ? await store.loads.listHeaviest(NOISIEST_LOOKED_AT, signal) : [];
    const noisiest = heaviest.find(({ instanceId }) => instanceId === instance.id);
    const fleet = { restarts, emptied, instances: serving.length };
    const due = nextRemedy({
      now,
      apartMs,
      emptyAfter,
      stateSince: instance.stateSince,
      verdict,
      taken,
      others,
      fleet,
      noisiest: noisiest?.namespace,
    });
    if (due === undefined) return undefined;
    const remedy = (due.step === "QUARANTINE" && (await quarantines?.plan({ instance, remedy: due, noisiest }, signal))) || due;
    await decisions.append([remedyDecision(remedy, verdict, now)], signal);
    steps.add(1, { step: remedy.step });
    log.warn({ instance: instance.name, step: remedy.step, cause: verdict.cause, text: remedy.text }, "Helping an instance");
    return remedy;
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const next = last.then(run, run);
    last = next;
    return next;
  };
  return {
    async help(about, signal) {
      const { instance, verdict } = about;
      // What is to be emptied without its help needs none, and what is being changed may be slow.
      if (!isHelped(verdict) || instance.version !== instance.desiredVersion || instance.failsOver) return;
      // What befalls many at once shows on all of them together, and each step has to count those before it.
      const remedy = await inTurn(() => decide(about, signal));
      if (remedy !== undefined) await take(instance, remedy, signal);
    },
  };
}
