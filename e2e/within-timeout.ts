import { observe } from "../src/cli/observe.ts";
import { createRestClient, type RestClient } from "../src/cli/rest-client.ts";
import { UnavailableError } from "../src/domain/errors.ts";
import type { HarnessAddress } from "./harness-client.ts";

/** Repeats a request for a while until there is an answer: a server may be restarting, or the machine may be busy. */
export const withinTimeout = <T>(call: () => Promise<T>): Promise<T> => observe(call, { tell: () => undefined });

/**
 * The fleet's REST API as stories use it. A call without an answer is repeated for a while. A call that must not be
 * made twice is repeated only if the server cannot have got it.
 */
export function openRest({ argosyUrls }: Pick<HarnessAddress, "argosyUrls">, token: string): RestClient {
  const rest = createRestClient({ url: argosyUrls[0] ?? "", token });
  return {
    health: rest.health,
    get: (path, query) => withinTimeout(() => rest.get(path, query)),
    all: (path, query) => withinTimeout(() => rest.all(path, query)),
    put: (path, body, query) => withinTimeout(() => rest.put(path, body, query)),
    delete: (path) => withinTimeout(() => rest.delete(path)),
    async post<T>(path: string, body: unknown): Promise<T> {
      const sent = await withinTimeout(() => rest.post<T>(path, body).then((answer) => ({ answer }), untaken));
      if ("error" in sent) throw sent.error;
      return sent.answer;
    },
  };
}

/** Throws if the server cannot have got the call. Returns if it may have. */
function untaken(error: unknown): { readonly error: unknown } {
  if (error instanceof UnavailableError && isRefusedConnection(error.cause)) throw error;
  return { error };
}

function isRefusedConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefusedConnection(error.cause);
}
