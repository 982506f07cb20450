import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { PLANNED_AHEAD, withSize } from "../../domain/capacity.ts";
import { type Millis, millis, rfc3339 } from "../../domain/clock.ts";
import { classOf, isScaled, type PoolSpec } from "../../domain/fleet.ts";
import { type Instance, RAISABLE_AMOUNTS } from "../../domain/instance.ts";
import { LOAD_DIMENSIONS } from "../../domain/load.ts";
import { largestOf, type PeakWindow, peakWindows } from "../../domain/peaks.ts";
import { isRaiseUnderWay, type ResourceLimits, raisesInForce } from "../../domain/raised-resources.ts";
import type { ClassLoadState } from "../../store/load/port.ts";
import { isWithin } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";
import { raisedAmount } from "../schema.ts";

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
    peaks: z
      .array(
        z.object({
          name: z.string(),
          from: time,
          until: time,
          factor: z.number().nullable().describe("how many times as much as otherwise its class takes then"),
          instances: z.number().int().nullable().describe("instances that the pool has then at least"),
        }),
      )
      .describe(
        "declared peaks that count now: of those that hold or begin within six hours the one with the largest factor, and with the most instances",
      ),
    raising: z
      .object({
        instances: z
          .array(
            z.object({
              instance: z.string(),
              underWay: z.boolean().describe("its pods do not run with that yet"),
              raised: z.array(raisedAmount),
            }),
          )
          .describe("that have more resources than the pool declares, or are just given them"),
        limited: z
          .array(
            z.object({
              instance: z.string(),
              amount: z.enum(RAISABLE_AMOUNTS),
              given: z.string(),
              why: z
                .enum(["MAXIMUM", "REFUSED"])
                .describe("MAXIMUM: the pool allows no more; REFUSED: its pods did not get ready with more"),
              since: time,
            }),
          )
          .describe("that ran out of what they cannot be given, within the last hour"),
      })
      .nullable()
      .describe("null where the pool lets no resources be raised"),
    spareSince: time.nullable().describe("since when one instance fewer would do; null: it would not"),
    shortSince: time.nullable().describe("since when more are needed than the pools of the class may have; null: they may"),
  })
  .meta({ id: "PoolCapacity" });
export type PoolCapacityView = z.infer<typeof capacityView>;

const PPM = 1_000_000;

/** How many instances pools have, and by what that is decided. */
export function addCapacityView(server: FastifyInstance, { store, clock }: ApiDeps): void {
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
      const now = clock.now();
      const pools = (await store.fleet.readFleet(deadline()))?.spec.pools ?? [];
      const shown = pools.filter((pool) => isWithin(scopes, { kind: "class", class: classOf(pool) }));
      const instances = await store.fleet.listInstances(deadline());
      const classes = [...new Set(shown.map(classOf))];
      const states = new Map(
        await Promise.all(classes.map(async (name) => [name, await store.loads.readState(name, deadline())] as const)),
      );
      return { items: shown.map((pool) => viewOf(pool, { instances, state: states.get(classOf(pool)), now })) };
    },
  );
}

interface PoolFacts {
  readonly instances: readonly Instance[];
  readonly state: ClassLoadState | undefined;
  readonly now: Millis;
}

function viewOf(pool: PoolSpec, { instances, state, now }: PoolFacts): PoolCapacityView {
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
    peaks: countingPeaks(pool, now).map(({ peak, from, until }) => ({
      ...{ name: peak.name, from: rfc3339(from), until: rfc3339(until) },
      ...{ factor: peak.factor ?? null, instances: peak.instances ?? null },
    })),
    raising: raisingOf(pool, present, state?.limits ?? {}),
    spareSince: sizing?.spareSince === undefined ? null : rfc3339(sizing.spareSince),
    shortSince: sizing?.shortSince === undefined ? null : rfc3339(sizing.shortSince),
  };
}

function raisingOf(pool: PoolSpec, present: readonly Instance[], limits: ResourceLimits): PoolCapacityView["raising"] {
  if (pool.resources.max === undefined) return null;
  const own = present.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    instances: own
      .map((one) => ({ instance: one.name, underWay: isRaiseUnderWay(one), raised: [...raisesInForce(pool, one.raised?.amounts)] }))
      .filter(({ underWay, raised }) => underWay || raised.length > 0),
    limited: own.flatMap(({ id, name }) => {
      const limit = limits[id];
      return limit === undefined
        ? []
        : [{ instance: name, amount: limit.amount, given: limit.given, why: limit.why, since: rfc3339(limit.since) }];
    }),
  };
}

function countingPeaks(pool: PoolSpec, now: Millis): readonly PeakWindow[] {
  if (!isScaled(pool)) return [];
  const span = { from: now, until: millis(now + PLANNED_AHEAD.soonMs) };
  const windows = (pool.instances.peaks ?? []).flatMap((peak) => peakWindows(peak, span));
  return (["factor", "instances"] as const).flatMap((what) => largestOf(windows, what) ?? []);
}
