import type { Instance } from "../../domain/instance.ts";
import { ACCOUNTS_NAMESPACE, DEPLOYER_ROLE, READER_ROLE } from "../../domain/names.ts";
import { CLUSTER_ROLES, ENGINE_SECRETS, PROJECTS, ROLE_BINDINGS, SERVICE_ACCOUNTS } from "../../reconciler/adapters/kubernetes/types.ts";
import type { KubeClient } from "../../runtime/kube/client.ts";
import type { PartRules } from "../../store/adapters/memory/part-rules.ts";
import type { Store } from "../../store/port.ts";
import { USER_DEPLOYMENTS } from "../../workspace/adapters/kubernetes/user-resources.ts";
import { type Authority, createAuthority } from "../models/authority.ts";
import { CONFIG_MAPS } from "../models/engine/cluster-cache.ts";
import { startEngine } from "../models/engine/engine.ts";
import { createGit, type Git } from "../models/git.ts";
import { createSimulatedClient } from "../models/kubernetes/client.ts";
import { runClusterControllers } from "../models/kubernetes/cluster-controllers.ts";
import { createKubeServer, type KubeServer, NAMESPACE_TYPE } from "../models/kubernetes/server.ts";
import { createSimulatedDatabase, type SimulatedDatabase } from "../models/store.ts";
import type { Network } from "../world/network.ts";
import { createParty, type Party } from "../world/party.ts";
import type { World } from "../world/world.ts";
import { type Breaker, type SimulatedProcess, startArgosy } from "./argosy.ts";
import { DECLARED, DECLARED_FLEET, ENGINE_CLUSTER, FAR_CLUSTER, FLEET_OF_CLASSES, standingInstance } from "./declared.ts";

/** A whole fleet with its surroundings. */
export interface Fleet {
  readonly world: World;
  readonly network: Network;
  readonly database: SimulatedDatabase;
  readonly api: KubeServer;
  /** The one that most instances stand on comes first. */
  readonly engines: readonly KubeServer[];
  readonly git: Git;
  readonly authority: Authority;
  readonly instances: readonly Instance[];
  /** Processes that can be crashed, by name, in the order they were started. */
  readonly names: readonly string[];
  party(name: string): Party;
  /** Ends a process without warning and starts it anew after that long. */
  crash(name: string, downMs: number): void;
  client(party: Party, server: KubeServer): KubeClient;
  /** The engine cluster an instance stands on. */
  engineOf(instance: Pick<Instance, "engineCluster">): KubeServer;
}

export interface FleetOptions {
  readonly world: World;
  readonly network: Network;
  readonly members: number;
  readonly instances: number;
  /** How many of them, the first, stand on an engine cluster of their own. */
  readonly far?: number;
  /** How many of them, the last, are of another class; absent: there is one class. */
  readonly trusted?: number | undefined;
  /** API servers behind the address of the users' cluster. */
  readonly servers: number;
  /** How long one comparison takes an instance, in ms: from, to. */
  readonly comparisonMs?: readonly [number, number];
  readonly hasWebhook?: boolean;
  readonly breaker: Breaker;
  /** What the database allows about parts that change hands; absent: what it does. */
  readonly rules?: PartRules | undefined;
  /** Processes of Argosy on another database than the simulated one, and that database, in which the fleet is declared. */
  readonly argosy?: { readonly store: Pick<Store, "fleet">; readonly start: (process: Omit<SimulatedProcess, "store">) => void };
}

const never = new AbortController().signal;

/** Builds a fleet whose instances are empty, and starts its processes. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { world, network, members, instances: wanted, far = 0, trusted, servers, breaker, argosy } = options;
  const database = createSimulatedDatabase(world, network, options.rules);
  const api = createKubeServer(world, "api");
  const engines = [ENGINE_CLUSTER, ...(far === 0 ? [] : [FAR_CLUSTER])].map((name) => createKubeServer(world, name));
  const git = createGit(world);
  const instances = Array.from({ length: wanted }, (_, index) =>
    standingInstance(index + 1, index < far ? FAR_CLUSTER : ENGINE_CLUSTER, index >= wanted - (trusted ?? 0)),
  );
  const engineOf = ({ engineCluster }: Pick<Instance, "engineCluster">): KubeServer =>
    engines.find(({ name }) => name === engineCluster) as KubeServer;
  const authority = createAuthority(world, api, servers);
  runClusterControllers(world, api, [USER_DEPLOYMENTS, CONFIG_MAPS, ROLE_BINDINGS, SERVICE_ACCOUNTS, ENGINE_SECRETS]);
  for (const engine of engines) runClusterControllers(world, engine, [PROJECTS]);
  prepare(api, [ACCOUNTS_NAMESPACE]);
  api.objects.create(CLUSTER_ROLES, "", { sent: { metadata: { name: DEPLOYER_ROLE } }, dryRun: false });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] }];
  api.objects.create(CLUSTER_ROLES, "", { sent: { metadata: { name: READER_ROLE }, rules }, dryRun: false });
  for (const instance of instances) prepare(engineOf(instance), [instance.namespace]);
  const declared = (argosy?.store ?? database.rows).fleet;
  await declared.applyFleet(trusted === undefined ? DECLARED_FLEET : FLEET_OF_CLASSES, "simulation", never);
  for (const instance of instances) await declared.insertInstance(instance, DECLARED, never);

  const parties = new Map<string, Party>();
  const lives = new Map<string, number>();
  const client = (party: Party, server: KubeServer) => createSimulatedClient({ world, network, party, server });
  const starts = new Map<string, (party: Party) => void>();
  for (let index = 1; index <= members; index += 1)
    starts.set(`argosy-${index}`, (party) => {
      const process = {
        party,
        api: client(party, api),
        engines: engines.map((engine) => client(party, engine)),
        isSingleServer: servers === 1,
      };
      if (argosy !== undefined) argosy.start(process);
      else startArgosy({ ...process, store: database.connect(party) }, breaker);
    });
  const { comparisonMs, hasWebhook = false } = options;
  const pace = { hasWebhook, ...(comparisonMs === undefined ? {} : { comparisonMs }) };
  for (const instance of instances) {
    const { name, namespace } = instance;
    const own = (party: Party) => client(party, engineOf(instance));
    starts.set(name, (party) => startEngine({ party, namespace, own: own(party), managed: client(party, api), git, ...pace }));
  }

  const start = (name: string): void => {
    const life = lives.get(name) ?? 0;
    lives.set(name, life + 1);
    const party = createParty(world, name, life);
    parties.set(name, party);
    starts.get(name)?.(party);
  };
  for (const name of starts.keys()) world.schedule(0, `${name} starts`, () => start(name));
  const party = (name: string): Party => {
    const found = parties.get(name);
    if (found === undefined) throw new Error(`there is nobody called ${name}`);
    return found;
  };
  const crash = (name: string, downMs: number): void => {
    party(name).kill();
    world.schedule(downMs, `${name} starts`, () => start(name));
  };
  return { world, network, database, api, engines, git, authority, instances, names: [...starts.keys()], party, crash, client, engineOf };
}

function prepare({ objects }: KubeServer, namespaces: readonly string[]): void {
  for (const name of namespaces) objects.create(NAMESPACE_TYPE, "", { sent: { metadata: { name } }, dryRun: false });
}
