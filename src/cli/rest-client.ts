import type { ProblemView } from "../api/schema.ts";
import { InputError, RefusedError, UnavailableError } from "../domain/errors.ts";
import type { Connection } from "./connection.ts";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The CLI's side of the REST API. */
export interface RestClient {
  get<T>(path: string, query?: Query): Promise<T>;
  /** Follows `next` to the end of a paged list. */
  all<T>(path: string, query?: Query): Promise<readonly T[]>;
  put<T>(path: string, body: unknown, query?: Query): Promise<T>;
}

const TIMEOUT_MS = 60_000;
const PAGE = 1000;

/** Answers other than 2xx become `RefusedError` with what the server said; no answer becomes `UnavailableError`. */
export function createRestClient(connection: Connection): RestClient {
  const send = async <T>(method: string, path: string, query: Query, body?: unknown): Promise<T> => {
    const response = await call(connection, { method, path, query, body });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as T;
    throw refusal(text, response.status);
  };
  return {
    get: (path, query = {}) => send("GET", path, query),
    put: (path, body, query = {}) => send("PUT", path, query, body),
    async all<T>(path: string, query: Query = {}) {
      const items: T[] = [];
      for (let after: string | undefined = ""; after !== undefined; ) {
        const page: { readonly items: readonly T[]; readonly next?: string } = await send("GET", path, { ...query, limit: PAGE, after });
        items.push(...page.items);
        after = page.next === undefined || page.next === "" ? undefined : page.next;
      }
      return items;
    },
  };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: Query;
  readonly body: unknown;
}

async function call(connection: Connection, { method, path, query, body }: Call): Promise<Response> {
  const url = new URL(connection.url + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  try {
    return await fetch(url, {
      method,
      headers: { authorization: `Bearer ${connection.token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw new UnavailableError(`no answer from ${connection.url}: is Argosy running there? \`npm run up\` starts it`, {
      code: "cli.no-answer",
      cause,
    });
  }
}

function refusal(text: string, status: number): Error {
  const problem = parseProblem(text);
  if (problem === undefined)
    return new RefusedError(`the server answered ${status} and did not say why`, { code: "cli.refused", context: { status } });
  const first = problem.complaints?.[0];
  if (first !== undefined) return new InputError(problem.detail, { code: problem.code, path: first.path, remedy: first.remedy });
  return new RefusedError(`${problem.title}: ${problem.detail}`, { code: problem.code, context: { status } });
}

function parseProblem(text: string): ProblemView | undefined {
  try {
    const value = JSON.parse(text) as ProblemView;
    return typeof value.detail === "string" && typeof value.code === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
