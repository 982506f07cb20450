import { UnavailableError } from "../domain/errors.ts";
import type { EngineClusterSpec } from "../domain/fleet.ts";
import { SYSTEM_NAMESPACE } from "../domain/names.ts";
import { type KubeCredentials, loadKubeconfig } from "../runtime/kube/auth.ts";
import type { KubeClient } from "../runtime/kube/client.ts";
import { createKubeClient } from "../runtime/kube/http.ts";
import type { KubeObject, ResourceType } from "../runtime/kube/resource.ts";
import type { Store } from "../store/port.ts";
import type { Context } from "./context.ts";
import { foundForAWhile } from "./found-for-a-while.ts";

/** Clients of every cluster this process speaks to. */
export interface Clusters {
  readonly api: KubeClient;
  /** How instances reach the API cluster. */
  readonly destination: { readonly server: string; readonly caData: string };
  /**
   * The client of a declared engine cluster, opened once, and anew within 15 s after its Secret was replaced; `undefined` while it is not declared, or its Secret is not
   * there or not in Argosy's own namespace.
   */
  engine(name: string): Promise<KubeClient | undefined>;
  /** The same with its declaration. */
  engineWithSpec(name: string, signal: AbortSignal): Promise<{ readonly client: KubeClient; readonly spec: EngineClusterSpec } | undefined>;
  /** The same, or an error that says what is missing. */
  needEngine(name: string, signal: AbortSignal): Promise<KubeClient>;
  close(): Promise<void>;
}

/**
 * How long the client of an engine cluster is given out without reading the declaration and its Secret again, in ms. Every probe of every instance asks for it; another Secret
 * is used after that time.
 */
const FOUND_MS = 15_000;
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

  const read = async (wanted: string, signal: AbortSignal): Promise<FoundEngine> => {
    const spec = (await store.fleet.readFleet(signal))?.spec.engineClusters.find((cluster) => cluster.name === wanted);
    if (spec === undefined) return { why: "it is not declared" };
    const found = await readEngineCredentials(spec, api, signal);
    if (found.why !== undefined) return found;
    const known = engines.get(wanted);
    if (known?.key === found.key) return { client: known.client, spec };
    const client = open(wanted, found.credentials);
    engines.set(wanted, { key: found.key, client });
    return { client, spec };
  };
  const find = foundForAWhile(read, { clock: context.clock, ms: FOUND_MS, kept: ({ client }) => client !== undefined });
  const engine = async (wanted: string, signal: AbortSignal) => {
    const { client, spec, why } = await find(wanted, signal);
    const warning = `${wanted} ${why}`;
    if (why !== undefined && !warned.has(warning)) log.warn({ cluster: wanted, why }, "Going on without an engine cluster");
    if (why !== undefined) warned.add(warning);
    return client === undefined ? undefined : { client, spec };
  };
  return {
    api,
    destination: {
      server: instanceServer ?? credentials.server,
      caData: Buffer.from(instanceCa ?? credentials.ca ?? "").toString("base64"),
    },
    engine: async (wanted) => (await engine(wanted, shutdown.signal))?.client,
    engineWithSpec: engine,
    async needEngine(wanted, signal) {
      const { client, why } = await find(wanted, signal);
      if (client === undefined) throw new UnavailableError(`engine cluster ${wanted}: ${why}`, { code: "main.no-engine-cluster" });
      return client;
    },
    close: async () =>
      void (await Promise.all([api, ...[...engines.values()].map(({ client }) => client)].map((client) => client.close()))),
  };
}

type FoundEngine =
  | { readonly client: KubeClient; readonly spec: EngineClusterSpec; readonly why?: undefined }
  | { readonly client?: undefined; readonly spec?: undefined; readonly why: string };

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
