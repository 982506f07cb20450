import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { withSize } from "../../domain/capacity.ts";
import { rfc3339 } from "../../domain/clock.ts";
import { classOf, isScaled, type PoolSpec } from "../../domain/fleet.ts";
import type { Instance } from "../../domain/instance.ts";
import { LOAD_DIMENSIONS } from "../../domain/load.ts";
import type { ClassLoadState } from "../../store/load/port.ts";
import { isWithin } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";

const deadline = () => AbortSignal.timeout(30_000);
const time = z.iso.datetime();
const share = z.number().describe("of the capacity of the instances of the class, in the fullest dimension; 1: all of it");

const capacityView = z
  .object({
    pool: z.string(),
    class: z.string(),
    scaling: z.enum(["fixed", "auto"]),
    min: z.number().int(),
    max: z.number().int(),
    wanted: z.number().int().describe("instances that it is to have"),
    instances: z.number().int().describe("that there are, those that are on their way out left out"),
    serving: z.number().int().describe("of these, the ACTIVE ones"),
    reason: z.string().describe("why it is to have so many; empty: that is declared"),
    since: time.nullable().describe("when that was decided; null: it is declared"),
    expected: z
      .object({
        dimension: z.enum(LOAD_DIMENSIONS),
        soon: share.describe("the most within a day"),
        later: share.describe("the most within two days"),
        withoutOne: share.describe("the most within a day if the largest instance failed"),
      })
      .nullable()
      .describe("of the class; null where no pool of it is sized by load, or nothing was measured yet"),
    spareSince: time.nullable().describe("since when one instance fewer would do; null: it would not"),
    shortSince: time.nullable().describe("since when more are needed than the pools of the class may have; null: they may"),
  })
  .meta({ id: "PoolCapacity" });
export type PoolCapacityView = z.infer<typeof capacityView>;

const PPM = 1_000_000;

/** How many instances pools have, and by what that is decided. */
export function addCapacityView(server: FastifyInstance, { store }: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/capacity",
    {
      schema: {
        operationId: "listCapacity",
        summary: "How many instances pools have and are to have, and what load is expected of them",
        security: [{ token: [] }],
        response: { 200: z.object({ items: z.array(capacityView) }) },
      },
    },
    async ({ scopes }) => {
      const pools = (await store.fleet.readFleet(deadline()))?.spec.pools ?? [];
      const shown = pools.filter((pool) => isWithin(scopes, { kind: "class", class: classOf(pool) }));
      const instances = await store.fleet.listInstances(deadline());
      const classes = [...new Set(shown.map(classOf))];
      const states = new Map(
        await Promise.all(classes.map(async (name) => [name, await store.loads.readState(name, deadline())] as const)),
      );
      return { items: shown.map((pool) => viewOf(pool, instances, states.get(classOf(pool)))) };
    },
  );
}

function viewOf(pool: PoolSpec, instances: readonly Instance[], state: ClassLoadState | undefined): PoolCapacityView {
  const { name } = pool;
  const { min, max, scaling = "fixed" } = pool.instances;
  const present = instances.filter((one) => one.pool === name && one.state !== "RETIRED" && one.state !== "DRAINING");
  const { sizes = {}, sizing } = state ?? {};
  const size = isScaled(pool) ? sizes[name] : undefined;
  return {
    ...{ pool: name, class: classOf(pool), scaling, min, max },
    wanted: withSize(pool, sizes).instances.min,
    instances: present.length,
    serving: present.filter((one) => one.state === "ACTIVE").length,
    reason: size?.reason ?? "",
    since: size === undefined ? null : rfc3339(size.at),
    expected:
      sizing === undefined
        ? null
        : { dimension: sizing.dimension, soon: sizing.soon / PPM, later: sizing.later / PPM, withoutOne: sizing.withoutOne / PPM },
    spareSince: sizing?.spareSince === undefined ? null : rfc3339(sizing.spareSince),
    shortSince: sizing?.shortSince === undefined ? null : rfc3339(sizing.shortSince),
  };
}
