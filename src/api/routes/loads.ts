import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { rfc3339 } from "../../domain/clock.ts";
import { toDocumentLoad } from "../../domain/load.ts";
import type { InstanceLoad } from "../../store/load/port.ts";
import type { InstanceWithLoad } from "../../store/placement/port.ts";
import { isWithin, type Scopes } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";
import { loadView } from "../schema.ts";
import { type InstanceNames, namesOf, utilisation } from "../views.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);

const measuredAt = z.iso.datetime().nullable().describe("null: not measured yet");
const share = z.number().describe("of its fullest dimension, 0 to 1 and beyond");
const instanceTop = z
  .object({
    name: z.string(),
    state: z.string(),
    units: z.number().int(),
    utilisation: share.describe("by planning load, of its fullest dimension, 0 to 1 and beyond"),
    load: loadView.describe("planning load of the units it holds"),
    capacity: loadView,
    measured: loadView.nullable().describe("what its units were measured to take when it was last observed"),
    milliCpu: z.number().nullable().describe("its controller's CPU then, with what it takes when empty"),
    cachedObjects: z.number().int().nullable().describe("objects its controller caches"),
    measuredAt,
  })
  .meta({ id: "InstanceTop" });
const workspaceTop = z
  .object({
    workspace: z.string().describe("its namespace"),
    part: z.number().int().describe("which part of a split workspace"),
    instance: z.string().nullable(),
    share: share.describe("of its instance, in the dimension in which it takes most, by planning load"),
    load: loadView.describe("planning load"),
    recent: loadView.nullable().describe("what it takes now"),
    measuredAt,
  })
  .meta({ id: "WorkspaceTop" });
export type InstanceTop = z.infer<typeof instanceTop>;
export type WorkspaceTop = z.infer<typeof workspaceTop>;

/** Who takes how much of what. */
export function addLoadRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/top/instances",
    {
      schema: {
        operationId: "topInstances",
        summary: "Instances by how full they are, with what they were measured to take",
        security,
        response: { 200: z.object({ items: z.array(instanceTop) }) },
      },
    },
    async ({ scopes }) => ({ items: await topInstances(deps, scopes) }),
  );
  app.get(
    "/v1/top/workspaces",
    {
      schema: {
        operationId: "topWorkspaces",
        summary: "Placement units by their share of their instance",
        security,
        querystring: z.object({ limit: z.coerce.number().int().min(1).max(1000).default(20) }),
        response: { 200: z.object({ items: z.array(workspaceTop) }) },
      },
    },
    async ({ query, scopes }) => ({ items: await topWorkspaces(deps, query.limit, scopes) }),
  );
}

async function topInstances({ store }: ApiDeps, scopes: Scopes): Promise<InstanceTop[]> {
  const all = new Set((await store.fleet.listInstances(deadline())).map((instance) => instance.class));
  const classes = [...all].filter((name) => isWithin(scopes, { kind: "class", class: name })).sort();
  const rows = await Promise.all(
    classes.map(async (name) => {
      const loads = await store.loads.listInstanceLoads(name, deadline());
      const known = new Map(loads.map((load) => [load.instanceId, load]));
      return (await store.placements.readFleet(name, deadline())).instances.map((row) => instanceTopOf(row, known.get(row.instance.id)));
    }),
  );
  return rows.flat().sort((a, b) => b.utilisation - a.utilisation || (a.name < b.name ? -1 : 1));
}

function instanceTopOf({ instance, load, units }: InstanceWithLoad, measured: InstanceLoad | undefined): InstanceTop {
  return {
    name: instance.name,
    state: instance.state,
    units,
    utilisation: utilisation(load, instance.capacity),
    load: toDocumentLoad(load),
    capacity: toDocumentLoad(instance.capacity),
    measured: measured === undefined ? null : toDocumentLoad(measured.total),
    milliCpu: measured?.observation?.milliCpu ?? null,
    cachedObjects: measured?.cachedObjects ?? null,
    measuredAt: measured === undefined ? null : rfc3339(measured.at),
  };
}

/** More than there are. */
const ALL_UNITS = 1_000_000;

async function topWorkspaces({ store }: ApiDeps, limit: number, scopes: Scopes): Promise<WorkspaceTop[]> {
  const instances = await store.fleet.listInstances(deadline());
  const names: InstanceNames = namesOf(instances);
  const classes = new Map(instances.map((instance) => [instance.id, instance.class]));
  const heaviest = await store.loads.listHeaviest({ limit: scopes === undefined ? limit : ALL_UNITS }, deadline());
  const shown = heaviest.filter(({ namespace, instanceId }) =>
    isWithin(scopes, { kind: "workspace", namespace, classes: [classes.get(instanceId) ?? ""] }),
  );
  return shown.slice(0, limit).map(({ namespace, bucket, instanceId, planning, capacity, known }) => ({
    workspace: namespace,
    part: bucket,
    instance: names.get(instanceId) ?? instanceId,
    share: utilisation(planning, capacity),
    load: toDocumentLoad(planning),
    recent: known === undefined ? null : toDocumentLoad(known.recent),
    measuredAt: known === undefined ? null : rfc3339(known.at),
  }));
}
