import { observe } from "../src/cli/observe.ts";
import { createRestClient, type RestClient } from "../src/cli/rest-client.ts";
import { UnavailableError } from "../src/domain/errors.ts";
import type { HarnessAddress } from "./harness-client.ts";

/** Asks until somebody answers, for a while: a server may be starting again, or the machine may be busy. */
export const withinTimeout = <T>(call: () => Promise<T>): Promise<T> => observe(call, { tell: () => undefined });

/**
 * The fleet's REST API as stories use it: a call without an answer is made again for a while, and one that must not be made twice only where
 * nobody took it.
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

/** Throws again what nobody took, and returns what somebody may have taken. */
function untaken(error: unknown): { readonly error: unknown } {
  if (error instanceof UnavailableError && isRefusedConnection(error.cause)) throw error;
  return { error };
}

function isRefusedConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || isRefusedConnection(error.cause);
}
