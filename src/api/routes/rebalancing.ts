import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { rfc3339 } from "../../domain/clock.ts";
import { classOf, REBALANCING_MODES } from "../../domain/fleet.ts";
import { LOAD_DIMENSIONS } from "../../domain/load.ts";
import { fallsBackUntil, modeInForce } from "../../domain/rebalancing.ts";
import { isWithin } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";

const deadline = () => AbortSignal.timeout(30_000);
const time = z.iso.datetime();
const mode = z.enum(REBALANCING_MODES);
const share = z.number().describe("of the load of the whole class");

const rebalancingView = z
  .object({
    class: z.string(),
    mode: mode.describe("as declared in fleet.yaml; propose where it is not"),
    modeInForce: mode.describe("what holds now: propose instead of auto while plans do not do what they promise"),
    fallsBackUntil: time.nullable().describe("until when it only proposes, if nothing changes; null: it does what is declared"),
    movesPerHour: z.number().int().nullable().describe("null: not declared, so the planner's own limit holds"),
    movesPerDay: z.number().int().nullable().describe("null: not declared, so nothing limits it"),
    kept: z.number().int().describe("of the last automatic moves that were measured, those that did what they were to"),
    broken: z.number().int(),
    promises: z
      .array(
        z.object({
          instance: z.string(),
          plan: z.string(),
          since: time,
          dimension: z.enum(LOAD_DIMENSIONS),
          expected: share.describe("what is to leave the instance, as a part of the load of the class"),
        }),
      )
      .describe("automatic moves of which is not measured yet what they did"),
  })
  .meta({ id: "Rebalancing" });
export type RebalancingView = z.infer<typeof rebalancingView>;

const PPM = 1_000_000;

/** What becomes of moves that need not be made, class by class. */
export function addRebalancingView(server: FastifyInstance, deps: ApiDeps): void {
  const { store, clock } = deps;
  const viewOf = async (className: string, declared: Declared, nameOf: (id: string) => string): Promise<RebalancingView> => {
    const { measured = [], promises = [] } = await store.loads.readState(className, deadline());
    const spec = declared?.find((each) => each.class === className);
    const now = clock.now();
    const until = fallsBackUntil(measured);
    return {
      class: className,
      mode: spec?.mode ?? "propose",
      modeInForce: modeInForce(spec, measured, now),
      fallsBackUntil: spec?.mode === "auto" && until !== undefined && until > now ? rfc3339(until) : null,
      movesPerHour: spec?.movesPerHour ?? null,
      movesPerDay: spec?.movesPerDay ?? null,
      kept: measured.filter(({ isKept }) => isKept).length,
      broken: measured.filter(({ isKept }) => !isKept).length,
      promises: promises.map(({ instance, plan, since, dimension, units }) => ({
        ...{ instance: nameOf(instance), plan, since: rfc3339(since), dimension },
        expected: units.reduce((sum, each) => sum + each.share, 0) / PPM,
      })),
    };
  };
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/rebalancing",
    {
      schema: {
        operationId: "listRebalancing",
        summary: "What becomes of moves that need not be made, class by class, and what the last automatic ones have done",
        security: [{ token: [] }],
        response: { 200: z.object({ items: z.array(rebalancingView) }) },
      },
    },
    async ({ scopes }) => {
      const fleet = await store.fleet.readFleet(deadline());
      const served = await store.plans.listClasses(deadline());
      const classes = [...new Set([...(fleet?.spec.pools.map(classOf) ?? []), ...served])].toSorted();
      const instances = new Map((await store.fleet.listInstances(deadline())).map(({ id, name }) => [id as string, name]));
      const shown = classes.filter((name) => isWithin(scopes, { kind: "class", class: name }));
      const declared = fleet?.spec.rebalancing;
      return { items: await Promise.all(shown.map((name) => viewOf(name, declared, (id) => instances.get(id) ?? id))) };
    },
  );
}

type Declared = NonNullable<Awaited<ReturnType<ApiDeps["store"]["fleet"]["readFleet"]>>>["spec"]["rebalancing"];
