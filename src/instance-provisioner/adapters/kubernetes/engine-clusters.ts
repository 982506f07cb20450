import type { InstanceId } from "../../../domain/ids.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { EngineClusterPort, EngineClusters } from "../../port.ts";
import { createEngineCluster } from "./engine-cluster.ts";
import type { WatchOptions } from "./watched-objects.ts";

export interface EngineClustersOptions extends Omit<WatchOptions, "client"> {
  /** A client for the engine cluster of that name. `undefined`: it is not declared, or its credentials do not exist. */
  readonly clientOf: (cluster: string) => Promise<KubeClient | undefined>;
  /** Ends all watches. */
  readonly signal: AbortSignal;
}

interface Open {
  readonly client: KubeClient;
  readonly cluster: EngineClusterPort;
  readonly ending: AbortController;
  /** When to check again whether the credentials are still the same, on the monotonic clock. */
  readonly checkAtMs: number;
}

/** How often credentials are checked, in ms: new ones are used after this time at most. */
const CHECK_MS = 60_000;

/** Opens each engine cluster when it is first used, and again when its credentials have changed. */
export function createEngineClusters(options: EngineClustersOptions): EngineClusters {
  const { clientOf, clock, signal } = options;
  const listeners = new Set<(id: InstanceId) => void>();
  const onChange = (id: InstanceId): void => listeners.forEach((listener) => listener(id));
  const open = new Map<string, Open>();
  const asking = new Map<string, Promise<Open | undefined>>();

  const connect = (name: string, client: KubeClient): Open => {
    const ending = new AbortController();
    const cluster = createEngineCluster(
      { ...options, client, rng: options.rng.fork(name) },
      onChange,
      AbortSignal.any([signal, ending.signal]),
    );
    return { client, cluster, ending, checkAtMs: clock.monotonicMs() + CHECK_MS };
  };
  const ask = async (name: string): Promise<Open | undefined> => {
    const client = await clientOf(name);
    const known = open.get(name);
    if (client !== undefined && client === known?.client) return { ...known, checkAtMs: clock.monotonicMs() + CHECK_MS };
    known?.ending.abort(new Error("the engine cluster has other credentials now"));
    return client === undefined ? undefined : connect(name, client);
  };
  const remember = async (name: string): Promise<Open | undefined> => {
    try {
      const found = await ask(name);
      if (found === undefined) open.delete(name);
      else open.set(name, found);
      return found;
    } finally {
      asking.delete(name);
    }
  };
  return {
    async get(name) {
      const known = open.get(name);
      if (known !== undefined && clock.monotonicMs() < known.checkAtMs) return known.cluster;
      const answer = asking.get(name) ?? remember(name);
      asking.set(name, answer);
      return (await answer)?.cluster;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
