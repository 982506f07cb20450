import { createKeyedQueue } from "../runtime/keyed-queue.ts";
import { every } from "../runtime/timer/every.ts";
import type { Store } from "../store/port.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { KnowReserved } from "../workspace/environment/adapters/kubernetes/reserved-servers.ts";
import type { Clusters } from "./clusters.ts";
import type { Context } from "./context.ts";

/**
 * API servers of clusters that host instances, under every URL this process knows them by: whoever could deploy there could
 * write what tells Argo CD what to do. Rejects while one of them is declared and cannot be identified, for any server might
 * be it. The API cluster is one of them where it hosts instances itself.
 */
export async function reservedServers(
  { store, clusters }: { readonly store: Pick<Store, "fleet">; readonly clusters: Pick<Clusters, "api" | "destination" | "needEngine"> },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const declared = (await store.fleet.readFleet(signal))?.spec.engineClusters ?? [];
  const engines = await Promise.all(declared.map(({ name }) => clusters.needEngine(name, signal)));
  const servers = engines.map(({ server }) => server);
  return servers.includes(clusters.api.server) ? [...servers, clusters.destination.server] : servers;
}

/** Their certificates change when somebody renews them; a cluster that is lost an hour after it came should be known. */
const LEARN_MS = 5 * 60_000;

interface LearnerDeps extends Pick<Context, "clock" | "rng" | "log"> {
  readonly metrics: Metrics;
  readonly reserved: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly know: KnowReserved;
}

/**
 * Reads at the start and every five minutes what gives reserved servers away, whether or not anybody visits a user's cluster: once one of them
 * is lost nobody can read it any more, and who does not know it visits none.
 */
export function createReservedLearner({ reserved, know, ...deps }: LearnerDeps) {
  const ending = new AbortController();
  const queue = createKeyedQueue({
    ...deps,
    name: "reserved-servers",
    concurrency: 1,
    async work(_key, signal) {
      const servers = await reserved(signal);
      await Promise.all(servers.map((server) => know(new URL(server), servers)));
    },
  });
  const learnSoon = (): void => queue.add("servers");
  const stop = async (): Promise<void> => {
    ending.abort(new Error("the process stops"));
    await queue.stop();
  };
  return {
    start(signal: AbortSignal): void {
      signal.addEventListener("abort", () => void stop(), { once: true });
      every({ ...deps, ms: LEARN_MS, run: learnSoon }, ending.signal);
      queue.start();
      learnSoon();
    },
    stop,
  };
}
