import { UnavailableError } from "../domain/errors.ts";
import type { EngineClusterSpec } from "../domain/fleet.ts";
import { type KubeCredentials, loadKubeconfig } from "../runtime/kube/auth.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createKubeClient } from "../runtime/kube/http.ts";
import type { KubeObject, ResourceType } from "../runtime/kube/resource.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";

/** Clients of every cluster this process speaks to. */
export interface Clusters {
  readonly api: KubeClient;
  /** How instances reach the API cluster. */
  readonly destination: { readonly server: string; readonly caData: string };
  /** The client of a declared engine cluster, opened once; `undefined` while it is not declared or its Secret is not there. */
  engine(name: string): Promise<KubeClient | undefined>;
  /** The same, or an error that says what is missing. */
  needEngine(name: string, signal: AbortSignal): Promise<KubeClient>;
  close(): Promise<void>;
}

const SECRET: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** How to reach the API cluster. Raises `InputError` where that is not said, or the file that says it is not there. */
export function readApiCredentials({ config }: Context): KubeCredentials {
  const { kubeconfig, context: contextName } = config.apiCluster;
  return loadKubeconfig(kubeconfig === undefined ? { inCluster: true } : { file: kubeconfig }, contextName);
}

export function connectClusters(context: Context, store: Pick<Store, "fleet">, credentials: KubeCredentials): Clusters {
  const { config, shutdown } = context;
  const { instanceServer, instanceCa, name } = config.apiCluster;
  const open = (cluster: string, from: KubeCredentials): KubeClient =>
    createKubeClient({
      ...context,
      cluster,
      credentials: from,
      writeConnections: config.limits.writeConnections,
      writesPerSecond: config.limits.writesPerSecond,
    });
  const api = open(name, credentials);
  const engines = new Map<string, { readonly key: string; readonly client: KubeClient }>();

  const engine = async (wanted: string, signal: AbortSignal): Promise<KubeClient | undefined> => {
    const spec = (await store.fleet.readFleet(signal))?.spec.engineClusters.find((cluster) => cluster.name === wanted);
    const found = spec === undefined ? undefined : await credentialsOf(spec, api, signal);
    if (found === undefined) return undefined;
    const known = engines.get(wanted);
    if (known?.key === found.key) return known.client;
    const client = open(wanted, found.credentials);
    engines.set(wanted, { key: found.key, client });
    return client;
  };
  return {
    api,
    destination: {
      server: instanceServer ?? credentials.server,
      caData: Buffer.from(instanceCa ?? credentials.ca ?? "").toString("base64"),
    },
    engine: (wanted) => engine(wanted, shutdown.signal),
    async needEngine(wanted, signal) {
      const client = await engine(wanted, signal);
      if (client === undefined)
        throw new UnavailableError(`engine cluster ${wanted}: its kubeconfig Secret is not there or has no key kubeconfig`, {
          code: "main.no-engine-cluster",
        });
      return client;
    },
    close: async () =>
      void (await Promise.all([api, ...[...engines.values()].map(({ client }) => client)].map((client) => client.close()))),
  };
}

interface FoundCredentials {
  /** Changes when the credentials do. */
  readonly key: string;
  readonly credentials: KubeCredentials;
}

async function credentialsOf({ access }: EngineClusterSpec, api: KubeClient, signal: AbortSignal): Promise<FoundCredentials | undefined> {
  if (access.kind === "inCluster") return { key: "in-cluster", credentials: loadKubeconfig({ inCluster: true }) };
  const [namespace = "", name = ""] = access.secret.split("/");
  const secret = await api.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(SECRET, { namespace, name }, signal);
  const encoded = secret?.data?.["kubeconfig"];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  return { key: `${access.secret}@${secret?.metadata.resourceVersion ?? ""}`, credentials: loadKubeconfig({ text }) };
}
