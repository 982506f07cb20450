import { describe } from "vitest";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { systemClock } from "../../clock.ts";
import { systemRng } from "../../rng.ts";
import { loadKubeconfig } from "../auth.ts";
import type { KubeClient } from "../client.ts";
import { createKubeClient } from "../http.ts";
import { type FakeApiServerOptions, startFakeApiServer } from "./fake-api-server.ts";
import { realApiServer } from "./real-api-server.ts";

const realKubeconfig = await realApiServer();

/** An API server a contract suite runs against. */
export interface Subject {
  readonly client: KubeClient;
  close(): Promise<void>;
}

export interface ApiServersOptions {
  readonly fake?: FakeApiServerOptions;
  /** What the real one needs before the suite: it knows no kinds but its own. */
  readonly prepare?: (client: KubeClient) => Promise<void>;
}

/** Runs one suite against the fake and, where there is one, against a real API server; `%s` in the title becomes which. */
export function describeOnApiServers(
  title: string,
  suite: (name: string, start: () => Promise<Subject>) => void,
  { fake = {}, prepare = async () => {} }: ApiServersOptions = {},
): void {
  const startFake = async (): Promise<Subject> => {
    const server = await startFakeApiServer(fake);
    return { client: server.client(), close: () => server.close() };
  };
  const connectReal = async (): Promise<Subject> => {
    const credentials = loadKubeconfig({ file: realKubeconfig ?? "" });
    const common = { clock: systemClock, rng: systemRng, log: silentLog, metrics: noMetrics };
    const client = createKubeClient({ ...common, cluster: "real", credentials });
    await prepare(client);
    return { client, close: () => client.close() };
  };
  describe.each([["the fake", startFake]] as const)(title, suite);
  describe.skipIf(realKubeconfig === undefined).each([["a real API server", connectReal]] as const)(title, suite);
}
