import { expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { systemRng } from "../runtime/rng.ts";
import { createVirtualClock } from "../runtime/testing/virtual-clock.ts";
import { silentLog } from "../telemetry/log.ts";
import { noMetrics } from "../telemetry/metrics.ts";
import { createReservedLearner, reservedServers } from "./reserved-servers.ts";

const never = new AbortController().signal;
type Parts = Parameters<typeof reservedServers>[0];

function parts(engines: Readonly<Record<string, string | undefined>>): Parts {
  return {
    store: {
      fleet: {
        readFleet: async () => ({ spec: { engineClusters: Object.keys(engines).map((name) => ({ name })) } }),
      } as unknown as Parts["store"]["fleet"],
    },
    clusters: {
      api: { server: "https://api.example" } as KubeClient,
      destination: { server: "https://kubernetes.default.svc", caData: "" },
      needEngine: async (name) => {
        const server = engines[name];
        if (server === undefined) throw new UnavailableError("no such Secret", { code: "main.no-engine-cluster" });
        return { server } as KubeClient;
      },
    },
  };
}

it("names every engine cluster, and the API cluster as instances know it where it hosts some", async () => {
  expect(await reservedServers(parts({ a: "https://a.example" }), never)).toEqual(["https://a.example"]);
  expect(await reservedServers(parts({ a: "https://api.example" }), never)).toEqual([
    "https://api.example",
    "https://kubernetes.default.svc",
  ]);
});

it("names none rather than some when a declared cluster cannot be identified, for any server might be that", async () => {
  await expect(reservedServers(parts({ a: "https://a.example", b: undefined }), never)).rejects.toThrow(UnavailableError);
});

it("reads what gives them away at the start and every five minutes, and again where they could not be named", async () => {
  const clock = createVirtualClock();
  const read: string[] = [];
  let isNamed = false;
  const learner = createReservedLearner({
    ...{ clock, rng: systemRng, log: silentLog, metrics: noMetrics },
    reserved: async () => {
      if (!isNamed) throw new UnavailableError("no such Secret", { code: "main.no-engine-cluster" });
      return ["https://a.example", "https://b.example/path"];
    },
    async know(target) {
      read.push(target.href);
      return undefined;
    },
  });
  learner.start(never);
  await clock.advance(1_000);
  expect(read).toEqual([]);
  isNamed = true;
  await clock.advance(60_000);
  const servers = ["https://a.example/", "https://b.example/path"];
  expect(read).toEqual(servers);
  await clock.advance(6 * 60_000);
  expect(read).toEqual([...servers, ...servers]);
  await learner.stop();
  await clock.advance(20 * 60_000);
  expect(read).toEqual([...servers, ...servers]);
});
