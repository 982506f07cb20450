import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { parseRfc3339 } from "../../domain/clock.ts";
import { DECISION_KINDS, type Decision } from "../../domain/decision.ts";
import type { UnitId } from "../../domain/ids.ts";
import type { DecisionFilter } from "../../store/decision/port.ts";
import { findByPrefix, findInstance, findWorkspace, pageFromId } from "../find.ts";
import type { ApiDeps } from "../port.ts";
import { type JournalEntry, journalEntry } from "../schema.ts";
import { decisionView, type InstanceNames, namesOf as instanceNames } from "../views.ts";

const deadline = () => AbortSignal.timeout(30_000);
/** Names of so many units are looked up for one answer. */
const NAMED = 200;

const query = z
  .object({
    subject: z.string().max(253).optional().describe("id of what was decided about, or a unique beginning of it"),
    workspace: z.string().max(253).optional().describe("about this workspace (namespace) and its placement units"),
    instance: z.string().max(253).optional().describe("about this instance"),
    kind: z.enum(DECISION_KINDS).optional(),
    verdict: z.string().max(63).optional(),
    since: z.iso.datetime().optional().describe("not older than this"),
    review: z.enum(["true", "false"]).default("false").describe("decide each one again from what is recorded with it"),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
  })
  .strict();
type Query = z.infer<typeof query>;

/** What was decided, by whom and why. */
export function addJournalRoutes(server: FastifyInstance, deps: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/decisions",
    {
      schema: {
        operationId: "listDecisions",
        summary: "The journal, newest first",
        security: [{ token: [] }],
        querystring: query,
        response: { 200: z.object({ items: z.array(journalEntry) }) },
      },
    },
    async (request) => ({ items: await listEntries(deps, request.query) }),
  );
}

async function listEntries(deps: ApiDeps, asked: Query): Promise<JournalEntry[]> {
  const decisions = await deps.store.decisions.list(await filterOf(deps, asked), asked.limit, deadline());
  const instances = instanceNames(await deps.store.fleet.listInstances(deadline()));
  const names = await namesOf(deps, decisions, instances);
  return decisions.map((decision) => {
    const { actor = null, name } = decision.details;
    const holds = asked.review === "true" ? deps.review(decision) : undefined;
    return {
      ...decisionView(decision, instances),
      name: names.get(decision.subject) ?? name ?? null,
      actor,
      holds: holds ?? null,
    };
  });
}

async function filterOf(deps: ApiDeps, { subject, workspace, instance, kind, verdict, since }: Query): Promise<DecisionFilter> {
  const about = [...(subject === undefined ? [] : [await subjectOf(deps, subject)])];
  if (instance !== undefined) about.push((await findInstance(deps, instance, deadline())).id);
  if (workspace !== undefined) {
    const summary = await findWorkspace(deps, workspace, deadline());
    about.push(summary.workspace.id, ...summary.units.map(({ id }) => id));
  }
  const from = since === undefined ? undefined : parseRfc3339(since);
  return {
    ...(about.length === 0 ? {} : { subjects: about }),
    ...(kind === undefined ? {} : { kind }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(from === undefined ? {} : { since: from }),
  };
}

/** Decisions that are searched for a subject whose id begins like this. */
const SUBJECTS_READ = 10_000;

/** The id that is meant: what is no beginning of one that was decided about stays as it is, and has no decisions. */
async function subjectOf({ store }: ApiDeps, text: string): Promise<string> {
  if (pageFromId(text) === undefined || (await store.decisions.list({ subject: text }, 1, deadline())).length > 0) return text;
  const recent = await store.decisions.list({}, SUBJECTS_READ, deadline());
  const ids = [...new Set(recent.map(({ subject }) => subject))].map((id) => ({ id }));
  return findByPrefix("subject", text, ids)?.id ?? text;
}

/** What people call instances and units; of other subjects the decision itself says it. */
async function namesOf({ store }: ApiDeps, decisions: readonly Decision[], instances: InstanceNames): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>(instances);
  const units = [...new Set(decisions.filter(({ kind }) => kind === "placement").map(({ subject }) => subject))].slice(0, NAMED);
  const found = await Promise.all(units.map((id) => store.placements.readUnit(id as UnitId, deadline())));
  for (const one of found) if (one !== undefined) names.set(one.unit.id, one.workspace.namespace);
  for (const { subject, details } of decisions) if (details.namespace !== undefined) names.set(subject, details.namespace);
  return names;
}
