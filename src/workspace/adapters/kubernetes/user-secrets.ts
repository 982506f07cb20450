import type { Clock } from "../../../domain/clock.ts";
import { GoneError } from "../../../domain/errors.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createReflector, type Reflector } from "../../../runtime/kube/reflector.ts";
import { type KubeObject, type ResourceType, resourcePath } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { SECRET_TYPES } from "../../api/names.ts";
import { parseSecret } from "../../parse-resource.ts";
import type { ResourceAt, UserSecrets } from "../../port.ts";
import { createUnwatchedSecrets } from "./unwatched-secrets.ts";

export const SECRETS: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

export interface UserSecretsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How often a Secret is asked for that no watch tells of, in ms; a test has no time. */
  readonly unwatchedEveryMs?: number;
}

/**
 * Watches the Secrets of the types users bring, one watch for each type: a Secret's type never changes, and the other Secrets
 * of a cluster (certificates, tokens, releases) are many and none of our business. Only versions are kept. Names that resources
 * give and no watch tells of are asked for again one by one (ADR 0041).
 */
export function createUserSecrets(options: UserSecretsOptions): UserSecrets {
  const { client } = options;
  const listeners = new Map<(at: ResourceAt) => void, (at: ResourceAt) => boolean>();
  const tell = (at: ResourceAt): void => [...listeners.keys()].forEach((listener) => listener(at));
  const watches: readonly Reflector<string>[] = SECRET_TYPES.map((type) =>
    createReflector<string>({
      ...options,
      rng: options.rng.fork(type),
      type: SECRETS,
      fieldSelector: `type=${type}`,
      project: versionOf,
      onChange: ({ at }) => tell({ namespace: at.namespace, name: at.name }),
    }),
  );
  const version = (at: ResourceAt): string | undefined => watches.map((watch) => watch.get(at)).find((found) => found !== undefined);
  const unwatched = createUnwatchedSecrets({
    ...options,
    rng: options.rng.fork("unwatched"),
    everyMs: options.unwatchedEveryMs,
    readUid: (at, signal) => readUid(client, at, signal),
    isWatched: (at) => version(at) !== undefined,
    isNamed: (at) => [...listeners.values()].some((isNamed) => isNamed(at)),
    onChange: tell,
  });
  return {
    start: (signal) => [...watches, unwatched].forEach((each) => each.start(signal)),
    synced: async (signal) => void (await Promise.all(watches.map((watch) => watch.synced(signal)))),
    stopped: async () => void (await Promise.all([...watches, unwatched].map((each) => each.stopped()))),
    version,
    async read({ namespace, name }, signal) {
      const found = await client.get<KubeObject>(SECRETS, { namespace, name }, signal);
      if (version({ namespace, name }) === undefined) unwatched.note({ namespace, name }, found?.metadata.uid ?? "");
      return parseSecret(found);
    },
    subscribe(listener, isNamed) {
      listeners.set(listener, isNamed);
      return () => void listeners.delete(listener);
    },
  };
}

/** Identity without content. */
const METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

async function readUid(client: KubeClient, at: ResourceAt, signal: AbortSignal): Promise<string> {
  try {
    const request = { method: "GET", path: resourcePath(SECRETS, at), accept: METADATA_ONLY } as const;
    return (await client.request<KubeObject>(request, signal)).metadata.uid ?? "";
  } catch (error) {
    if (error instanceof GoneError) return "";
    throw error;
  }
}

/** Uid and version: a Secret that was deleted and made again is another one. */
function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid ?? ""}@${metadata.resourceVersion ?? ""}`;
}
