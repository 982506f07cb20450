import { createFaultProxy } from "../hack/dev-cluster/fault-proxy.ts";
import { ACCOUNTS_NAMESPACE } from "../src/domain/names.ts";
import type { KubeObject } from "../src/runtime/kube/resource.ts";
import { ANNOTATION_REFRESH } from "../src/shard/names.ts";
import { mayWrite } from "./moves-world.ts";
import { openPools, type PoolsWorld } from "./pools-world.ts";
import { TARGET_TYPES } from "./target-cluster.ts";
import { TYPES, type World } from "./world.ts";

const FAR = "far";
const REFRESH = { metadata: { annotations: { [ANNOTATION_REFRESH]: "normal" } } };

type SecretObject = KubeObject & { readonly data?: Readonly<Record<string, string>> };
type ApplicationObject = KubeObject & { readonly status?: { readonly operationState?: { readonly message?: string } } };

/**
 * One class of instances. `failing-1`: the control planes' connection to its engine cluster can be cut, while its
 * controller has another one. `steady-1` and so on: always in reach.
 */
export interface FarWorld {
  /** Declares both and waits until they serve. */
  declare(steady: number): Promise<void>;
  readonly cordon: PoolsWorld["cordon"];
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Restores the connection and the declared fleet. */
  close(): Promise<void>;
  /** The Applications of a workspace on an instance, as its controller has them. */
  standingOn(instance: string, namespace: string): Promise<readonly ApplicationObject[]>;
  /** Requests a refresh of these from an instance's controller now, as a webhook would. */
  poke(instance: string, namespace: string): Promise<void>;
  /** How many accounts may write in a namespace now, by its authorizer. */
  writers(namespace: string): Promise<number>;
  /** Names of the instances that deploy a workspace's applications. */
  instancesOf(namespace: string): Promise<ReadonlySet<string | null>>;
}

export async function openFar(world: World): Promise<FarWorld> {
  const { kube, rest, signal } = world;
  const pools = openPools(world);
  const [near] = pools.document["engineClusters"] as readonly { readonly name: string; readonly kubeconfigSecret: string }[];
  if (near === undefined) throw new Error("no engine cluster is declared");
  const [secretNamespace = "", secretName = ""] = near.kubeconfigSecret.split("/");
  const secret = await kube.get<SecretObject>(TYPES.secret, { namespace: secretNamespace, name: secretName }, signal);
  const text = Buffer.from(secret?.data?.["kubeconfig"] ?? "", "base64").toString();
  const server = /server: "?(https:\/\/[^\s"]+)/.exec(text)?.[1] ?? "";
  const { hostname, port } = new URL(server);
  const proxy = createFaultProxy({ target: { host: hostname, port: Number(port) } });
  const far = text.replace(server, `https://${hostname}:${await proxy.portFor(FAR)}`);

  const standingOn: FarWorld["standingOn"] = async (instance, namespace) => {
    const { items } = await kube.listPage<ApplicationObject>(TYPES.application, { namespace: `argosy-${instance}` }, signal);
    return items.filter(({ metadata }) => metadata.name.startsWith(`${namespace}-`));
  };
  return {
    standingOn,
    cordon: pools.cordon,
    async declare(steady) {
      const metadata = { namespace: secretNamespace, name: FAR };
      const copy = { apiVersion: "v1", kind: "Secret", metadata, stringData: { kubeconfig: far } } as KubeObject;
      await kube.apply(TYPES.secret, copy, { fieldManager: "user" }, signal);
      const [pool] = pools.document.pools;
      const poolOf = (name: string, engineCluster: string, count: number) => ({
        ...{ ...pool, class: { region: "local", tier: "failing", trust: "public" }, name },
        ...{ engineClusters: [engineCluster], instances: { min: count, max: count } },
      });
      const clusters = pools.document["engineClusters"] as readonly object[];
      await pools.declare({
        ...pools.document,
        engineClusters: [...clusters, { ...near, name: FAR, kubeconfigSecret: `${secretNamespace}/${FAR}` }],
        pools: [poolOf("failing", FAR, 1), poolOf("steady", near.name, steady), ...pools.document.pools],
      });
      const names = ["failing-1", ...Array.from({ length: steady }, (_, index) => `steady-${index + 1}`)];
      for (const each of names) await pools.instance(each, "active", (found) => found?.state === "ACTIVE");
    },
    cut: () => proxy.disturb(FAR, { kind: "refuse" }),
    restore: () => proxy.restore(FAR),
    async close() {
      await proxy.restore(FAR);
      await pools.restore();
      await proxy.close();
    },
    async poke(instance, namespace) {
      for (const { metadata } of await standingOn(instance, namespace)) {
        const at = { namespace: `argosy-${instance}`, name: metadata.name };
        await kube.mergePatch(TYPES.application, at, REFRESH, signal).catch(() => undefined);
      }
    },
    async writers(namespace) {
      const options = { namespace: ACCOUNTS_NAMESPACE, labelSelector: "app.kubernetes.io/managed-by=argosy" };
      const { items } = await kube.listPage<KubeObject>(TARGET_TYPES.serviceAccount, options, signal);
      const may = await Promise.all(items.map(({ metadata }) => mayWrite(world, namespace, metadata.name)));
      return may.filter(Boolean).length;
    },
    async instancesOf(namespace) {
      const { items } = await rest.get<{ readonly items: readonly { readonly instance: string | null }[] }>("/v1/applications", {
        namespace,
      });
      return new Set(items.map(({ instance }) => instance));
    },
  };
}
