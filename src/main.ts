import { examine } from "./api/doctor/controller.ts";
import { type Api, createApi } from "./api/server.ts";
import { parseFleetDocument } from "./instance-provisioner/fleet-schema/parse-fleet.ts";
import { connectClusters } from "./main/clusters.ts";
import type { Context } from "./main/context.ts";
import { openStore } from "./main/open-store.ts";
import { startRoles } from "./main/roles.ts";
import { explainUnit } from "./scheduler/explain.ts";
import { createMembership } from "./store/member/controller.ts";

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
  { config, shutdown, log, clock, metrics, readiness, version }: Context,
  store: Store,
  clusters: Clusters,
): Promise<void> {
  const api: Api = await createApi({
    ...{ store, log, clock, metrics, version },
    parseFleet: parseFleetDocument,
    explain: ({ unit, workspace }, decisions, instanceName) =>
      explainUnit({ unit, namespace: workspace.namespace, decisions, instanceName }),
    doctor: (signal) => examine({ store, clock, apiCluster: clusters.api, engineCluster: clusters.needEngine }, signal),
    metricsText: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
    readiness: async () => readiness.report(),
  });
  shutdown.add("api", () => api.close());
  const url = await api.listen(config.listen);
  log.info({ url }, "Listening");
}
