import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import { inject } from "vitest";

/** What the contract project's global setup says when it is asked for an API server. */
export type ApiServerAnswer =
  | { readonly kubeconfig: string }
  /** There is nothing to start one with, and why; that was printed. */
  | { readonly skip: string }
  | { readonly error: string };

/**
 * The administrator's kubeconfig of a throw-away API server that all contract tests share: whatever is made there carries a name
 * of its own. No controller runs beside it. `undefined` where there is nothing to start it with.
 */
export async function realApiServer(): Promise<string | undefined> {
  // Not fetch, which gives up after five minutes: the first time, programs are built.
  const [response] = (await once(get(inject("apiServerAt"), { agent: false }), "response")) as [IncomingMessage];
  const answer = (await json(response)) as ApiServerAnswer;
  if ("error" in answer) throw new Error(`no API server for contract tests: ${answer.error}`);
  return "kubeconfig" in answer ? answer.kubeconfig : undefined;
}

declare module "vitest" {
  interface ProvidedContext {
    apiServerAt: string;
  }
}
