import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { InputError } from "../../domain/errors.ts";
import { classOf, type FleetSpec } from "../../domain/fleet.ts";
import { LOAD_DIMENSIONS } from "../../domain/load.ts";
import type { Supposition, WhatIf } from "../../domain/what-if.ts";
import { findWorkspace } from "../find.ts";
import type { ApiDeps } from "../port.ts";

/** A plan for a hundred thousand units takes seconds. */
const deadline = () => AbortSignal.timeout(50_000);
const pool = z.string().max(253);
const supposition = z.discriminatedUnion("kind", [
  z
    .strictObject({ kind: z.literal("instances"), pool, by: z.number().int().min(-1000).max(1000) })
    .describe("the pool has this many instances more; less than nothing: fewer, of which the emptiest go"),
  z
    .strictObject({
      kind: z.literal("load"),
      workspace: z.string().max(253).optional().describe("its namespace; absent: every workspace of the class"),
      times: z.number().min(0).max(1000),
    })
    .describe("it takes this many times what it takes"),
  z
    .strictObject({ kind: z.literal("release"), pool, version: z.string().max(253).describe("of the catalogue") })
    .describe("the instances of the pool run this release"),
]);
const body = z.strictObject({
  class: z.string().max(253).optional().describe("absent: the class of the pools and workspaces that are named"),
  suppose: z.array(supposition).min(1).max(20).describe("what is different, all of it at once"),
});
const share = z.number().describe("of its capacity, in its fullest dimension");
const filled = z.object({ share, units: z.number().int() }).nullable();
const answer = z
  .object({
    class: z.string(),
    dimension: z.enum(LOAD_DIMENSIONS).describe("the one that parts of the load are of"),
    instances: z.array(
      z.object({
        name: z.string(),
        pool: z.string(),
        version: z.string(),
        before: filled.describe("null: it is not there yet"),
        after: filled.describe("null: it would not be there any more"),
      }),
    ),
    releases: z.array(
      z.object({
        version: z.string(),
        unitsBefore: z.number().int(),
        unitsAfter: z.number().int(),
        loadAfter: z.number().describe("of the load of the class"),
      }),
    ),
    moves: z.number().int(),
    workspaces: z.object({ moved: z.number().int(), of: z.number().int() }),
    unplaceable: z.array(z.string()).describe("workspaces that no instance could take"),
    tooFull: z.array(z.string()).describe("instances that would stay too full"),
    text: z.array(z.string()).describe("the same as sentences"),
  })
  .meta({ id: "WhatIf" });
export type WhatIfView = z.infer<typeof answer>;

const PPM = 1_000_000;

/** What would become of a class if something were different. */
export function addWhatIfRoute(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().post(
    "/v1/what-if",
    {
      schema: {
        operationId: "supposeChange",
        summary: "Says what would become of a class, by the loads of now, if something were different; changes and keeps nothing",
        security: [{ token: [] }],
        body,
        response: { 200: answer },
      },
    },
    async ({ body: asked }) => {
      const spec = (await deps.store.fleet.readFleet(deadline()))?.spec;
      const suppositions = asked.suppose.map(suppositionOf);
      refuseUnknownReleases(suppositions, spec);
      const className = asked.class ?? (await classFor(deps, suppositions, spec));
      return viewOf(await deps.planning.whatIf(className, suppositions, deadline()));
    },
  );
}

function suppositionOf(asked: z.infer<typeof supposition>): Supposition {
  return asked.kind === "load" ? { kind: "load", workspace: asked.workspace, times: asked.times } : asked;
}

/** The one class of everything that is named. */
async function classFor(deps: ApiDeps, suppositions: readonly Supposition[], spec: FleetSpec | undefined): Promise<string> {
  const named = new Set<string>();
  for (const each of suppositions) {
    if (each.kind === "load") {
      if (each.workspace === undefined) continue;
      const { units } = await findWorkspace(deps, each.workspace, deadline());
      units.forEach((unit) => named.add(unit.class));
      continue;
    }
    const declared = spec?.pools.find(({ name }) => name === each.pool);
    if (declared !== undefined) named.add(classOf(declared));
  }
  const [only, ...more] = named;
  if (only !== undefined && more.length === 0) return only;
  const classes = await deps.store.plans.listClasses(deadline());
  const [single, ...others] = classes;
  if (only === undefined && single !== undefined && others.length === 0) return single;
  throw new InputError(only === undefined ? "names nothing of one class" : "names things of several classes", {
    code: "plan.suppose",
    path: "class",
    remedy: classes.length === 0 ? "Declare a fleet first" : `Give one of ${classes.join(", ")}`,
  });
}

/** A release that is not in the catalogue, or that the pool's channel does not have, can never be there. */
function refuseUnknownReleases(suppositions: readonly Supposition[], spec: FleetSpec | undefined): void {
  for (const [index, each] of suppositions.entries()) {
    if (each.kind !== "release") continue;
    const channel = spec?.pools.find(({ name }) => name === each.pool)?.class.channel;
    const offered = spec?.versions.channels?.find(({ name }) => name === channel)?.versions;
    const known = offered ?? spec?.versions.catalogue.map(({ version }) => version) ?? [];
    if (known.includes(each.version)) continue;
    throw new InputError(`pool ${each.pool} cannot have release ${each.version}`, {
      code: "plan.suppose",
      path: `suppose.${index}.version`,
      remedy: known.length === 0 ? "Declare a fleet first" : `Use one of ${known.join(", ")}`,
    });
  }
}

function viewOf({ instances, releases, ...rest }: WhatIf): WhatIfView {
  const filledOf = (at: WhatIf["instances"][number]["before"]) => (at === undefined ? null : { share: at.share / PPM, units: at.units });
  return {
    ...{ class: rest.class, dimension: rest.dimension, moves: rest.moves, workspaces: { ...rest.workspaces } },
    instances: instances.map(({ name, pool: own, version, before, after }) => ({
      ...{ name, pool: own, version, before: filledOf(before), after: filledOf(after) },
    })),
    releases: releases.map(({ loadAfter, ...each }) => ({ ...each, loadAfter: loadAfter / PPM })),
    ...{ unplaceable: [...rest.unplaceable], tooFull: [...rest.tooFull], text: [...rest.text] },
  };
}
