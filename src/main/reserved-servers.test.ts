import { expect, it } from "vitest";
import { UnavailableError } from "../domain/errors.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { reservedServers } from "./reserved-servers.ts";

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

it("names none rather than some when a declared cluster cannot be told, for any server might be that", async () => {
  await expect(reservedServers(parts({ a: "https://a.example", b: undefined }), never)).rejects.toThrow(UnavailableError);
});
