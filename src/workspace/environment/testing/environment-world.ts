import { stringify } from "yaml";
import { entryCredentialKey } from "../../../domain/environment.ts";
import type { InstanceId, UnitId } from "../../../domain/ids.ts";
import type { Partition } from "../../../domain/partition.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createCountingIds } from "../../../runtime/ids.ts";
import type { KubeObject } from "../../../runtime/kube/resource.ts";
import { createSeededRng } from "../../../runtime/rng.ts";
import type { Store } from "../../../store/port.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createUserResources } from "../../adapters/kubernetes/user-resources.ts";
import { createUserSecrets, SECRETS } from "../../adapters/kubernetes/user-secrets.ts";
import { createWatchedKind, watchedTypeOf } from "../../adapters/kubernetes/watched-kind.ts";
import { USER_KINDS } from "../../api/names.ts";
import type { DeploymentStatus } from "../../api/schema.ts";
import type { UserSecrets, WatchedResources } from "../../port.ts";
import { EVERYTHING_IS_MINE, startWorld, type World } from "../../testing/world.ts";
import { createEnvironmentController } from "../controller.ts";
import type { ClusterAccounts, ClusterProbe } from "../port.ts";
import { createTargetClusters, type TargetClusters } from "./target-clusters.ts";

const ENVIRONMENTS = watchedTypeOf(USER_KINDS.environment);
export const SERVER = "https://prod.example:6443";

/** Ports of a controller, for tests that come between. */
export interface ControllerPorts {
  readonly store: Pick<Store, "intents" | "environments" | "credentials" | "placements" | "shards" | "fleet" | "changes">;
  readonly resources: WatchedResources;
  readonly secrets: UserSecrets;
  readonly probe: ClusterProbe;
  readonly accounts: ClusterAccounts;
}

/** The users' cluster and the database of {@link World}, with environments, Secrets and clusters to deploy to. */
export interface EnvironmentWorld extends World {
  readonly clusters: TargetClusters;
  /** A running controller for environments; `change` comes between it and its ports. */
  startEnvironmentController(change?: (ports: ControllerPorts) => ControllerPorts, partition?: Partition): { stop(): Promise<void> };
  putSecret(token: string, over?: { readonly type?: string; readonly data?: Readonly<Record<string, string>> }): Promise<void>;
  removeSecret(): Promise<void>;
  putEnvironment(
    over?: Readonly<Record<string, unknown>>,
    namespace?: string,
    name?: string,
    annotations?: Readonly<Record<string, string>>,
  ): Promise<void>;
  removeEnvironment(): Promise<void>;
  /** `Type=Status/Reason` of each condition of the environment. */
  saidOfEnvironment(namespace?: string, name?: string): Promise<readonly string[]>;
  /** Messages of its conditions. */
  messagesOfEnvironment(name?: string): Promise<readonly string[]>;
  rows(): ReturnType<Store["environments"]["listKnown"]>;
  /** The token that is stored for the environment. */
  storedToken(): Promise<string | undefined>;
}

export async function startEnvironmentWorld(): Promise<EnvironmentWorld> {
  const world = await startWorld();
  const { server, store, hands, signal } = world;
  const clusters = createTargetClusters();
  const controllers: { stop(): Promise<void> }[] = [];
  const at = { namespace: "jane", name: "prod-creds" };
  const rows = () => store.environments.listKnown("api", { limit: 1_000, after: "" }, signal);
  const ids = createCountingIds();

  return {
    ...world,
    clusters,
    startEnvironmentController(change = (ports) => ports, partition = EVERYTHING_IS_MINE) {
      const common = { clock: systemClock, rng: createSeededRng(`environments ${controllers.length}`), log: silentLog, metrics: noMetrics };
      const watching = { ...common, client: server.client("api") };
      const namespaces = createUserResources(watching);
      const ports = change({
        store,
        resources: createWatchedKind({ ...watching, kind: USER_KINDS.environment }),
        secrets: createUserSecrets({ ...watching, unwatchedEveryMs: 20 }),
        probe: clusters,
        accounts: clusters,
      });
      const tokenLife = { lifeMs: 43_200_000, renewAfterMs: 28_800_000 };
      const controller = createEnvironmentController({ ...common, ...ports, tokenLife, namespaces, apiCluster: "api", partition, ids });
      namespaces.start(signal);
      ports.secrets.start(signal);
      controller.start(signal);
      controllers.push(controller);
      return controller;
    },
    async putSecret(token, { type = "managed-gitops.redhat.com/managed-environment", data } = {}) {
      const kubeconfig = Buffer.from(kubeconfigWith(token)).toString("base64");
      const secret = { apiVersion: "v1", kind: "Secret", metadata: at, type, data: data ?? { kubeconfig } } as KubeObject;
      await hands.apply(SECRETS, secret, { fieldManager: "jane" }, signal);
    },
    removeSecret: () => hands.delete(SECRETS, at, {}, signal),
    async putEnvironment(over = {}, namespace = "jane", name = "prod", annotations = {}) {
      const spec = { apiURL: SERVER, credentialsSecret: at.name, allowInsecureSkipTLSVerify: false, ...over };
      const apiVersion = "managed-gitops.redhat.com/v1alpha1";
      const resource = { apiVersion, kind: ENVIRONMENTS.kind, metadata: { namespace, name, annotations }, spec } as KubeObject;
      await hands.apply(ENVIRONMENTS, resource, { fieldManager: "jane" }, signal);
    },
    removeEnvironment: () => hands.delete(ENVIRONMENTS, { namespace: "jane", name: "prod" }, {}, signal),
    async saidOfEnvironment(namespace = "jane", name = "prod") {
      const found = await hands.get<KubeObject & { readonly status?: DeploymentStatus }>(ENVIRONMENTS, { namespace, name }, signal);
      return (found?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status}/${reason}`);
    },
    async messagesOfEnvironment(name = "prod") {
      const at = { namespace: "jane", name };
      const found = await hands.get<KubeObject & { readonly status?: DeploymentStatus }>(ENVIRONMENTS, at, signal);
      return (found?.status?.conditions ?? []).map(({ message }) => message ?? "");
    },
    rows,
    async storedToken() {
      const [row] = await rows();
      const [workspace] = await store.intents.listKnownWorkspaces("api", { limit: 1_000, after: "" }, signal);
      if (row === undefined || workspace === undefined) return undefined;
      const environment = await store.environments.read(row.uid, signal);
      const [unit] = await store.placements.readUnitsOf(workspace.workspaceId, signal);
      if (environment === undefined) return undefined;
      const account = { unitId: unit?.id ?? ("" as UnitId), instanceId: unit?.owner ?? ("" as InstanceId) };
      const stored = await store.credentials.read(entryCredentialKey(environment, account), signal);
      return stored === undefined ? undefined : (JSON.parse(stored) as { readonly token?: string }).token;
    },
    async close() {
      await Promise.all(controllers.map((controller) => controller.stop()));
      await world.close();
    },
  };
}

function kubeconfigWith(token: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server: SERVER } }],
    users: [{ name: "u", user: { token } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}
