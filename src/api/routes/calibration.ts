import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { CALIBRATION_BOUNDS, type Calibration } from "../../domain/calibration.ts";
import { millis, rfc3339 } from "../../domain/clock.ts";
import { RefusedError } from "../../domain/errors.ts";
import type { Instance } from "../../domain/instance.ts";
import { toDocumentLoad } from "../../domain/load.ts";
import { raisesInForce } from "../../domain/raised-resources.ts";
import { againWhenStale } from "../again-when-stale.ts";
import { findInstance } from "../find.ts";
import type { ApiDeps } from "../port.ts";
import { loadView } from "../schema.ts";
import { whyNotCalibrate, withCapacity } from "../with-capacity.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
/** Longer than observations are kept. */
const SINCE_MS = 24 * 3_600_000;

const time = z.iso.datetime();
const bound = z.enum(CALIBRATION_BOUNDS);
const named = z.object({ instance: z.string().max(253) });
const calibration = z
  .object({
    instance: z.string(),
    pool: z.string(),
    from: time.nullable().describe("when the first sample that is kept was taken"),
    until: time.nullable(),
    applications: z.number().int().describe("of the instance at the last sample"),
    binding: bound.nullable().describe("what is used up first"),
    readings: z.array(
      z.object({
        bound,
        observations: z.number().int().describe("how many samples it rests on"),
        fewest: z.number().int().describe("applications"),
        most: z.number().int(),
        highest: z.number().describe("largest share that was seen"),
        limit: z.number(),
        base: z.number().describe("share that is used without applications"),
        perApplication: z.number().describe("share that one takes"),
        fit: z.number().nullable().describe("part of what varies that the line explains; null: the load did not vary, and was divided"),
        bears: z.number().int().describe("applications like these until the limit"),
      }),
    ),
    declared: loadView.describe("capacity, in the units of fleet.yaml"),
    fitted: loadView.nullable().describe("null: nothing can be said"),
    doubts: z.array(z.string()).describe("why nobody should rely on it; empty: nothing speaks against it"),
    applied: z.boolean(),
  })
  .meta({ id: "Calibration" });
export type CalibrationView = z.infer<typeof calibration>;

/** What an instance was seen to bear. */
export function addCalibrationView(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/instances/:instance/calibration",
    {
      schema: {
        operationId: "calibrateInstance",
        summary: "Learns from samples of an instance under load what capacity it has, with the evidence",
        ...{ security, params: named, response: { 200: calibration } },
      },
    },
    async ({ params }) => {
      const instance = await findInstance(deps, params.instance, deadline());
      return viewOf(instance, await calibrate(deps, instance), false);
    },
  );
}

/** Declares it. */
export function addCalibrationRoute(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().post(
    "/v1/instances/:instance/calibration",
    {
      schema: {
        operationId: "applyCalibration",
        summary: "Declares what an instance was seen to bear as the capacity of its pool; refused where there are doubts",
        ...{ security, params: named, body: z.strictObject({}), response: { 200: calibration } },
      },
    },
    async ({ params, actor }) => {
      const instance = await findInstance(deps, params.instance, deadline());
      const learnt = await calibrate(deps, instance);
      await againWhenStale(async () => {
        const fleet = await deps.store.fleet.readFleet(deadline());
        const why = whyNotCalibrate(instance, learnt, fleet?.spec);
        if (why !== undefined || learnt.fitted === undefined || fleet === undefined)
          throw new RefusedError(why ?? "", { code: "api.calibration" });
        const spec = withCapacity(fleet.spec, instance.pool, learnt.fitted);
        await deps.store.fleet.changeFleet({ spec, actor, revision: fleet.revision }, deadline());
      });
      return viewOf(instance, learnt, true);
    },
  );
}

async function calibrate(
  { store, clock, calibrate: learn }: ApiDeps,
  { id, class: className, capacity, pool: poolName, raised }: Instance,
): Promise<Calibration> {
  const { samples } = await store.health.readWindow(id, millis(clock.now() - SINCE_MS), deadline());
  const held = (await store.placements.readFleet(className, deadline())).instances.find(({ instance }) => instance.id === id);
  const measured = (await store.loads.listInstanceLoads(className, deadline())).find(({ instanceId }) => instanceId === id);
  const load = measured?.total ?? held?.load ?? capacity;
  const pool = (await store.fleet.readFleet(deadline()))?.spec.pools.find(({ name }) => name === poolName);
  const isRaised = pool !== undefined && raisesInForce(pool, raised?.amounts).length > 0;
  return learn({ samples, load, capacity, isRaised });
}

function viewOf({ name, pool }: Instance, learnt: Calibration, applied: boolean): CalibrationView {
  const { from, until, applications, binding = null, readings, declared, fitted, doubts } = learnt;
  return {
    ...{ instance: name, pool, applications, binding, doubts: [...doubts], applied },
    from: from === undefined ? null : rfc3339(from),
    until: until === undefined ? null : rfc3339(until),
    readings: readings.map(({ applications: [fewest, most], fit = null, ...reading }) => ({ ...reading, fewest, most, fit })),
    declared: toDocumentLoad(declared),
    fitted: fitted === undefined ? null : toDocumentLoad(fitted),
  };
}
