import { examine } from "./api/doctor/examine.ts";
import type { ApiDeps } from "./api/port.ts";
import { type Api, createApi, type ServerCertificate } from "./api/server.ts";
import { parseSchedule } from "./domain/cron.ts";
import { planFleet } from "./instance-provisioner/fleet-plan.ts";
import { parseFleetDocument } from "./instance-provisioner/fleet-schema/parse-fleet.ts";
import { renderFleetDocument } from "./instance-provisioner/fleet-schema/render-fleet.ts";
import { createUsageReader } from "./instance-provisioner/read-usage.ts";
import { clusterUid } from "./main/adoption.ts";
import { keepApiCertificate, readApiCertificate } from "./main/api-certificate.ts";
import { connectClusters, readApiCredentials } from "./main/clusters.ts";
import type { Context } from "./main/context.ts";
import { makeIdentities } from "./main/identities.ts";
import { insideAddressesOf } from "./main/inside-addresses-of.ts";
import { observePolicies } from "./main/observe-policies.ts";
import { openStore } from "./main/open-store.ts";
import { createOwnRights } from "./main/own-rights.ts";
import { waitForNewDatabase } from "./main/recovery.ts";
import { createRequestPorts } from "./main/request-ports.ts";
import { startRoles } from "./main/roles.ts";
import { timesToStop } from "./main/times-to-stop.ts";
import { usageSourceOf } from "./main/usage-sources.ts";
import { createRolloutRequests } from "./rollout/request-rollouts.ts";
import { sleep } from "./runtime/clock.ts";
import { collectAtRest, processMemory } from "./runtime/collect-at-rest.ts";
import { isLoopback } from "./runtime/is-loopback.ts";
import { limitTime } from "./runtime/kube/time-limit.ts";
import { calibrate } from "./scheduler/calibration/calibrate.ts";
import { explainUnit } from "./scheduler/explain.ts";
import { explainInstance } from "./scheduler/explain-instance.ts";
import { describePlan } from "./scheduler/plan/describe-plan.ts";
import { planNames } from "./scheduler/plan/plan-names.ts";
import { reviewDecision, reviewPlan } from "./scheduler/review.ts";
import { exportWorkspace } from "./shard/export-workspace.ts";
import { createMembership } from "./store/member/keep-membership.ts";
import { createRetention } from "./store/retention/controller.ts";
import { createMonitoringListener } from "./telemetry/monitoring-listener.ts";

/**
 * Starts the roles the configuration names, each with its adapters, and returns once they run and the API listens. Probes are answered from
 * the first moment on, also while it waits for the database or the API cluster; what can never pass by waiting is thrown. Everything
 * started is handed to the shutdown, newest first: nothing loses what it stands on while it stops. The API is the exception: it is the last
 * to begin, and goes on taking requests while the roles stop.
 */
export async function serve(context: Context): Promise<void> {
  const { config, shutdown, log, clock, readiness } = context;
  let stage = "the process is starting";
  const hasStarted = readiness.register({ name: "start", check: () => ({ ok: false, detail: stage }) });
  shutdown.asked.addEventListener("abort", () =>
    readiness.register({ name: "stop", check: () => ({ ok: false, detail: "the process is stopping" }) }),
  );
  const monitoring = createMonitoringListener(context);
  shutdown.add("monitoring", () => monitoring.close());
  log.info({ url: await monitoring.listen(config.monitoring) }, "Answering probes");

  // What is wrong with them never passes by waiting, and is said before anything is waited for.
  const credentials = readApiCredentials(context);
  const { tls } = config.listen;
  const certificate = tls === undefined || !config.roles.includes("api") ? undefined : readApiCertificate(tls);
  stage = "the process is opening the database, and brings its schema up to date where that is for it to do";
  const store = await openStore(context);
  shutdown.add("store", () => store.close());
  const clusters = connectClusters(context, store, credentials);
  shutdown.add("clusters", () => clusters.close());
  stage = "the process is asking whether the database is as new as what was written from it";
  await waitForNewDatabase(context, { store, api: clusters.api });
  const api = config.roles.includes("api") ? await openApi(context, { store, clusters, certificate }) : undefined;

  const membership = createMembership({
    store: store.members,
    changes: store.changes,
    memberId: context.memberId,
    // The others join when they are ready for a share of the work.
    roles: config.roles.filter((role) => role === "api"),
    comingRoles: config.roles.filter((role) => role === "reconciler"),
    ttlMs: config.leases.ttlMs,
    renewMs: config.leases.renewMs,
    clock,
    log,
  });
  membership.start(shutdown.signal);
  // While this process works on, the others list what they gain of it.
  shutdown.handOver((signal) => membership.handOver("reconciler", signal));
  // At once: the others take over while this process ends what it is at.
  shutdown.signal.addEventListener("abort", () => void membership.stop(), { once: true });
  shutdown.add("membership", () => membership.stop());
  const rights = createOwnRights({
    ...context,
    members: store.members,
    fleet: store.fleet,
    client: clusters.api,
    roles: config.roles,
    isInApiCluster: config.apiCluster.kubeconfig === undefined,
    reviewsTokens: config.authentication.kubernetes !== undefined,
  });
  shutdown.add("rights", () => rights.stop());
  // Whoever serves the API alone may have a login that can delete nothing of this.
  if (config.roles.some((role) => role !== "api")) {
    const retention = createRetention({ ...context, store: store.retention, members: store.members, keep: config.retention });
    retention.start(shutdown.signal);
    shutdown.add("retention", () => retention.stop());
  }
  // Roles that act on changes subscribe themselves; one that does not (api) needs the connection to say whether the database is there.
  const unfollow = store.changes.subscribe(() => undefined);
  shutdown.add("changes", async () => unfollow());
  readiness.register({
    name: "database",
    check: () => ({ ok: store.changes.isConnected(), detail: store.changes.isConnected() ? "connected" : "does not answer" }),
  });

  stage = "the process is asking for its rights";
  await rights.start(shutdown.signal);
  stage = "the process is starting its roles";
  startRoles({ context, store, clusters, membership });
  collectAtRest({ ...context, memory: processMemory() }, shutdown.signal);
  if (api !== undefined) {
    log.info({ url: await api.listen(config.listen) }, "Listening");
    const plain = plainHttpAt(config.listen);
    if (plain !== undefined)
      log.warn({ at: plain }, "Serving plain HTTP to other machines, as listen.allowPlainHttp says: tokens can be read");
    if (tls !== undefined && certificate !== undefined)
      keepApiCertificate({ ...context, files: tls, first: certificate, use: api.useCertificate }, shutdown.signal);
  }
  hasStarted();
  log.info({ roles: config.roles, member: context.memberId }, "Serving");
}

