import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { type Millis, millis, rfc3339 } from "../../domain/clock.ts";
import {
  COMPONENTS,
  HEALTH_CAUSES,
  type HealthSample,
  type InstanceVerdict,
  SIGNALS,
  type SignalName,
  VERDICT_LASTS_MS,
  VERDICT_STATES,
} from "../../domain/health.ts";
import type { Instance } from "../../domain/instance.ts";
import { failingSyncs } from "../failing-syncs.ts";
import { findInstance } from "../find.ts";
import { isWithin, type Scopes } from "../identity/scope.ts";
import { readOpenFindings } from "../open-findings.ts";
import type { ApiDeps } from "../port.ts";
import { decisionViewSchema, failingSyncView } from "../schema.ts";
import * as views from "../views.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
const SERIES_MS = 15 * 60_000;
const MOST_POINTS = 60;
const DECISIONS_SHOWN = 20;

const FAILING = "applications that it cannot sync, as many as a person reads; no verdict rests on them";
const time = z.iso.datetime();
const verdict = z
  .object({
    instance: z.string(),
    state: z.enum(VERDICT_STATES).describe("unknown: too little was seen to say"),
    cause: z.enum(HEALTH_CAUSES),
    component: z.enum(COMPONENTS).nullable().describe("the part that is stuck, where one is"),
    text: z.string().describe("the same as a sentence"),
    since: time.nullable().describe("since when it has been so; null: it was never judged"),
    at: time.nullable().describe("when it was judged last"),
  })
  .meta({ id: "HealthVerdict" });
const report = verdict
  .extend({
    evidence: z
      .array(
        z.object({
          signal: z.string(),
          meaning: z.string(),
          value: z.number().nullable().describe("at the newest observation that knew it; null: none did"),
          series: z
            .array(z.number().nullable())
            .describe("at each observation of the last quarter of an hour, oldest first; null: not known then"),
        }),
      )
      .describe("what the verdict rests on"),
    failingSyncs: z.array(failingSyncView).describe(FAILING),
    decisions: z.array(decisionViewSchema).describe("what was said and done of late, newest first"),
  })
  .meta({ id: "HealthReport" });
export type HealthVerdictView = z.infer<typeof verdict>;
export type HealthReportView = z.infer<typeof report>;

/** How instances are, and what that rests on. */
export function addHealthRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/health",
    {
      schema: {
        operationId: "listHealth",
        summary: "Verdicts on the health of instances, the worst first",
        security,
        response: { 200: z.object({ items: z.array(verdict), failingSyncs: z.array(failingSyncView).describe(FAILING) }) },
      },
    },
    async ({ scopes }) => {
      const names = views.namesOf(await deps.store.fleet.listInstances(deadline()));
      return { items: await listHealth(deps, scopes), failingSyncs: await failingSyncs(deps.store, { scopes }, names) };
    },
  );
  app.get(
    "/v1/health/:instance",
    {
      schema: {
        operationId: "readHealth",
        summary: "How an instance is, with the evidence",
        security,
        params: z.object({ instance: z.string().max(253) }),
        response: { 200: report },
      },
    },
    async ({ params }) => readHealth(deps, params.instance),
  );
}

const GONE: readonly Instance["state"][] = ["RETIRED"];
const WORST: Readonly<Record<InstanceVerdict["state"], number>> = {
  failed: 0,
  stalled: 1,
  overloaded: 2,
  unknown: 3,
  degraded: 4,
  healthy: 5,
};

async function listHealth({ store, clock }: ApiDeps, scopes: Scopes): Promise<HealthVerdictView[]> {
  const known = new Map((await store.health.listVerdicts(deadline())).map((each) => [each.instanceId, each]));
  const all = (await store.fleet.listInstances(deadline())).filter(({ state }) => !GONE.includes(state));
  const instances = all.filter((instance) => isWithin(scopes, { kind: "class", class: instance.class }));
  const views = instances.map((instance) => ({ id: instance.id, view: verdictView(instance, known.get(instance.id), clock.now()) }));
  return (await withWatchdog(store, views)).sort((a, b) => WORST[a.state] - WORST[b.state] || (a.instance < b.instance ? -1 : 1));
}

/** Where nobody can judge an instance, what the watchdog reports of it is added: it is all that is known, and the doctor says it too. */
async function withWatchdog(
  store: ApiDeps["store"],
  views: readonly { readonly id: string; readonly view: HealthVerdictView }[],
): Promise<HealthVerdictView[]> {
  const isJudged = ({ state }: HealthVerdictView): boolean => state !== "unknown";
  const open = views.every(({ view }) => isJudged(view)) ? [] : await readOpenFindings(store, deadline());
  return views.map(({ id, view }) => {
    const frozen = open.find(({ rule, subject }) => rule === "FROZEN" && subject === id);
    if (frozen === undefined || isJudged(view)) return view;
    return { ...view, text: `${view.text}; the watchdog reports FROZEN: ${frozen.text}` };
  });
}

async function readHealth(deps: ApiDeps, name: string): Promise<HealthReportView> {
  const { store, clock } = deps;
  const instance = await findInstance(deps, name, deadline());
  const since: Millis = millis(clock.now() - SERIES_MS);
  const window = await store.health.readWindow(instance.id, since, deadline());
  const decisions = await store.decisions.list({ subject: instance.id, kind: "health" }, DECISIONS_SHOWN, deadline());
  const evidence = (window.verdict?.evidence ?? []).map(({ signal, value }) => ({
    ...{ signal, meaning: SIGNALS[signal] ?? "" },
    ...{ value: numberOrNull(value), series: seriesOf(signal, window.samples) },
  }));
  const names = views.namesOf(await store.fleet.listInstances(deadline()));
  const own = { id: instance.id, view: verdictView(instance, window.verdict, clock.now()) };
  const [view = own.view] = await withWatchdog(store, [own]);
  return {
    ...{ ...view, evidence },
    failingSyncs: await failingSyncs(store, { owner: instance.id }, names),
    decisions: decisions.map((decision) => views.decisionView(decision, names)),
  };
}

function verdictView({ name }: Instance, known: InstanceVerdict | undefined, now: Millis): HealthVerdictView {
  if (known === undefined)
    return {
      instance: name,
      state: "unknown",
      cause: "no-samples",
      component: null,
      text: "nobody has observed it yet",
      since: null,
      at: null,
    };
  const { state, cause, component, text, since, at } = known;
  if (now - at > VERDICT_LASTS_MS)
    return {
      ...{ instance: name, state: "unknown", cause: "no-samples", component: null, since: rfc3339(at), at: rfc3339(at) },
      text: `nobody has observed it since then, when it was ${state}: ${text}`,
    };
  return { instance: name, state, cause, component: component ?? null, text, since: rfc3339(since), at: rfc3339(at) };
}

function seriesOf(signal: SignalName, samples: readonly HealthSample[]): (number | null)[] {
  return samples.slice(-MOST_POINTS).map(({ signals }) => numberOrNull(signals[signal]));
}

/** What is no number, and cannot be shown as one, was not known. */
function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
