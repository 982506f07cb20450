import type { FastifyInstance } from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import { z } from "zod";
import { rfc3339, rfc3339Millis } from "../../domain/clock.ts";
import { GoneError, InputError } from "../../domain/errors.ts";
import type { MoveId } from "../../domain/ids.ts";
import type { Instance } from "../../domain/instance.ts";
import { MOVE_KINDS, MOVE_MESSAGE_CODES, MOVE_PHASES, type Move } from "../../domain/move.ts";
import { gapMs, tookMs } from "../../domain/move-times.ts";
import { MOVE_REASONS } from "../../domain/plan.ts";
import type { PlacementUnit } from "../../domain/workspace.ts";
import { findByPrefix, findInstance, findWorkspace } from "../find.ts";
import { isWithin, type Scopes, workspaceSubject } from "../identity/scope.ts";
import type { ApiDeps } from "../port.ts";

const security = [{ token: [] }];
const deadline = () => AbortSignal.timeout(30_000);
const time = z.iso.datetime();

const moveView = z
  .object({
    id: z.string(),
    workspace: z.string().nullable().describe("its namespace; null where it is gone"),
    unit: z.string(),
    from: z.string().describe("name of the instance"),
    to: z.string(),
    phase: z.enum(MOVE_PHASES),
    since: time.describe("when the phase began"),
    kind: z.enum(MOVE_KINDS),
    reason: z.enum(MOVE_REASONS),
    plan: z.string().nullable().describe("the plan it is a step of"),
    failOver: z.boolean().describe("a fail-over: the instance it comes from is not contacted"),
    actor: z.string(),
    createdAt: time,
    endedAt: time.nullable(),
    message: z.string().describe("what it waits for, or why it ended as it did"),
    messageCode: z.enum(MOVE_MESSAGE_CODES).nullable().describe("what the message is: programs read this, and not the text"),
    gapMs: z
      .number()
      .int()
      .nullable()
      .describe("for how long nobody was the owner: from REVOKE until the new owner had compared, or until now"),
    tookMs: z.number().int().nullable().describe("from its turn to its end, or to now; null while it waits for its turn"),
    phases: z.array(z.object({ phase: z.enum(MOVE_PHASES), at: z.string().describe("RFC 3339 with milliseconds, UTC") })),
  })
  .meta({ id: "Move" });
const dryRun = z
  .object({
    workspace: z.string(),
    from: z.string().nullable(),
    to: z.string(),
    refusal: z.object({ code: z.string(), text: z.string() }).nullable().describe("what speaks against it; null: nothing"),
  })
  .meta({ id: "MoveDryRun" });
const requestedMove = z.strictObject({
  reason: z.string().trim().min(1).max(500).optional().describe("why, for the journal and for whoever asks later"),
  workspace: z.string().max(253).describe("its namespace"),
  to: z.string().max(253).describe("name of the instance"),
  failOver: z
    .boolean()
    .default(false)
    .describe(
      "by fail-over: its instance is not contacted, because nobody reaches it; the clusters it deploys to must be able to refuse that instance",
    ),
});
const named = z.object({ move: z.string().max(253) });
export type MoveView = z.infer<typeof moveView>;
export type MoveDryRunView = z.infer<typeof dryRun>;

/** Live moves as they go on. */
export function addMoveViews(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  app.get(
    "/v1/moves",
    {
      schema: {
        operationId: "listMoves",
        summary: "Live moves, newest first",
        security,
        querystring: z.object({
          workspace: z.string().max(253).optional().describe("of this workspace (namespace), only"),
          live: z.stringbool().default(false),
          limit: z.coerce.number().int().min(1).max(1000).default(100),
        }),
        response: { 200: z.object({ items: z.array(moveView) }) },
      },
    },
    async ({ query, scopes }) => {
      const limit = scopes === undefined ? query.limit : NEWEST_SEARCHED;
      const found = await listMoves(deps, query, limit);
      const shown = scopes === undefined ? found : await movesWithin(deps, found, scopes);
      const instances = await deps.store.fleet.listInstances(deadline());
      return { items: await Promise.all(shown.slice(0, query.limit).map((move) => viewOf(deps, move, instances))) };
    },
  );
  app.get(
    "/v1/moves/:move",
    { schema: { operationId: "readMove", summary: "One live move", security, params: named, response: { 200: moveView } } },
    async ({ params }) => show(deps, await readMove(deps, params.move)),
  );
}

