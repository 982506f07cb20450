import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import pg from "pg";
import { parseConfig } from "../../../config.ts";
import { type Clock, millis } from "../../../domain/clock.ts";
import type { MemberId } from "../../../domain/ids.ts";
import { startRoles } from "../../../main/roles.ts";
import { systemClock } from "../../../runtime/clock.ts";
import type { KubeClient } from "../../../runtime/kube/client.ts";
import type { Shutdown } from "../../../runtime/shutdown.ts";
import { createKeyRing } from "../../../store/adapters/postgres/credentials/envelope.ts";
import { createPostgresStore } from "../../../store/adapters/postgres/postgres-store.ts";
import { createMembership } from "../../../store/member/keep-membership.ts";
import type { Store } from "../../../store/port.ts";
import { createRetention } from "../../../store/retention/controller.ts";
import { type Sent, sentBy } from "../../../store/testing/explain.ts";
import { createHealthRegistry } from "../../../telemetry/health.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { noMetrics } from "../../../telemetry/metrics.ts";
import { createPromMetrics } from "../../../telemetry/prom-metrics.ts";
import type { SimulatedProcess } from "../../fleet/argosy.ts";
import { DECLARED_FLEET } from "../../fleet/declared.ts";
import { startFleet } from "../../fleet/fleet.ts";
import { createUsers } from "../../fleet/users.ts";
import { createHistory } from "../../history.ts";
import { createFailpoints } from "../../world/failpoints.ts";
import { createNetwork } from "../../world/network.ts";
import { createWorld, type World } from "../../world/world.ts";

export interface ControlPlane {
  /** Lets so much simulated time pass, in ms. It stands still while statements are under way. */
  pass(forMs: number): Promise<void>;
  /** The same, and what was sent to the database meanwhile, by the method of the store that sent it; each text once, with the longest values. */
  watch(forMs: number): Promise<readonly Sent[]>;
  readonly store: Store;
  /** Ends everything. */
  close(): Promise<void>;
}

interface ControlPlaneOptions {
  /** A migrated database without rows. */
  readonly url: string;
  readonly workspaces: number;
}

/** Statements are answered within so much simulated time, in ms, however long they take. */
const STEP_MS = 100;
const LEASES = { ttlMs: 60_000, renewMs: 5_000 };
/** Time in which the first applications are recorded, and then in which they are deployed, in ms. */
const [RECORDED_MS, DEPLOYED_MS] = [20_000, 120_000];
const ALL_ROLES = ["workspace", "scheduler", "reconciler", "provisioner", "health"] as const;

/**
 * One process with all roles of the control plane, as the composition root starts them, on a real database, and around it a small simulated fleet in which everything
 * is deployed and nothing happens any more.
 */
export async function startControlPlane({ url, workspaces }: ControlPlaneOptions): Promise<ControlPlane> {
  const world = createWorld("control plane at rest", createHistory(false), Number.POSITIVE_INFINITY);
  const network = createNetwork(world, createFailpoints(world.rng.fork("faults"), [], undefined));
  const clock = clockOf(world);
  const keyRing = createKeyRing("first", new Map([["first", new Uint8Array(32).fill(7)]]));
  const opened = await createPostgresStore({ url, keyRing, clock, log: silentLog, metrics: noMetrics, poolSize: 4 });
  const { store, underWay } = followed(opened);
  const ending = new AbortController();
  const stops: ((signal: AbortSignal) => Promise<void>)[] = [];
  const start = (process: Omit<SimulatedProcess, "store">): void => startAll({ process, store, clock, ending, stops });
  const fleet = await startFleet({
    world,
    network,
    members: 1,
    instances: 1,
    servers: 1,
    breaker: (ports) => ports,
    argosy: { store, start },
  });
  const users = createUsers(fleet, workspaces);
  for (let index = 1; index <= workspaces; index += 1) users.create(`team-${index}`);

  const pass = async (forMs: number): Promise<void> => {
    for (let passed = 0; passed < forMs; passed += STEP_MS) {
      await world.run(STEP_MS);
      do await setImmediate();
      while (underWay() > 0);
    }
  };
  await pass(RECORDED_MS);
  await proveAccess(url);
  await pass(DEPLOYED_MS);
  return {
    pass,
    store,
    async watch(forMs) {
      const sent = await sentBy(
        () => pass(forMs),
        () => methods.getStore() ?? "",
      );
      const lengthOf = ({ values }: Sent): number => JSON.stringify(values).length;
      const known = new Map<string, Sent>();
      for (const each of sent.filter(({ by }) => by !== ""))
        if (lengthOf(known.get(each.text) ?? { ...each, values: [] }) < lengthOf(each) || !known.has(each.text)) known.set(each.text, each);
      return [...known.values()];
    },
    async close() {
      ending.abort(new Error("the control plane ends"));
      world.close();
      for (const stop of stops.reverse()) await stop(AbortSignal.timeout(1_000)).catch(() => undefined);
      await opened.close();
    },
  };
}

interface Started {
  readonly process: Omit<SimulatedProcess, "store">;
  readonly store: Store;
  readonly clock: Clock;
  readonly ending: AbortController;
  readonly stops: ((signal: AbortSignal) => Promise<void>)[];
}

