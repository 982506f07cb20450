import type { FastifyReply } from "fastify";
import { GoneError, InputError, RefusedError, StaleError, UnavailableError } from "../domain/errors.ts";
import { isTimeout } from "../runtime/is-timeout.ts";
import type { ProblemView } from "./schema.ts";

/** A refusal the API gives on its own account. Everything else that is thrown is translated by {@link problemOf}. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 409 | 422;
  readonly code: string;
  readonly detail: string;
  readonly complaints?: ProblemView["complaints"];
}

const TITLES: Readonly<Record<number, string>> = {
  400: "The request cannot be understood",
  401: "A token is needed",
  403: "The token's role does not allow this",
  404: "There is no such thing",
  409: "It has changed meanwhile",
  422: "The request was understood and is wrong",
  429: "Too many requests",
  500: "Argosy made a mistake",
  503: "Something Argosy needs does not answer",
};

export function problem({ status, code, detail, complaints }: Omit<HttpRefusal, "status"> & { readonly status: number }): ProblemView {
  const title = TITLES[status] ?? "Error";
  return { type: `urn:argosy:problem:${code}`, title, status, detail, code, ...(complaints === undefined ? {} : { complaints }) };
}

/** Why an operator's token does not do for something that moves much, and what does. */
export function tooMuch(what: string, { actor, role }: { readonly actor: string; readonly role: string }): string {
  return `${what}: token ${actor} has role ${role}, this needs approver; \`argosy token create NAME --role approver\` makes such a token`;
}

interface ValidationFailure {
  readonly validation?: readonly { readonly instancePath?: string; readonly message?: string }[];
  readonly statusCode?: number;
  readonly code?: string;
  readonly message?: string;
}

/** What a thrown value looks like from outside: never a stack, never the text of an internal error. */
export function problemOf(error: unknown): ProblemView {
  if (error instanceof InputError) {
    const complaints = [{ path: error.path, message: error.message, remedy: error.remedy }];
    return problem({ status: 422, code: error.code, detail: `${error.path}: ${error.message}. ${error.remedy}`, complaints });
  }
  if (error instanceof GoneError) return problem({ status: 404, code: error.code, detail: error.message });
  if (error instanceof StaleError) return problem({ status: 409, code: error.code, detail: `${error.message}: read again and repeat` });
  if (error instanceof UnavailableError) return problem({ status: 503, code: error.code, detail: `${error.message}: try again` });
  if (error instanceof RefusedError) return problem({ status: 422, code: error.code, detail: error.message });
  // A route's own deadline.
  if (isTimeout(error)) {
    const detail = "what is asked for was not there in time: try again; /readyz says what Argosy is missing";
    return problem({ status: 503, code: "api.timeout", detail });
  }
  return requestProblem(error as ValidationFailure);
}

function requestProblem(error: ValidationFailure): ProblemView {
  if (error.validation !== undefined) {
    const complaints = error.validation.map((entry) => ({
      path: (entry.instancePath ?? "").replaceAll("/", ".").replace(/^\./, ""),
      message: entry.message ?? "not valid",
      remedy: "see /openapi.json for what is expected",
    }));
    return problem({
      status: 400,
      code: "api.invalid-request",
      detail: complaints.map((c) => `${c.path}: ${c.message}`).join("; "),
      complaints,
    });
  }
  const status = error.statusCode ?? 500;
  if (status >= 400 && status < 500) return problem({ status, code: "api.bad-request", detail: error.message ?? "" });
  return problem({ status: 500, code: "api.defect", detail: "the log of the api role says more" });
}

export function sendProblem(reply: FastifyReply, view: ProblemView): FastifyReply {
  return reply.code(view.status).type("application/problem+json").send(JSON.stringify(view));
}
