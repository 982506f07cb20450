import { UnavailableError } from "../../../domain/errors.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { type KubeObject, resourcePath } from "../../../runtime/kube/resource.ts";
import type { ReadMetrics } from "../../port.ts";
import { PODS } from "./types.ts";

/** Lines of metrics are short. A longer one means that the page is something else. */
const LONGEST_LINE = 65_536;

export type PodAtAddress = KubeObject & { readonly status?: { readonly podIP?: string } };

export function podKey({ namespace, pod }: { readonly namespace: string; readonly pod: string }): string {
  return `${namespace}/${pod}`;
}

/** Reads a pod's metrics at the pod's address, where this process reaches pods. `known`: addresses that were seen a moment ago, by `podKey`. */
export function readByAddress(client: Pick<KubeClient, "get">, known: ReadonlyMap<string, string> = new Map()): ReadMetrics {
  return async function* ({ namespace, pod, port }, signal) {
    const address =
      known.get(podKey({ namespace, pod })) ?? (await client.get<PodAtAddress>(PODS, { namespace, name: pod }, signal))?.status?.podIP;
    if (address === undefined) throw unavailable("finding a pod's address", { pod, namespace });
    const host = address.includes(":") ? `[${address}]` : address;
    const response = await fetch(`http://${host}:${port}/metrics`, { signal, redirect: "error" }).catch((cause: unknown) => {
      throw unavailable("reading a pod's metrics", { pod, namespace }, cause);
    });
    if (!response.ok || response.body === null) throw unavailable(`reading a pod's metrics: HTTP ${response.status}`, { pod, namespace });
    yield* linesOf(response.body);
  };
}

/** Reads a pod's metrics through the API server, where this process does not reach pods. */
export function readByProxy(client: Pick<KubeClient, "watchLines">): ReadMetrics {
  return ({ namespace, pod, port }, signal) => {
    const path = `${resourcePath(PODS, { namespace })}/${encodeURIComponent(`${pod}:${port}`)}/proxy/metrics`;
    return client.watchLines(path, {}, signal);
  };
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LONGEST_LINE) throw unavailable("reading a pod's metrics: a line does not end", {});
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function unavailable(doing: string, context: Readonly<Record<string, string>>, cause?: unknown): UnavailableError {
  return new UnavailableError(doing, { code: "instance.no-metrics", context, ...(cause === undefined ? {} : { cause }) });
}
