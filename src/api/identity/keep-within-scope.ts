import type { FastifyReply, FastifyRequest } from "fastify";
import type { TokenRole } from "../../store/token/port.ts";
import { includesRole } from "../auth.ts";
import type { ApiDeps } from "../port.ts";
import { problem, sendProblem } from "../problem.ts";
import type { Grant } from "./port.ts";
import { type Asked, ROUTE_SUBJECTS, type RouteSubject } from "./route-subjects.ts";
import { grantsOf, roleFor, type Scopes, type Subject, scopesFor, scopesText } from "./scope.ts";

const deadline = () => AbortSignal.timeout(30_000);

/**
 * Keeps a caller within what its role is limited to, once it is known what a request is about. A route that lists many things is given what
 * it may show (`request.scopes`), every other one which role the caller has for what it asks (`request.role`).
 */
export function keepWithinScope(deps: Pick<ApiDeps, "store">) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const { caller, needed } = request;
    // Nobody where no token is needed.
    if (caller === undefined) return undefined;
    const grants = grantsOf(caller);
    if (grants.length > 0 && grants.every(({ scope }) => scope === undefined)) return undefined;
    const about = subjectOf(request);
    if (about === "open" || about === "caller") return undefined;
    const scopes = scopesFor(grants, needed);
    if (about === "list") {
      request.scopes = scopes;
      return undefined;
    }
    const role = roleOf(grants, about === "fleet" ? undefined : await about(askedOf(request), deps, deadline()));
    if (role === undefined || !includesRole(role, needed)) return sendProblem(reply, outside(caller.name, needed, scopes));
    request.role = role;
    return undefined;
  };
}

/** The highest role for all of it; of what is not there, or has no place in a scope, the highest that is not limited. */
function roleOf(grants: readonly Grant[], subjects: readonly Subject[] = []): TokenRole | undefined {
  return roleFor(subjects.length === 0 ? grants.filter(({ scope }) => scope === undefined) : grants, subjects);
}

/** What nobody has said anything about is for unlimited roles alone. */
function subjectOf(request: FastifyRequest): RouteSubject {
  const { operationId = "" } = (request.routeOptions.schema ?? {}) as { readonly operationId?: string };
  return (Object.hasOwn(ROUTE_SUBJECTS, operationId) ? ROUTE_SUBJECTS[operationId] : undefined) ?? "fleet";
}

function askedOf({ params, query, body }: FastifyRequest): Asked {
  return { params: record(params), query: record(query), body: record(body) };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** The same whether there is no such thing or it is somebody else's. */
function outside(name: string, needed: TokenRole, scopes: Scopes) {
  const detail = `what is asked for is not within what ${name} may do as ${needed}: ${scopesText(scopes ?? [])}; or there is no such thing`;
  return problem({ status: 403, code: "api.scope", detail });
}
