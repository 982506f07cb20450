import { setTimeout as sleep } from "node:timers/promises";
import { SYSTEM_NAMESPACE } from "../../src/domain/names.ts";
import type { ChartCluster } from "./chart-cluster.ts";

/** What a client of the REST API sees while its pods are replaced. */
export interface RestWatch {
  /** Ends it. `longestMs`: from the first request that was refused to the next that was answered; `asked`: requests in all. */
  end(): Promise<{ readonly longestMs: number; readonly refused: number; readonly asked: number }>;
}

/** Ten requests a second, each on a connection of its own, through the Service. */
const PAUSE_MS = 100;

/** Asks the REST API again and again, through the API server, which chooses a pod of the Service as the cluster does. */
export function watchRest({ api }: ChartCluster, signal: AbortSignal): RestWatch {
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  const path = `/api/v1/namespaces/${SYSTEM_NAMESPACE}/services/https:argosy-api:https/proxy/healthz`;
  const seen = { longestMs: 0, refused: 0, asked: 0 };
  let refusedAt: number | undefined;
  const ask = (): Promise<boolean> =>
    api.client.request({ method: "GET", path }, until).then(
      () => true,
      () => false,
    );
  const note = (isAnswered: boolean): void => {
    seen.asked += 1;
    if (!isAnswered) {
      seen.refused += 1;
      refusedAt ??= performance.now();
    } else if (refusedAt !== undefined) {
      seen.longestMs = Math.max(seen.longestMs, performance.now() - refusedAt);
      refusedAt = undefined;
    }
  };
  const run = async (): Promise<void> => {
    for (;;) {
      const isAnswered = await ask();
      if (until.aborted) return;
      note(isAnswered);
      await sleep(PAUSE_MS, undefined, { signal: until }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async end() {
      ending.abort();
      await running;
      return { ...seen };
    },
  };
}
