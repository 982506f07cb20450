import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { type Millis, millis, parseRfc3339, rfc3339 } from "../../domain/clock.ts";
import { InputError } from "../../domain/errors.ts";
import type { CostPrices } from "../../domain/fleet.ts";
import type { Instance } from "../../domain/instance.ts";
import { USERS } from "../../domain/usage.ts";
import type { UsedOnInstance } from "../../store/usage/port.ts";
import { COST_BY, type CostLine, compareLines, coreHours, costLines, costOf, gibHours, type KnownUse } from "../cost-lines.ts";
import { isWithin, type Scopes } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";
import { readExceededShares } from "../read-exceeded-shares.ts";

const deadline = () => AbortSignal.timeout(30_000);
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const costLine = z
  .object({
    name: z.string().nullable().describe("the workspace (namespace), class, instance or value of the label; null: of none"),
    of: z.enum(USERS).describe("workspace: of workspaces. base: instances' own. unattributed: it was taken, and nobody knows for whom"),
    controllerCpuMs: z.number().int().describe("CPU of application controllers, thousandths of a second"),
    repoServerCpuMs: z.number().int().describe("CPU of repo-servers without their child processes, thousandths of a second"),
    memoryKibS: z.number().int().describe("resident memory of both, KiB times seconds"),
    cpuCoreHours: z.number().describe("both CPUs"),
    memoryGibHours: z.number(),
    cpuShare: z.number().describe("of the CPU of all that is asked for, 0 to 1"),
    cost: z.number().nullable().describe("by the prices of the fleet document; null: it has none"),
  })
  .meta({ id: "CostLine" });
export type CostLineView = z.infer<typeof costLine>;

const report = z
  .object({
    since: z.iso.datetime().describe("begin of the first hour that counts"),
    until: z.iso.datetime().describe("end of the last one, or now where that has not ended"),
    prices: z.object({ cpuCoreHour: z.number(), memoryGibHour: z.number() }).nullable().describe("of the fleet document"),
    labels: z.array(z.string()).describe("labels of namespaces that are recorded, and can be asked for"),
    exceeded: z
      .array(
        z.object({
          ...{ workspace: z.string(), instance: z.string(), class: z.string() },
          share: z.number().describe("of the CPU that the instance's controller bears, on average of six hours"),
          limit: z.number().describe("that its class allows"),
        }),
      )
      .describe("workspaces that take more than `workspaces.cpuShares` of the fleet document allows, whatever is asked for"),
    items: z.array(costLine),
    next: z.string().describe("pass as `after` for the next page; empty at the end"),
  })
  .meta({ id: "CostReport" });
export type CostReportView = z.infer<typeof report>;

const query = z
  .object({
    since: z.iso.datetime().optional().describe("from the hour in which this is; absent: a day ago"),
    until: z.iso.datetime().optional().describe("up to the hour in which this is, that one left out; absent: all until now"),
    by: z.enum(COST_BY).default("workspace"),
    label: z.string().max(317).optional().describe("the label that `by=label` is about, one of `cost.labels` of the fleet document"),
    limit: z.coerce.number().int().min(1).max(1000).default(200),
    after: z.string().max(512).default("").describe("`next` of the page before"),
  })
  .strict();
type Query = z.infer<typeof query>;

/** Who took what. */
export function addCostView(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/cost",
    {
      schema: {
        operationId: "listCost",
        summary: "What instances took, by workspace, class, label or instance, with what belongs to none",
        security: [{ token: [] }],
        querystring: query,
        response: { 200: report },
      },
    },
    async (request) => readReport(deps, request.query, request.scopes),
  );
}