function startAll({ process: { party, api, engines }, store, clock, ending, stops }: Started): void {
  const parsed = parseConfig({ health: { canaries: false } }, {});
  if (!parsed.ok) throw new Error(`the configuration is wrong: ${JSON.stringify(parsed.complaints)}`);
  const { config } = parsed;
  const { rng, ids } = party;
  const { signal } = ending;
  const shutdown: Shutdown = {
    ...{ asked: signal, signal, handOver: () => undefined, stop: async () => undefined },
    add: (_name, stop) => void stops.push(stop),
  };
  const memberId = ids.next<MemberId>();
  const common = { clock, rng, ids, log: silentLog, metrics: createPromMetrics({ process: false }), memberId };
  const context = {
    ...common,
    config: { ...config, roles: ALL_ROLES },
    env: {},
    version: "0",
    readiness: createHealthRegistry(),
    shutdown,
  };
  const clusters = clustersOf(api, engines, clock);
  const membership = createMembership({ ...common, store: store.members, changes: store.changes, roles: ["api"], ...LEASES });
  membership.start(ending.signal);
  stops.push(() => membership.stop());
  const retention = createRetention({ ...common, store: store.retention, members: store.members, keep: config.retention });
  // Once an hour. It begins with a run, which has to come when there is something.
  clock.after(RECORDED_MS + DEPLOYED_MS + 1_000, () => retention.start(ending.signal));
  stops.push(() => retention.stop());
  startRoles({ context, store, clusters, membership });
}

/** Clients of the simulated clusters. Each instance's processes show metrics of an instance with nothing to do. */
function clustersOf(api: KubeClient, engines: readonly KubeClient[], clock: Clock) {
  const shown = engines.map((client) => ({
    ...client,
    watchLines: (path: string, query: Parameters<KubeClient["watchLines"]>[1], signal: AbortSignal) =>
      path.endsWith("/proxy/metrics") ? metricsAt(clock.monotonicMs()) : client.watchLines(path, query, signal),
  }));
  const find = (name: string) => shown.find(({ cluster }) => cluster === name);
  return {
    api,
    destination: { server: "https://api.example", caData: "Y2E=" },
    engine: async (name: string) => find(name),
    async engineWithSpec(name: string) {
      const [client, spec] = [find(name), DECLARED_FLEET.engineClusters.find((cluster) => cluster.name === name)];
      return client === undefined || spec === undefined ? undefined : { client, spec: { ...spec, reach: "proxy" as const } };
    },
    async needEngine(name: string) {
      const client = find(name);
      if (client === undefined) throw new Error(`there is no engine cluster ${name}`);
      return client;
    },
    close: async () => undefined,
  };
}

const QUEUES = ["app_reconciliation_queue", "app_operation_processing_queue", "project_reconciliation_queue"];

/** A controller's page after so much time, with ten comparisons a second. */
async function* metricsAt(elapsedMs: number): AsyncGenerator<string> {
  const counted = Math.floor(elapsedMs / 100);
  yield "# TYPE argocd_app_info gauge";
  yield `argocd_app_reconcile_bucket{dest_server="https://api.example",namespace="a",le="0.25"} ${counted}`;
  yield `argocd_app_reconcile_bucket{dest_server="https://api.example",namespace="a",le="+Inf"} ${counted}`;
  yield `argocd_app_reconcile_sum{dest_server="https://api.example",namespace="a"} ${counted / 50}`;
  yield `argocd_app_reconcile_count{dest_server="https://api.example",namespace="a"} ${counted}`;
  yield `argocd_redis_request_total{command="set",failed="false",hostname="vm",initiator="controller"} ${counted}`;
  yield "process_start_time_seconds 1.795e+09";
  yield `process_cpu_seconds_total ${30 + elapsedMs / 50_000}`;
  for (const name of QUEUES) {
    const labels = `controller="${name}",name="${name}"`;
    yield `workqueue_depth{${labels},priority=""} 0`;
    yield `workqueue_queue_duration_seconds_bucket{${labels},le="0.1"} ${counted}`;
    yield `workqueue_queue_duration_seconds_bucket{${labels},le="+Inf"} ${counted}`;
    yield `workqueue_queue_duration_seconds_sum{${labels}} ${counted / 1_000}`;
    yield `workqueue_queue_duration_seconds_count{${labels}} ${counted}`;
    yield `workqueue_work_duration_seconds_sum{${labels}} ${counted / 100}`;
  }
}

/** Simulated time that begins now: the database has a clock of its own. */
function clockOf(world: World): Clock {
  const began = systemClock.now();
  return {
    now: () => millis(began + Math.floor(world.elapsedMs())),
    monotonicMs: world.elapsedMs,
    after: (ms, run) => world.schedule(ms, "timer", run),
  };
}

/** The repositories are simulated too, and no `git` reads them: their rows say what a probe would have found. */
async function proveAccess(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("update repository_access set state = 'proven', outcome = 'READABLE', probed_at = now(), proven_at = now()");
  await client.end();
}

const methods = new AsyncLocalStorage<string>();

/** The same store, whose calls are counted while they are under way, and known by their names to what they send. */
function followed(store: Store): { readonly store: Store; readonly underWay: () => number } {
  let underWay = 0;
  const following = (part: string, of: object): object =>
    new Proxy(of, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]): unknown => {
          const result: unknown = methods.run(`${part}.${String(name)}`, () => Reflect.apply(member, target, args));
          if (!(result instanceof Promise)) return result;
          underWay += 1;
          return result.finally(() => {
            underWay -= 1;
          });
        };
      },
    });
  const parts = Object.entries(store).map(([name, part]: [string, unknown]) => [
    name,
    typeof part === "object" && part !== null && name !== "changes" ? following(name, part) : part,
  ]);
  return { store: Object.fromEntries(parts) as Store, underWay: () => underWay };
}