/** Asking for live moves, and giving them up. */
export function addMoveRoutes(server: FastifyInstance, deps: ApiDeps): void {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const schema = { security, params: named, response: { 200: moveView } };
  app.post(
    "/v1/moves",
    {
      schema: {
        operationId: "moveWorkspace",
        summary: "Hands a workspace over to another instance while everything goes on; it begins when its turn comes",
        security,
        body: requestedMove,
        response: { 200: moveView },
      },
    },
    async ({ body, actor }) => {
      const wanted = await requestOf(deps, body);
      const kind = wanted.isFailOver ? "evacuation" : "voluntary";
      return show(deps, await deps.moving.ask({ ...wanted, kind, actor, words: body.reason }, deadline()));
    },
  );
  app.post(
    "/v1/moves/dry-run",
    {
      schema: {
        operationId: "tryMove",
        summary: "Says what speaks against a move",
        security,
        body: requestedMove,
        response: { 200: dryRun },
      },
    },
    async ({ body }) => {
      const wanted = await requestOf(deps, body);
      const { unit, target } = wanted;
      const source = (await deps.store.fleet.listInstances(deadline())).find(({ id }) => id === unit.owner);
      const refusal = await deps.moving.whyNot(wanted, deadline());
      return { workspace: body.workspace, from: source?.name ?? null, to: target.name, refusal: refusal ?? null };
    },
  );
  app.post(
    "/v1/moves/:move/abort",
    { schema: { ...schema, operationId: "abortMove", summary: "Gives a move up before its point of no return" } },
    async ({ params, actor }) => show(deps, await deps.moving.abort((await readMove(deps, params.move)).id, actor, deadline())),
  );
  app.post(
    "/v1/moves/:move/reverse",
    { schema: { ...schema, operationId: "reverseMove", summary: "Requests the way back of a move that has ended" } },
    async ({ params, actor }) => show(deps, await deps.moving.reverse((await readMove(deps, params.move)).id, actor, deadline())),
  );
}

async function requestOf(
  deps: ApiDeps,
  { workspace, to, failOver }: z.infer<typeof requestedMove>,
): Promise<{ readonly unit: PlacementUnit; readonly target: Instance; readonly isFailOver: boolean }> {
  const { workspace: found } = await findWorkspace(deps, workspace, deadline());
  const units = await deps.store.placements.readUnitsOf(found.id, deadline());
  const [unit, ...more] = units;
  if (unit === undefined || more.length > 0) {
    const remedy = unit === undefined ? "Wait until something is deployed from it" : "Move its parts by `argosy plan`";
    throw new InputError(`${workspace} is ${units.length} units`, { code: "move.units", path: "workspace", remedy });
  }
  return { unit, target: await findInstance(deps, to, deadline()), isFailOver: failOver };
}

/** Moves among which those are searched that a limited role may see. */
const NEWEST_SEARCHED = 1_000;

/** Moves of a workspace's units, or of all: newest first. Throws `GoneError` for an unknown workspace. */
async function listMoves(
  deps: ApiDeps,
  { workspace, live: isLive }: { readonly workspace?: string | undefined; readonly live: boolean },
  limit: number,
): Promise<readonly Move[]> {
  const { moves, placements } = deps.store;
  if (workspace === undefined) return moves.list({ isLive }, limit, deadline());
  const { workspace: found } = await findWorkspace(deps, workspace, deadline());
  const units = await placements.readUnitsOf(found.id, deadline());
  const lists = await Promise.all(units.map(({ id: unitId }) => moves.list({ isLive, unitId }, limit, deadline())));
  return lists.flat().toSorted((a, b) => b.createdAt - a.createdAt || (a.id > b.id ? -1 : 1));
}

async function movesWithin({ store }: ApiDeps, moves: readonly Move[], scopes: Scopes): Promise<readonly Move[]> {
  const ids = [...new Set(moves.map(({ unitId }) => unitId))];
  const units = await Promise.all(ids.map((id) => store.placements.readUnit(id, deadline())));
  const within = units.filter(
    (one) => one !== undefined && isWithin(scopes, workspaceSubject({ workspace: one.workspace, units: [one.unit] })),
  );
  const shown = new Set(within.map((one) => one?.unit.id));
  return moves.filter(({ unitId }) => shown.has(unitId));
}

/** More than are kept. */
const MOVES_READ = 100_000;

async function readMove({ store }: ApiDeps, id: string): Promise<Move> {
  const exact = await store.moves.read(id as MoveId, deadline());
  const move = exact ?? findByPrefix("move", id, await store.moves.list({}, MOVES_READ, deadline()));
  if (move !== undefined) return move;
  throw new GoneError(`there is no move ${id}; \`argosy moves\` lists them`, { code: "move.unknown", context: { move: id } });
}

const show = async (deps: ApiDeps, move: Move): Promise<MoveView> => viewOf(deps, move, await deps.store.fleet.listInstances(deadline()));

async function viewOf({ store, clock }: ApiDeps, move: Move, instances: readonly Instance[]): Promise<MoveView> {
  const nameOf = (id: string): string => instances.find((instance) => instance.id === id)?.name ?? id;
  const unit = await store.placements.readUnit(move.unitId, deadline());
  const { id, phase, kind, reason, plan = null, actor, message, marks } = move;
  return {
    ...{
      id,
      phase,
      kind,
      reason,
      plan,
      actor,
      message,
      messageCode: move.messageCode ?? null,
      unit: move.unitId,
      failOver: move.isFailOver,
      workspace: unit?.workspace.namespace ?? null,
    },
    ...{ from: nameOf(move.from), to: nameOf(move.to), since: rfc3339(move.phaseSince), createdAt: rfc3339(move.createdAt) },
    endedAt: move.endedAt === undefined ? null : rfc3339(move.endedAt),
    gapMs: gapMs(move, clock.now()) ?? null,
    tookMs: tookMs(move, clock.now()) ?? null,
    phases: marks.map(({ phase, at }) => ({ phase, at: rfc3339Millis(at) })),
  };
}