/** Where tokens pass in plain text between machines; `undefined`: nowhere. */
function plainHttpAt({ host, port, tls }: Context["config"]["listen"]): string | undefined {
  return tls === undefined && !isLoopback(host) ? `${host}:${port}` : undefined;
}

type Store = Awaited<ReturnType<typeof openStore>>;
type Clusters = ReturnType<typeof connectClusters>;

interface ApiParts {
  readonly store: Store;
  readonly clusters: Clusters;
  readonly certificate: ServerCertificate | undefined;
}

/** The API, which does not listen yet. When the process stops it takes requests for a while, and then ends those under way. */
async function openApi(context: Context, parts: ApiParts): Promise<Api> {
  const { config, shutdown, clock } = context;
  const api = await makeApi(context, parts);
  let stopsAtMs: number | undefined;
  shutdown.asked.addEventListener("abort", () => {
    stopsAtMs = clock.monotonicMs();
  });
  shutdown.add("api", async (late) => {
    const goneMs = clock.monotonicMs() - (stopsAtMs ?? clock.monotonicMs());
    const { closeInMs, cutInMs } = timesToStop(config.shutdown, goneMs);
    if (api.isListening()) await sleep(clock, closeInMs, late).catch(() => {});
    const limit = limitTime({ clock, doing: "ending requests", timeoutMs: cutInMs - closeInMs }, late);
    await api.close(limit.signal).finally(limit.release);
  });
  return api;
}

async function makeApi(
  { config, log, clock, ids, metrics, readiness, version }: Context,
  { store, clusters, certificate }: ApiParts,
): Promise<Api> {
  const { moving, planning, draining } = createRequestPorts({ store, clock, ids, log, config });
  const deps: ApiDeps = {
    ...{ store, log, clock, ids, metrics, version, approvals: config.approvals },
    requestRates: config.limits.requests,
    identities: makeIdentities({ config, clock, log, apiCluster: clusters.api }),
    parseFleet: parseFleetDocument,
    renderFleet: (spec) => ({ ...renderFleetDocument(spec) }),
    planFleet,
    readUsage: createUsageReader({ sourceOf: (name, signal) => usageSourceOf(clusters, name, signal), log }),
    explain: explainUnit,
    planning: {
      ...planning,
      describe: describePlan,
      names: planNames,
      review: reviewPlan,
    },
    moving,
    draining: { ...draining, budget: config.moves.drain },
    rollouts: createRolloutRequests({ store, clock, ids }),
    explainInstance,
    calibrate,
    exportWorkspace: (facts, { namespace, server = clusters.destination.server }) => exportWorkspace(facts, { namespace, server }),
    apiClusterUid: (signal) => clusterUid(clusters.api, signal),
    review: reviewDecision,
    isSchedule: (text) => parseSchedule(text) !== undefined,
    doctor: (signal) =>
      examine(
        {
          store,
          clock,
          approvals: config.approvals,
          apiCluster: clusters.api,
          engineCluster: clusters.needEngine,
          isInApiCluster: config.apiCluster.kubeconfig === undefined,
          reviewsTokens: config.authentication.kubernetes !== undefined,
          destination: clusters.destination,
          insideAddressesOf,
          filterImage: config.clusterFilter.image,
          plainHttpAt: plainHttpAt(config.listen),
          observePolicies: (cluster, instances, signal) =>
            observePolicies(
              {
                ...{ cluster, instances, isInApiCluster: config.apiCluster.kubeconfig === undefined },
                client: (limited) => clusters.needEngine(cluster.name, limited),
              },
              signal,
            ),
          hasOwnDatabase: config.database.url !== undefined,
        },
        signal,
      ),
    metricsText: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
    readiness: async () => readiness.report(),
  };
  return createApi(deps, certificate);
}
