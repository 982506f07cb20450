import type { Clock } from "../../domain/clock.ts";
import type { Instance } from "../../domain/instance.ts";
import { quotaOfClass } from "../../domain/quota.ts";
import { nextWithholding, weightText } from "../../domain/withholding.ts";
import type { Store } from "../../store/port.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { PageSums } from "./metrics-page.ts";
import { type EntriesSeen, excessiveEntries, type HeavyEntries, nextHeavyEntries } from "./weigh-entries.ts";

export interface WithholdDeps extends Pick<EntriesSeen, "environmentOf"> {
  readonly store: Pick<Store, "fleet" | "environments" | "decisions">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface EntryWatch {
  /** Weighs what an instance's controller caches of each environment, and withholds those that were beyond the budget several times in a row. */
  see(instance: Instance, sums: PageSums, signal: AbortSignal): Promise<void>;
  /** Instances that are measured no more are forgotten. */
  keepOnly(instances: { has(id: string): boolean }): void;
}

/**
 * Creates the watch of one sampler. What it has counted is lost on a restart, and counted again; what was withheld stands in the database.
 * Nothing is withheld while no budget is declared.
 */
export function createEntryWatch({ store, environmentOf, clock, log, metrics }: WithholdDeps): EntryWatch {
  const counted = new Map<string, HeavyEntries>();
  const withheldTotal = metrics.counter(
    "argosy_environments_withheld_total",
    "Environments that were kept from their instance because of what caching them took.",
  );

  const withhold = async (
    instance: Instance,
    { id, ...weight }: ReturnType<typeof excessiveEntries>[number],
    budget: number,
    signal: AbortSignal,
  ): Promise<void> => {
    const known = await store.environments.readKnown(id, signal);
    if (known === undefined) return;
    const now = clock.now();
    const withholding = nextWithholding(known.withheld, { weight, budget, now });
    if (!(await store.environments.withhold(id, withholding, signal))) return;
    withheldTotal.add(1);
    const { name, namespace } = known;
    const reason = `environment ${name} of ${namespace} is kept from it: ${weightText(withholding)}`;
    log.warn({ instance: instance.name, environment: id, namespace, ...weight, budget }, "Keeping an environment from its instance");
    const { times, until } = withholding;
    const details = { name: instance.name, namespace, environment: id, ...weight, budget, times, until, reason };
    const decision = {
      at: now,
      subject: instance.id,
      kind: "health",
      verdict: "ENVIRONMENT_WITHHELD",
      rule: "ENTRY_BUDGET",
      details,
    } as const;
    await store.decisions.append([decision], signal);
  };

  return {
    async see(instance, sums, signal) {
      const declared = (await store.fleet.readFleet(signal))?.spec.workspaces;
      const budget = declared && quotaOfClass(declared, instance.class).environmentObjects;
      if (budget === undefined) return void counted.delete(instance.id);
      const heavy = nextHeavyEntries(counted.get(instance.id) ?? new Map(), { sums, environmentOf, budget });
      const excessive = excessiveEntries(heavy);
      // Whoever is connected again is counted anew.
      counted.set(instance.id, new Map([...heavy].filter(([id]) => !excessive.some((one) => one.id === id))));
      for (const one of excessive) await withhold(instance, one, budget, signal);
    },
    keepOnly(instances) {
      for (const id of counted.keys()) if (!instances.has(id)) counted.delete(id);
    },
  };
}