async function readReport(deps: ApiDeps, asked: Query, scopes: Scopes): Promise<CostReportView> {
  const { store, clock } = deps;
  const spec = (await store.fleet.readFleet(deadline()))?.spec;
  const { prices, labels = [] } = spec?.cost ?? {};
  const instances = await store.fleet.listInstances(deadline());
  const label = labelOf(asked, labels);
  const span = spanOf(asked, clock.now());
  const used = await usedWithin(deps, { span, instances }, scopes);
  const exceeded = await readExceededShares(store, { spec, instances, now: clock.now() }, deadline());
  const lines = costLines(used, asked.by, label);
  const all = lines.reduce((sum, { usage }) => sum + coreHours(usage), 0);
  const from = positionOf(asked.after);
  const rest = from === undefined ? lines : lines.filter((line) => compareLines(line, from) > 0);
  const shown = rest.slice(0, asked.limit);
  const last = rest.length > shown.length ? shown.at(-1) : undefined;
  return {
    ...{ since: rfc3339(span.since), until: rfc3339(span.until), prices: prices ?? null, labels: [...labels] },
    exceeded: exceeded
      .filter(({ namespace, class: className }) => isWithin(scopes, { kind: "workspace", namespace, classes: [className] }))
      .map(({ namespace: workspace, ...one }) => ({ workspace, ...one })),
    items: shown.map((line) => viewOf(line, { all, prices })),
    next: last === undefined ? "" : JSON.stringify([last.of, ...(last.name === undefined ? [] : [last.name])]),
  };
}

function labelOf({ by, label }: Query, labels: readonly string[]): string | undefined {
  const wrong = (text: string, remedy: string) => new InputError(text, { code: "api.cost-label", path: "label", remedy });
  if (by !== "label" && label !== undefined) throw wrong("says nothing beside another by", "Leave it out, or ask by=label");
  if (by !== "label" || (label !== undefined && labels.includes(label))) return label;
  const text = label === undefined ? "is missing" : `${label} is not recorded`;
  const recorded = labels.length === 0 ? "none is" : `those are ${labels.join(", ")}`;
  throw wrong(text, `Name one that cost.labels of fleet.yaml declares: ${recorded}`);
}

/** Whole hours, of which the present one has not ended. */
function spanOf({ since, until }: Query, now: Millis): { readonly since: Millis; readonly until: Millis } {
  const hourOf = (text: string | undefined, usual: number): number => Math.floor((parseRfc3339(text ?? "") ?? usual) / HOUR_MS) * HOUR_MS;
  const to = until === undefined ? now : Math.min(now, hourOf(until, now));
  return { since: millis(hourOf(since, now - DAY_MS)), until: millis(to) };
}

/** What may be shown of it: of workspaces what they took on instances of a class that may be seen, and instances' own where all of the class may. */
async function usedWithin(
  { store }: ApiDeps,
  asked: { readonly span: ReturnType<typeof spanOf>; readonly instances: readonly Instance[] },
  scopes: Scopes,
): Promise<readonly KnownUse[]> {
  const instances = new Map(asked.instances.map((instance) => [instance.id, instance]));
  const known = (one: UsedOnInstance): KnownUse => {
    const instance = instances.get(one.instanceId);
    return { ...one, instance: instance?.name ?? one.instanceId, class: instance?.class ?? "" };
  };
  return (await store.usages.list(asked.span, deadline()))
    .map(known)
    .filter(({ of, namespace, class: className }) =>
      isWithin(scopes, of === "workspace" ? { kind: "workspace", namespace, classes: [className] } : { kind: "class", class: className }),
    );
}

/** A position that is none begins at the beginning, as one of a list that is no longer there would. */
function positionOf(after: string): Pick<CostLine, "name" | "of"> | undefined {
  try {
    const [of, name] = JSON.parse(after) as readonly unknown[];
    const user = USERS.find((one) => one === of);
    return user === undefined ? undefined : { of: user, name: typeof name === "string" ? name : undefined };
  } catch {
    return undefined;
  }
}

function viewOf(
  { name, of, usage }: CostLine,
  { all, prices }: { readonly all: number; readonly prices: CostPrices | undefined },
): CostLineView {
  const cpuCoreHours = coreHours(usage);
  return {
    ...{ name: name ?? null, of, ...usage, cpuCoreHours, memoryGibHours: gibHours(usage) },
    cpuShare: all === 0 ? 0 : cpuCoreHours / all,
    cost: prices === undefined ? null : costOf(usage, prices),
  };
}
