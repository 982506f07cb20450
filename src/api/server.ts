import { STATUS_CODES } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import fastifySwagger from "@fastify/swagger";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { DefectError, InputError, UnavailableError } from "../domain/errors.ts";
import type { TokenRole } from "../store/token/port.ts";
import { recordRequests } from "./audit.ts";
import { createAuthenticate, includesRole } from "./auth.ts";
import { keepWithinScope } from "./identity/keep-within-scope.ts";
import type { Caller, Recognised } from "./identity/port.ts";
import type { Scopes } from "./identity/scope.ts";
import { openApiOptions } from "./openapi.ts";
import type { ApiDeps } from "./port.ts";
import { problem, problemOf, sendProblem } from "./problem.ts";
import { refuseUnknownParameters } from "./refuse-unknown-parameters.ts";
import { createRequestLimits, type RequestLimits } from "./request-limits.ts";
import { measureRequests } from "./request-meter.ts";
import { addAdoptionRoutes, addAdoptionRules } from "./routes/adoptions.ts";
import { addAuditRoutes } from "./routes/audit.ts";
import { addCalibrationRoute, addCalibrationView } from "./routes/calibration.ts";
import { addCapacityView } from "./routes/capacity.ts";
import { addCostView } from "./routes/cost.ts";
import { addDirectiveRoutes, addFreezeList } from "./routes/directives.ts";
import { addDrainRoutes, addDrainViews } from "./routes/drains.ts";
import { addExportView } from "./routes/export.ts";
import { addFleetRoutes, addFleetView } from "./routes/fleet.ts";
import { addHealthRoutes } from "./routes/health.ts";
import { addInstanceOrders } from "./routes/instances.ts";
import { addJournalRoutes } from "./routes/journal.ts";
import { addListRoutes } from "./routes/lists.ts";
import { addLoadRoutes } from "./routes/loads.ts";
import { addMoveRoutes, addMoveViews } from "./routes/moves.ts";
import { addMetricsRoute, addOpenRoutes, isProbe } from "./routes/open.ts";
import { addPlanRoutes, addPlanViews } from "./routes/plans.ts";
import { addProposalRoutes, addProposalViews } from "./routes/proposals.ts";
import { addQuestionRoutes } from "./routes/questions.ts";
import { addRebalancingView } from "./routes/rebalancing.ts";
import { addRolloutRoutes, addRolloutViews } from "./routes/rollouts.ts";
import { addTokenList, addTokenRoutes } from "./routes/tokens.ts";
import { addWhatIfRoute } from "./routes/what-if.ts";
import { addWhoamiRoute } from "./routes/whoami.ts";
import { createTokenUse } from "./token-use.ts";

/** A fleet document of this size describes thousands of pools; anything larger is not one. */
const BODY_LIMIT_BYTES = 1_048_576;

/** A server's certificate, with those of authorities after it, and its private key; both PEM. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Who is silent for longer while a connection is agreed on speaks no TLS. In ms. */
const TLS = { minVersion: "TLSv1.2", handshakeTimeout: 10_000 } as const;
/** How long a connection may be idle, in ms; the same as without TLS. */
const KEEP_ALIVE_MS = 72_000;

export interface Api {
  /** Starts listening; resolves with the URL in use. Throws `UnavailableError` naming the port when it is taken. */
  listen(at: { readonly host: string; readonly port: number }): Promise<string>;
  /** The OpenAPI 3.1 document of what is served. */
  document(): Promise<unknown>;
  isListening(): boolean;
  /** New connections are served with this certificate; those that are there go on. Only where the API was made with one. */
  useCertificate(certificate: ServerCertificate): void;
  /**
   * Takes no new connections, refuses new requests on those that are there (503), and resolves when the requests under way have been
   * answered. When `limit` aborts, and at once without one, what is left is cut off.
   */
  close(limit?: AbortSignal): Promise<void>;
}

/**
 * REST for SREs and services: HTTPS with a certificate, plain HTTP without. Every route but health, the version and the document itself
 * needs a token with the route's role, and everybody has a limit of requests per second.
 */
