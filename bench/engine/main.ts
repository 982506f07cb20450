import process from "node:process";
import { openKube } from "../../hack/fleet/connect.ts";
import { GoneError } from "../../src/domain/errors.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { createKeyedQueue, type WorkResult } from "../../src/runtime/keyed-queue.ts";
import { createReflector } from "../../src/runtime/kube/reflector.ts";
import { systemRng } from "../../src/runtime/rng.ts";
import { noMetrics } from "../../src/telemetry/metrics.ts";
import { createLog } from "../../src/telemetry/pino-log.ts";
import { APPLICATIONS } from "../world/kinds.ts";
import { type EngineScript, nextEngineStep, seeApplication } from "./scripted-status.ts";

/** How many patches are under way at once. Argo CD has more processors, but they spend their time comparing, not writing. */
const AT_ONCE = 8;

/** The scripted engine as a program. It stands in for the controllers of all instances of one cluster, until SIGTERM. */
function runEngine(kubeconfig: string, script: EngineScript): void {
  const client = openKube(kubeconfig);
  const ending = new AbortController();
  const common = { clock: systemClock, rng: systemRng, metrics: noMetrics, log: createLog({ level: "warn", format: "json", fields: {} }) };

  async function work(key: string, signal: AbortSignal): Promise<WorkResult | void> {
    const [namespace = "", name = ""] = key.split("/");
    const seen = reflector.get({ namespace, name });
    if (seen === undefined) return;
    const step = nextEngineStep(seen, systemClock.now(), script);
    if (step.kind === "wait") return { requeueAfterMs: step.ms };
    if (step.kind === "rest") return;
    await client.mergePatch(APPLICATIONS, seen, step.patch, signal).catch((error: unknown) => {
      if (!(error instanceof GoneError)) throw error;
    });
  }

  const queue = createKeyedQueue({ ...common, name: "engine", concurrency: AT_ONCE, work });
  const reflector = createReflector({
    ...common,
    client,
    type: APPLICATIONS,
    project: seeApplication,
    onChange: ({ kind, at }) => {
      if (kind === "upsert") queue.add(`${at.namespace}/${at.name}`);
    },
  });
  process.once("SIGTERM", () => {
    ending.abort(new Error("the engine stops"));
    void queue.stop().then(() => process.exit(0));
  });
  queue.start();
  reflector.start(ending.signal);
}

const [kubeconfig = "", resources = "", history = "", reconciliation = ""] = process.argv.slice(2);
runEngine(kubeconfig, {
  resources: resources.split(",").map(Number),
  history: Number(history),
  reconciliationSeconds: Number(reconciliation),
});
