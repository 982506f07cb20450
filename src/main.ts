import { examine } from "./api/doctor/examine.ts";
import { type Api, createApi } from "./api/server.ts";
import { planFleet } from "./instance-provisioner/fleet-plan.ts";
import { parseFleetDocument } from "./instance-provisioner/fleet-schema/parse-fleet.ts";
import { renderFleetDocument } from "./instance-provisioner/fleet-schema/render-fleet.ts";
import { createUsageReader } from "./instance-provisioner/read-usage.ts";
import { clusterUid } from "./main/adoption.ts";
import { connectClusters } from "./main/clusters.ts";
import type { Context } from "./main/context.ts";
import { insideAddressesOf } from "./main/inside-addresses-of.ts";
import { openStore } from "./main/open-store.ts";
import { refuseOldDatabase } from "./main/recovery.ts";
import { createRequestPorts } from "./main/request-ports.ts";
import { startRoles } from "./main/roles.ts";
import { usageSourceOf } from "./main/usage-sources.ts";
import { createRolloutRequests } from "./rollout/request-rollouts.ts";
import { calibrate } from "./scheduler/calibration/calibrate.ts";
import { explainUnit } from "./scheduler/explain.ts";
import { explainInstance } from "./scheduler/explain-instance.ts";
import { describePlan } from "./scheduler/plan/describe-plan.ts";
import { parseSchedule } from "./scheduler/plan/freeze-window.ts";
import { planNames } from "./scheduler/plan/plan-names.ts";
import { reviewDecision, reviewPlan } from "./scheduler/review.ts";
import { exportWorkspace } from "./shard/export-workspace.ts";
import { createMembership } from "./store/member/keep-membership.ts";
import { createRetention } from "./store/retention/controller.ts";

/**
 * Starts the roles the configuration names, each with its adapters, and returns once they run and the API listens.
 * Everything started is handed to the shutdown, newest first: nothing loses what it stands on while it stops.
 */
export async function serve(context: Context): Promise<void> {
  const { config, shutdown, log, clock } = context;
  const store = await openStore(context);
  shutdown.add("store", () => store.close());
  const clusters = connectClusters(context, store);
  shutdown.add("clusters", () => clusters.close());
  await refuseOldDatabase({ store, api: clusters.api, log }, shutdown.signal);

  const membership = createMembership({
    store: store.members,
    memberId: context.memberId,
    roles: config.roles,
    ttlMs: config.leases.ttlMs,
    renewMs: config.leases.renewMs,
    clock,
    log,
  });
  membership.start(shutdown.signal);
  shutdown.add("membership", () => membership.stop());
  const retention = createRetention({ ...context, store: store.retention, members: store.members, keep: config.retention });
  retention.start(shutdown.signal);
  shutdown.add("retention", () => retention.stop());
  // Roles that act on changes subscribe themselves; one that does not (api) needs the connection to say whether the database is there.
  const unfollow = store.changes.subscribe(() => undefined);
  shutdown.add("changes", async () => unfollow());
  context.readiness.register({
    name: "database",
    check: () => ({ ok: store.changes.isConnected(), detail: store.changes.isConnected() ? "connected" : "does not answer" }),
  });

  startRoles({ context, store, clusters, membership });
  if (config.roles.includes("api")) await startApi(context, store, clusters);
  log.info({ roles: config.roles, member: context.memberId }, "Serving");
}

type Store = Awaited<ReturnType<typeof openStore>>;
type Clusters = ReturnType<typeof connectClusters>;

async function startApi(
  { config, shutdown, log, clock, ids, metrics, readiness, version }: Context,
  store: Store,
  clusters: Clusters,
): Promise<void> {
  const { moving, planning, draining } = createRequestPorts({ store, clock, ids, log, config });
  const api: Api = await createApi({
    ...{ store, log, clock, metrics, version },
    parseFleet: parseFleetDocument,
    renderFleet: (spec) => ({ ...renderFleetDocument(spec) }),
    planFleet,
    readUsage: createUsageReader({ sourceOf: (name, signal) => usageSourceOf({ store, clusters }, name, signal), log }),
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
          apiCluster: clusters.api,
          engineCluster: clusters.needEngine,
          destination: clusters.destination,
          insideAddressesOf,
        },
        signal,
      ),
    metricsText: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
    readiness: async () => readiness.report(),
  });
  shutdown.add("api", () => api.close());
  const url = await api.listen(config.listen);
  log.info({ url }, "Listening");
}
