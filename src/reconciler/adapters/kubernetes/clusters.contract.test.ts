import { expect, test } from "vitest";
import { UnavailableError } from "../../../domain/errors.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { startFakeApiServer } from "../../../runtime/kube/testing/fake-api-server.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createEngines } from "./clusters.ts";

test("an engine cluster is watched once, from the first time it is asked for, and asked for again when it was not there", async () => {
  const server = await startFakeApiServer();
  const abort = new AbortController();
  const answers: (KubeClient | undefined | Error)[] = [
    undefined,
    new UnavailableError("reading a kubeconfig", { code: "test" }),
    server.client("eu-1"),
  ];
  const clientOf = async (): Promise<KubeClient | undefined> => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const common = { clock: systemClock, rng: createSeededRng("engines"), log: silentLog, metrics: noMetrics };
  const engines = createEngines({ ...common, clientOf, signal: abort.signal });
  expect(await engines.get("eu-1")).toBeUndefined();
  await expect(engines.get("eu-1")).rejects.toBeInstanceOf(UnavailableError);
  const [one, same] = await Promise.all([engines.get("eu-1"), engines.get("eu-1")]);
  expect(one).toBe(same);
  await one?.synced(abort.signal);
  expect(one?.isSynced()).toBe(true);
  abort.abort();
  await server.close();
});