export async function createApi(deps: ApiDeps, certificate?: ServerCertificate): Promise<Api> {
  const options = {
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: "idle",
    // Both come before any route and any hook.
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => void sendProblem(reply, problemOf(error)),
    clientErrorHandler: refuseBytes,
  } as const;
  const secure = certificate === undefined ? undefined : createSecureServer({ ...TLS, ...certificate, keepAliveTimeout: KEEP_ALIVE_MS });
  const app = fastify(secure === undefined ? options : { ...options, serverFactory: (handler) => secure.on("request", handler) });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, _request, reply) => {
    const view = problemOf(error);
    if (view.status >= 500) deps.log.error({ error }, "Answering a request failed");
    return sendProblem(reply, view);
  });
  app.addHook("onRequest", async ({ url }) => {
    // No text in the database can hold it: whatever is asked for by it is not there.
    if (url.includes("%00"))
      throw new InputError("has a character U+0000", { code: "api.bad-character", path: "the address", remedy: "Leave it out" });
  });
  measureRequests(app, deps.metrics);
  refuseUnknownParameters(app);
  // Of all routes, whatever is registered below: one that forgets it would give a limited role everything. Before the audit trail, which says
  // of a request that it was asked for only where the caller may ask.
  app.addHook("preHandler", keepWithinScope(deps));
  recordRequests(app, { ...deps, audit: deps.store.audit });
  let isClosing = false;
  app.addHook("onSend", async (_request, reply) => {
    // A connection that is kept after its answer would be waited for until it was idle for too long.
    if (isClosing) reply.header("connection", "close");
  });
  await app.register(fastifySwagger, openApiOptions(deps.version));
  addRoutes(app, deps, createRequestLimits(deps.requestRates, deps.clock));
  return {
    listen: async (at) => {
      const url = await listen(app, at);
      return secure === undefined ? url : url.replace(/^http:/, "https:");
    },
    async document() {
      await app.ready();
      return app.swagger();
    },
    isListening: () => app.server.listening,
    useCertificate: (renewed) => secure?.setSecureContext({ ...TLS, ...renewed }),
    close(limit = AbortSignal.abort()) {
      isClosing = true;
      return close(app, limit);
    },
  };
}

function addRoutes(app: FastifyInstance, deps: ApiDeps, limits: RequestLimits): void {
  const { tokens } = deps.store;
  const authenticate = createAuthenticate(tokens, deps.clock, createTokenUse({ ...deps, tokens }));
  const guard = (needed: TokenRole) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { authorization } = request.headers;
    // A token that was not seen before is asked about elsewhere only while its address has room for one more that nobody knows.
    const recognised = await deps.identities.recognise(authorization, () => limits.mayComeFrom(request.ip));
    const caller = await callerOf(recognised, () => authenticate(authorization));
    const waitSeconds = caller === undefined ? limits.ofAddress(request.ip) : limits.ofCaller(caller.name, request.method);
    if (waitSeconds > 0) return sendTooMany(reply, waitSeconds);
    if (recognised.kind === "refused") return sendProblem(reply, problem(recognised));
    if (caller === undefined) {
      return sendProblem(reply, problem({ status: 401, code: "api.no-token", detail: noToken(authorization) }));
    }
    request.caller = caller;
    request.needed = needed;
    // Before the role is asked for, so that a refusal has a name in the audit trail.
    request.actor = caller.name;
    request.role = caller.role;
    if (!includesRole(caller.role, needed))
      return sendProblem(reply, problem({ status: 403, code: "api.role", detail: withoutRole(caller, needed) }));
    return undefined;
  };
  /** For what is answered whoever asks. Probes have no limit: a stranger at the same address must not make a process seem dead. */
  const guardOpen = async (request: FastifyRequest, reply: FastifyReply) => {
    const waitSeconds = isProbe(request.routeOptions.url) ? 0 : limits.ofAddress(request.ip);
    return waitSeconds > 0 ? sendTooMany(reply, waitSeconds) : undefined;
  };
  app.setNotFoundHandler({ preValidation: guardOpen }, (request, reply) =>
    sendProblem(
      reply,
      problem({
        status: 404,
        code: "api.no-route",
        detail: `${request.method} ${request.url.split("?")[0]} is not served; see /openapi.json`,
      }),
    ),
  );
  app.decorateRequest("caller");
  app.decorateRequest("needed", "viewer");
  app.decorateRequest("scopes");
  app.decorateRequest("actor", "");
  app.decorateRequest("role", "viewer");
  app.register(async (open) => {
    open.addHook("onRequest", guardOpen);
    addOpenRoutes(open, deps);
  });
  app.register(async (views) => {
    views.addHook("onRequest", guard("viewer"));
    addWhoamiRoute(views);
    addMetricsRoute(views, deps);
    addTokenList(views, deps);
    addListRoutes(views, deps);
    addFleetView(views, deps);
    addProposalViews(views, deps);
    addExportView(views, deps);
    addAdoptionRules(views, deps);
    addFreezeList(views, deps);
    addHealthRoutes(views, deps);
    addCalibrationView(views, deps);
    addLoadRoutes(views, deps);
    addPlanViews(views, deps);
    addCapacityView(views, deps);
    addCostView(views, deps);
    addRebalancingView(views, deps);
    addMoveViews(views, deps);
    addDrainViews(views, deps);
    addRolloutViews(views, deps);
    addQuestionRoutes(views, deps);
    addJournalRoutes(views, deps);
  });
  app.register(async (trail) => {
    trail.addHook("onRequest", guard("approver"));
    addAuditRoutes(trail, deps);
  });
  app.register(async (writes) => {
    writes.addHook("onRequest", guard("operator"));
    addFleetRoutes(writes, deps);
    addProposalRoutes(writes, deps);
    addDirectiveRoutes(writes, deps);
    addPlanRoutes(writes, deps);
    addWhatIfRoute(writes, deps);
    addMoveRoutes(writes, deps);
    addDrainRoutes(writes, deps);
    addRolloutRoutes(writes, deps);
    addAdoptionRoutes(writes, deps);
    addInstanceOrders(writes, deps);
    addCalibrationRoute(writes, deps);
  });
  app.register(async (approvals) => {
    approvals.addHook("onRequest", guard("approver"));
    addTokenRoutes(approvals, deps);
  });
}

