import { UnavailableError } from "../domain/errors.ts";
import type { EngineClusterSpec } from "../domain/fleet.ts";
import { SYSTEM_NAMESPACE } from "../domain/names.ts";
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
  /**
   * The client of a declared engine cluster, opened once; `undefined` while it is not declared, or its Secret is not there or not in Argosy's
   * own namespace.
   */
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
  const { config, shutdown, log } = context;
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

  const warned = new Set<string>();

  const find = async (wanted: string, signal: AbortSignal): Promise<FoundEngine> => {
    const spec = (await store.fleet.readFleet(signal))?.spec.engineClusters.find((cluster) => cluster.name === wanted);
    if (spec === undefined) return { why: "it is not declared" };
    const found = await readEngineCredentials(spec, api, signal);
    if (found.why !== undefined) return found;
    const known = engines.get(wanted);
    if (known?.key === found.key) return { client: known.client };
    const client = open(wanted, found.credentials);
    engines.set(wanted, { key: found.key, client });
    return { client };
  };
  const engine = async (wanted: string, signal: AbortSignal): Promise<KubeClient | undefined> => {
    const { client, why } = await find(wanted, signal);
    const warning = `${wanted} ${why}`;
    if (why !== undefined && !warned.has(warning)) log.warn({ cluster: wanted, why }, "Going on without an engine cluster");
    if (why !== undefined) warned.add(warning);
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
      const { client, why } = await find(wanted, signal);
      if (client === undefined) throw new UnavailableError(`engine cluster ${wanted}: ${why}`, { code: "main.no-engine-cluster" });
      return client;
    },
    close: async () =>
      void (await Promise.all([api, ...[...engines.values()].map(({ client }) => client)].map((client) => client.close()))),
  };
}

type FoundEngine = { readonly client: KubeClient; readonly why?: undefined } | { readonly client?: undefined; readonly why: string };

interface EngineCredentials {
  readonly why?: undefined;
  /** Changes when the credentials do. */
  readonly key: string;
  readonly credentials: KubeCredentials;
}

/**
 * How to reach an engine cluster, or why that is not known. A Secret of another namespace than Argosy's own is not read, although a fleet that
 * was declared before such were refused may name one: it could be a user's.
 */
export async function readEngineCredentials(
  { access }: Pick<EngineClusterSpec, "access">,
  api: Pick<KubeClient, "get">,
  signal: AbortSignal,
): Promise<EngineCredentials | { readonly why: string }> {
  if (access.kind === "inCluster") return { key: "in-cluster", credentials: loadKubeconfig({ inCluster: true }) };
  const [namespace = "", name = ""] = access.secret.split("/");
  if (namespace !== SYSTEM_NAMESPACE)
    return {
      why: `its kubeconfig Secret is in another namespace than ${SYSTEM_NAMESPACE} and is not read; put it there and declare the fleet with that`,
    };
  const secret = await api.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(SECRET, { namespace, name }, signal);
  const encoded = secret?.data?.["kubeconfig"];
  if (encoded === undefined) return { why: "its kubeconfig Secret is not there or has no key kubeconfig" };
  const text = Buffer.from(encoded, "base64").toString("utf8");
  return { key: `${access.secret}@${secret?.metadata.resourceVersion ?? ""}`, credentials: loadKubeconfig({ text }) };
}
