import type { Clock } from "../../../domain/clock.ts";
import type { Rng } from "../../../domain/rng.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import { createReflector, type Reflector } from "../../../runtime/kube/reflector.ts";
import type { KubeObject, ResourceType } from "../../../runtime/kube/resource.ts";
import type { Log } from "../../../telemetry/log.ts";
import type { Metrics } from "../../../telemetry/metrics.ts";
import { SECRET_TYPES } from "../../api/names.ts";
import { parseSecret } from "../../parse-resource.ts";
import type { ResourceAt, UserSecrets } from "../../port.ts";

export const SECRETS: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

export interface UserSecretsOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Watches the Secrets of the types users bring, one watch for each type: a Secret's type never changes, and the other Secrets
 * of a cluster (certificates, tokens, releases) are many and none of our business. Only versions are kept.
 */
export function createUserSecrets(options: UserSecretsOptions): UserSecrets {
  const { client } = options;
  const listeners = new Set<(at: ResourceAt) => void>();
  const watches: readonly Reflector<string>[] = SECRET_TYPES.map((type) =>
    createReflector<string>({
      ...options,
      rng: options.rng.fork(type),
      type: SECRETS,
      fieldSelector: `type=${type}`,
      project: versionOf,
      onChange: ({ at }) => listeners.forEach((listener) => listener({ namespace: at.namespace, name: at.name })),
    }),
  );
  return {
    start: (signal) => watches.forEach((watch) => watch.start(signal)),
    synced: async (signal) => void (await Promise.all(watches.map((watch) => watch.synced(signal)))),
    stopped: async () => void (await Promise.all(watches.map((watch) => watch.stopped()))),
    version: (at) => watches.map((watch) => watch.get(at)).find((version) => version !== undefined),
    read: async ({ namespace, name }, signal) => parseSecret(await client.get<KubeObject>(SECRETS, { namespace, name }, signal)),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** Uid and version: a Secret that was deleted and made again is another one. */
function versionOf({ metadata }: KubeObject): string {
  return `${metadata.uid ?? ""}@${metadata.resourceVersion ?? ""}`;
}
