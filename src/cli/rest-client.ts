import type { ProblemView } from "../api/schema.ts";
import { RefusedError, UnavailableError } from "../domain/errors.ts";
import { createTrustingFetch, type Fetch } from "../runtime/trusting-fetch.ts";
import type { ServerConnection } from "./connection.ts";
import { whyNoConnection } from "./why-no-connection.ts";

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** The CLI's side of the REST API. */
export interface RestClient {
  get<T>(path: string, query?: Query): Promise<T>;
  /** Follows `next` to the end of a paged list. */
  all<T>(path: string, query?: Query): Promise<readonly T[]>;
  put<T>(path: string, body: unknown, query?: Query): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  delete(path: string): Promise<void>;
  /** The server's own checks; answered without its database and whatever the token. */
  health(): Promise<ServerHealth>;
}

export interface ServerHealth {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
}

const TIMEOUT_MS = 60_000;
const PAGE = 1000;

/**
 * Answers other than 2xx become `RefusedError` with what the server said, or `UnavailableError` where it says that what it
 * needs is away; so does no answer. A certificate that is not trusted is a refusal too.
 */
export function createRestClient(server: ServerConnection): RestClient {
  const { authorities } = server;
  const connection: Connection = { ...server, fetch: authorities === undefined ? fetch : createTrustingFetch(authorities) };
  const send = async <T>(method: string, path: string, query: Query, body?: unknown): Promise<T> => {
    const { text, status } = await call(connection, { method, path, query, body });
    if (status >= 200 && status < 300) return parseAnswer<T>(text, connection.url);
    throw refusal(text, status);
  };
  return {
    get: (path, query = {}) => send("GET", path, query),
    put: (path, body, query = {}) => send("PUT", path, query, body),
    post: (path, body) => send("POST", path, {}, body),
    delete: (path) => send("DELETE", path, {}),
    async health() {
      const { text } = await call(connection, { method: "GET", path: "/readyz", query: {}, body: undefined });
      return parseAnswer<ServerHealth>(text, connection.url);
    },
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

/** Whether the server says that there is no such thing. */
export function isAbsent(error: unknown): boolean {
  return error instanceof RefusedError && error.context["status"] === 404;
}

interface Connection extends ServerConnection {
  readonly fetch: Fetch;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: Query;
  readonly body: unknown;
}

async function call(
  connection: Connection,
  { method, path, query, body }: Call,
): Promise<{ readonly text: string; readonly status: number }> {
  const url = new URL(connection.url + path);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  try {
    const response = await connection.fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${connection.readToken?.() ?? connection.token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { text: await response.text(), status: response.status };
  } catch (cause) {
    const why = await whyNoConnection(connection.url, (cause as Error).cause);
    if (why !== undefined) throw why;
    throw new UnavailableError(
      `no answer from ${connection.url}: Argosy is not running there, or is starting right now; \`npm run up\` starts it`,
      {
        code: "cli.no-answer",
        cause,
      },
    );
  }
}

function parseAnswer<T>(text: string, url: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new RefusedError(`${url} answers, but not as Argosy does; correct ARGOSY_URL`, { code: "cli.not-argosy", cause });
  }
}

function refusal(text: string, status: number): Error {
  const problem = parseProblem(text);
  if (problem === undefined) {
    return new RefusedError(`the server answered ${status} and did not say why; correct ARGOSY_URL, or see what stands between`, {
      code: "cli.refused",
      context: { status },
    });
  }
  const { code, title, detail, complaints = [] } = problem;
  if (status === 503) return new UnavailableError(`${title}: ${detail}`, { code, context: { status } });
  // Its remedy is for who writes requests: a person wrote options.
  const reported =
    code === "api.invalid-request" ? complaints.map((each) => ({ ...each, remedy: "See --help of the command" })) : complaints;
  if (reported.length > 0) return new RefusedError(complaintsText(reported), { code, context: { status } });
  return new RefusedError(status >= 500 ? `${title}: ${detail}` : detail, { code, context: { status } });
}

function complaintsText(complaints: NonNullable<ProblemView["complaints"]>): string {
  const lines = complaints.map(({ path, message, remedy }) => `${path === "" ? "" : `${path}: `}${message}. ${remedy}`);
  return lines.length === 1 ? (lines[0] ?? "") : [`${lines.length} things are wrong:`, ...lines.map((line) => `  ${line}`)].join("\n");
}

function parseProblem(text: string): ProblemView | undefined {
  try {
    const value = JSON.parse(text) as ProblemView;
    return typeof value.detail === "string" && typeof value.code === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
