import { createServer as createSecureServer } from "node:https";
import fastifySwagger from "@fastify/swagger";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { serializerCompiler, validatorCompiler } from "fastify-type-provider-zod";
import { DefectError, InputError, UnavailableError } from "../domain/errors.ts";
import type { TokenRole } from "../store/token/port.ts";
import { createAuthenticate, includesRole } from "./auth.ts";
import { openApiOptions } from "./openapi.ts";
import type { ApiDeps } from "./port.ts";
import { problem, problemOf, sendProblem } from "./problem.ts";
import { measureRequests } from "./request-meter.ts";
import { addAdoptionRoutes, addAdoptionRules } from "./routes/adoptions.ts";
import { addCalibrationRoute, addCalibrationView } from "./routes/calibration.ts";
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
import { addOpenRoutes } from "./routes/open.ts";
import { addPlanRoutes, addPlanViews } from "./routes/plans.ts";
import { addQuestionRoutes } from "./routes/questions.ts";
import { addRolloutRoutes, addRolloutViews } from "./routes/rollouts.ts";

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
 * REST for SREs and services: HTTPS with a certificate, plain HTTP without. Every route but health, metrics and the document itself needs a
 * token with the route's role.
 */
export async function createApi(deps: ApiDeps, certificate?: ServerCertificate): Promise<Api> {
  const options = { bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: "idle" } as const;
  const secure = certificate === undefined ? undefined : createSecureServer({ ...TLS, ...certificate, keepAliveTimeout: KEEP_ALIVE_MS });
  const app = fastify(secure === undefined ? options : { ...options, serverFactory: (handler) => secure.on("request", handler) });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler((error, _request, reply) => {
    const view = problemOf(error);
    if (view.status >= 500) deps.log.error({ error }, "Answering a request failed");
    return sendProblem(reply, view);
  });
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      reply,
      problem({
        status: 404,
        code: "api.no-route",
        detail: `${request.method} ${request.url.split("?")[0]} is not served; see /openapi.json`,
      }),
    ),
  );
  app.addHook("onRequest", async ({ url }) => {
    // No text in the database can hold it: whatever is asked for by it is not there.
    if (url.includes("%00"))
      throw new InputError("has a character U+0000", { code: "api.bad-character", path: "the address", remedy: "Leave it out" });
  });
  measureRequests(app, deps.metrics);
  let isClosing = false;
  app.addHook("onSend", async (_request, reply) => {
    // A connection that is kept after its answer would be waited for until it was idle for too long.
    if (isClosing) reply.header("connection", "close");
  });
  await app.register(fastifySwagger, openApiOptions(deps.version));
  addRoutes(app, deps);
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

function addRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const authenticate = createAuthenticate(deps.store.tokens, deps.clock);
  const guard = (needed: TokenRole) => async (request: FastifyRequest, reply: FastifyReply) => {
    const token = await authenticate(request.headers.authorization);
    if (token === undefined) {
      return sendProblem(reply, problem({ status: 401, code: "api.no-token", detail: noToken(request.headers.authorization) }));
    }
    if (!includesRole(token.role, needed)) {
      return sendProblem(
        reply,
        problem({ status: 403, code: "api.role", detail: `token ${token.name} has role ${token.role}, this needs ${needed}` }),
      );
    }
    request.actor = token.name;
    request.role = token.role;
    return undefined;
  };
  app.decorateRequest("actor", "");
  app.decorateRequest("role", "viewer");
  app.register(async (open) => addOpenRoutes(open, deps));
  app.register(async (views) => {
    views.addHook("onRequest", guard("viewer"));
    addListRoutes(views, deps);
    addFleetView(views, deps);
    addExportView(views, deps);
    addAdoptionRules(views, deps);
    addFreezeList(views, deps);
    addHealthRoutes(views, deps);
    addCalibrationView(views, deps);
    addLoadRoutes(views, deps);
    addPlanViews(views, deps);
    addMoveViews(views, deps);
    addDrainViews(views, deps);
    addRolloutViews(views, deps);
    addQuestionRoutes(views, deps);
    addJournalRoutes(views, deps);
  });
  app.register(async (writes) => {
    writes.addHook("onRequest", guard("operator"));
    addFleetRoutes(writes, deps);
    addDirectiveRoutes(writes, deps);
    addPlanRoutes(writes, deps);
    addMoveRoutes(writes, deps);
    addDrainRoutes(writes, deps);
    addRolloutRoutes(writes, deps);
    addAdoptionRoutes(writes, deps);
    addInstanceOrders(writes, deps);
    addCalibrationRoute(writes, deps);
  });
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
    /** Name of the token that made the request, for the journal. */
    actor: string;
    /** What that token may do. */
    role: TokenRole;
  }
}