function sendTooMany(reply: FastifyReply, waitSeconds: number): FastifyReply {
  const detail = `more requests than one caller may send: try again in ${waitSeconds} s; limits.requests of the configuration says how many`;
  return sendProblem(reply.header("retry-after", String(waitSeconds)), problem({ status: 429, code: "api.too-many-requests", detail }));
}

async function callerOf(recognised: Recognised, authenticate: () => Promise<Caller | undefined>): Promise<Caller | undefined> {
  if (recognised.kind === "refused") return undefined;
  return recognised.kind === "caller" ? recognised.caller : authenticate();
}

function withoutRole({ name, role }: Caller, needed: TokenRole): string {
  return `token ${name} has role ${role}, this needs ${needed}`;
}

function noToken(authorization: string | undefined): string {
  const wrong = authorization === undefined ? "send Authorization: Bearer <token>" : "nobody knows the token that was sent";
  return `${wrong}; \`argosy token create\` makes one`;
}

async function listen(app: FastifyInstance, at: { readonly host: string; readonly port: number }): Promise<string> {
  try {
    return await app.listen(at);
  } catch (cause) {
    const busy = (cause as { readonly code?: string }).code === "EADDRINUSE";
    if (!busy) throw new DefectError("listening for REST requests", { code: "api.listen", cause, context: { ...at } });
    throw new UnavailableError(`listening on ${at.host}:${at.port}: the port is taken, choose another with listen.port`, {
      code: "api.port-busy",
      cause,
      context: { ...at },
    });
  }
}

/** Answers what is no HTTP, or too much of it, and ends the connection. */
function refuseBytes(error: Error & { readonly code?: string }, socket: Socket): void {
  const status = STATUS_OF_BYTES[error.code ?? ""] ?? 400;
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const detail = "what was sent is no HTTP request, or more than one may be: see /openapi.json";
  const body = JSON.stringify(problem({ status, code: "api.bad-request", detail }));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "content-type: application/problem+json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

const STATUS_OF_BYTES: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

async function close(app: FastifyInstance, limit: AbortSignal): Promise<void> {
  const { server } = app;
  const cut = (): void => {
    // A connection may arrive until the server has closed its socket.
    server.on("connection", (socket) => socket.destroy());
    server.closeAllConnections();
  };
  const closed = app.close();
  if (limit.aborted) cut();
  else limit.addEventListener("abort", cut, { once: true });
  await closed;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Who makes the request; `undefined` where no token is needed. */
    caller: Caller | undefined;
    /** The role that the route needs. */
    needed: TokenRole;
    /** Of a list: what it may show; `undefined`: everything. */
    scopes: Scopes;
    /** Name of who makes the request, for the journal and the audit trail; empty: nobody knows its token. */
    actor: string;
    /** What the caller may do with what it asks for. */
    role: TokenRole;
  }
}
