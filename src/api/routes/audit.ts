import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { AUDIT_OUTCOMES, AUDIT_VIAS, type AuditLine, type AuditRecord, auditLine, auditText } from "../../domain/audit.ts";
import { parseRfc3339 } from "../../domain/clock.ts";
import { InputError } from "../../domain/errors.ts";
import type { AuditFilter, AuditPage } from "../../store/audit/port.ts";
import type { ApiDeps } from "../port.ts";
import { pageOf, pageQuery } from "../schema.ts";

const LINES = "application/x-ndjson";
/** Records that an export reads at once. */
const EXPORTED_AT_ONCE = 500;
const deadline = () => AbortSignal.timeout(30_000);

const record = z
  .object({
    action: z.string().describe("operation of the REST API, or command"),
    actor: z.string().describe("name of the token, user and host of a command, a role of Argosy, or `unauthenticated`"),
    answers: z.number().int().nullable().describe("number of the record of what was asked for; null: this says it itself"),
    at: z.iso.datetime().describe("UTC, RFC 3339 with milliseconds, by the database's clock"),
    code: z.string().describe("of the error; empty: there is none"),
    count: z.number().int().describe("how often; more than 1 for refusals only"),
    details: z.record(z.string(), z.unknown()),
    hash: z.string().describe("SHA-256 of the record without this field, as JSON with sorted names and no spaces (RFC 8785)"),
    outcome: z.enum(AUDIT_OUTCOMES).describe("asked: another record with `answers` says how it ended"),
    previous: z.string().describe("hash of the record before; 64 zeros before the first"),
    remote: z.string().nullable().describe("address of the other end of the connection"),
    role: z.string().nullable(),
    seq: z.number().int().describe("from 1 on, without gaps"),
    target: z.string(),
    via: z.enum(AUDIT_VIAS),
  })
  .meta({ id: "AuditRecord" });
const query = pageQuery
  .extend({
    since: z.iso.datetime().optional().describe("not older than this"),
    actor: z.string().max(253).optional(),
    action: z.string().max(253).optional(),
    outcome: z.enum(AUDIT_OUTCOMES).optional(),
    order: z.enum(["oldest-first", "newest-first"]).default("oldest-first"),
  })
  .strict();
type Query = z.infer<typeof query>;
export interface AuditPageView {
  readonly items: readonly AuditLine[];
  readonly next: string;
}

/** The audit trail, by page or whole. */
export function addAuditRoutes(server: FastifyInstance, { store }: ApiDeps): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    "/v1/audit",
    {
      schema: {
        operationId: "listAudit",
        summary: `The audit trail; with Accept: ${LINES} every record from \`after\` on, one a line, each as it is hashed`,
        security: [{ token: [] }],
        querystring: query,
        response: { 200: pageOf(record) },
      },
    },
    async (request, reply) => {
      const asked = request.query;
      const page = pageFrom(asked);
      if (request.headers.accept?.includes(LINES) !== true) {
        const found = await store.audit.list(filterOf(asked), page, deadline());
        return { items: found.map(auditLine), next: found.length < asked.limit ? "" : String(found.at(-1)?.seq ?? "") };
      }
      const lines = exportLines((from) =>
        store.audit.list(filterOf(asked), { ...page, limit: EXPORTED_AT_ONCE, ...(from === undefined ? {} : { from }) }, deadline()),
      );
      return reply.type(LINES).send(Readable.from(lines) as never);
    },
  );
}

/** Read page by page as the other end takes them: a trail of any length needs no memory. */
async function* exportLines(read: (from: number | undefined) => Promise<readonly AuditRecord[]>): AsyncGenerator<string> {
  for (let from: number | undefined; ; ) {
    const records = await read(from);
    if (records.length > 0) yield records.map((each) => `${auditText(auditLine(each))}\n`).join("");
    if (records.length < EXPORTED_AT_ONCE) return;
    from = records.at(-1)?.seq;
  }
}

function pageFrom({ limit, after, order }: Query): AuditPage {
  if (after === "") return { limit, order };
  if (!/^\d{1,15}$/.test(after))
    throw new InputError("is no number of a record", { code: "api.audit-page", path: "after", remedy: "Give `next` of the page before" });
  return { limit, order, from: Number(after) };
}

function filterOf({ since, actor, action, outcome }: Query): AuditFilter {
  const from = since === undefined ? undefined : parseRfc3339(since);
  return {
    ...(from === undefined ? {} : { since: from }),
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(outcome === undefined ? {} : { outcome }),
  };
}
