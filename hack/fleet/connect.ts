import { systemClock } from "../../src/runtime/clock.ts";
import { loadKubeconfig } from "../../src/runtime/kube/auth.ts";
import type { KubeClient } from "../../src/runtime/kube/client.ts";
import { createKubeClient } from "../../src/runtime/kube/http.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";

/** A client for the cluster of a kubeconfig file, as the user it names. */
export function openKube(file: string): KubeClient {
  return createKubeClient({
    cluster: "main",
    credentials: loadKubeconfig({ file }),
    clock: systemClock,
    rng: systemRng,
    metrics: noMetrics,
  });
}
