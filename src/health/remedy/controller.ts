import { type Clock, millis } from "../../domain/clock.ts";
import type { InstanceVerdict } from "../../domain/health.ts";
import type { Instance } from "../../domain/instance.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { remedyDecision, stepsTaken } from "../decisions.ts";
import type { OpenNamespace } from "../port.ts";
import { DAY_MS, FLEET_WINDOW, nextRemedy } from "./next-remedy.ts";

export interface RemedyDeps {
  readonly store: Pick<Store, "decisions" | "loads">;
  readonly openNamespace: OpenNamespace;
  /** Time between two restarts of one instance. */
  readonly restartApartMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface Remedies {
  /** Takes the next step that is due for an instance, if one is; `instances`: how many the fleet has. */
  help(
    about: { readonly instance: Instance; readonly verdict: InstanceVerdict; readonly instances: number },
    signal: AbortSignal,
  ): Promise<void>;
}

const MANY = 1_000;
const NOISIEST_LOOKED_AT = 100;
const HELPED: readonly string[] = ["overloaded", "stalled", "failed"];
const isHelped = ({ state, cause }: InstanceVerdict): boolean => HELPED.includes(state) || cause === "memory";

/** Takes steps of the remedy ladder. Each is in the journal before it is taken: who dies in between has used up budget, and harmed nobody. */
export function createRemedies({ store, openNamespace, restartApartMs: apartMs, clock, log, metrics }: RemedyDeps): Remedies {
  const steps = metrics.counter("argosy_health_remedies_total", "Steps of the remedy ladder that were taken or advised.", ["step"]);
  const restart = async (instance: Instance, component: string, signal: AbortSignal): Promise<void> => {
    const namespace = await openNamespace(instance, signal);
    const pods = (await namespace?.listPods(signal)) ?? [];
    for (const pod of pods) if (pod.component === component) await namespace?.deletePod(pod.name, signal);
  };
  return {
    async help({ instance, verdict, instances }, signal) {
      if (!isHelped(verdict) || instance.version !== instance.desiredVersion) return;
      const now = clock.now();
      const { decisions } = store;
      const taken = stepsTaken(await decisions.list({ subject: instance.id, kind: "health", since: millis(now - DAY_MS) }, MANY, signal));
      const restarts = await decisions.list(
        { kind: "health", verdict: "RESTART", since: millis(now - FLEET_WINDOW * apartMs) },
        MANY,
        signal,
      );
      const heaviest = verdict.state === "overloaded" ? await store.loads.listHeaviest(NOISIEST_LOOKED_AT, signal) : [];
      const noisiest = heaviest.find(({ instanceId }) => instanceId === instance.id)?.namespace;
      const remedy = nextRemedy({ now, apartMs, verdict, taken, fleet: { restarts: restarts.length, instances }, noisiest });
      if (remedy === undefined) return;
      await decisions.append([remedyDecision(remedy, verdict, now)], signal);
      steps.add(1, { step: remedy.step });
      log.warn({ instance: instance.name, step: remedy.step, cause: verdict.cause, text: remedy.text }, "Helping an instance");
      if (remedy.step === "RESTART" && remedy.component !== undefined) await restart(instance, remedy.component, signal);
    },
  };
}
