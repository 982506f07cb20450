import { sleep } from "../../../runtime/clock.ts";
import type { KubeClient, KubeQuery, KubeRequest } from "../../../runtime/kube/client.ts";
import { httpExchangeOf, watchExchange } from "../../../runtime/kube/exchange.ts";
import { nextRetryMs } from "../../../runtime/kube/retry.ts";
import { errorForAnswer } from "../../../runtime/kube/status.ts";
import type { Answer } from "../../../runtime/kube/testing/resource-api.ts";
import { createVerbs } from "../../../runtime/kube/verbs.ts";
import { unreachable } from "../../world/network.ts";
import type { SimulatedLink } from "./link.ts";
import type { ServerRequest } from "./server.ts";
import { openWatch } from "./watch.ts";

/** A client that behaves as the production client does, with its retries and its errors, over the simulated network. */
export function createSimulatedClient(link: SimulatedLink): KubeClient {
  const { party, server } = link;
  const rng = party.rng.fork(`client of ${server.name}`);

  async function request<T>(asked: KubeRequest, signal: AbortSignal): Promise<T> {
    const isIdempotent = asked.idempotent ?? asked.method === "GET";
    for (let sent = 0; ; sent += 1) {
      try {
        return await sendOnce<T>(link, asked, signal);
      } catch (error) {
        const delayMs = isIdempotent ? nextRetryMs(error, sent, rng.next()) : undefined;
        if (delayMs === undefined) throw error;
        await sleep(party.clock, delayMs, signal);
      }
    }
  }

  return {
    cluster: server.name,
    server: `https://${server.name}.example`,
    request,
    ...createVerbs(request),
    watchLines: (path, query, signal) => watchLines(link, { path, query }, signal),
    close: async () => undefined,
  };
}

async function sendOnce<T>(link: SimulatedLink, asked: KubeRequest, signal: AbortSignal): Promise<T> {
  const exchange = httpExchangeOf(asked);
  const request = requestOf(link, exchange);
  const doing = `Sending ${exchange.method} ${exchange.path}`;
  const answer = await ask(link, request, signal, asked.timeoutMs);
  if (answer.kind === "watch") throw new Error(`${doing} opened a watch`);
  if (answer.status < 200 || answer.status > 299) throw failure(link, doing, answer);
  if (asked.decode === false) return undefined as T;
  return (answer.kind === "json" ? answer.body : answer.body) as T;
}

function requestOf({ party }: SimulatedLink, exchange: ReturnType<typeof httpExchangeOf>): ServerRequest {
  const { method, path, search, headers, body } = exchange;
  return { by: party.name, method, target: path + search, contentType: headers["content-type"], headers, body: body ?? "" };
}

function ask(
  { world, network, party, server }: SimulatedLink,
  request: ServerRequest,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<Answer> {
  const name = nameOf(server.name, request);
  const isWrite = request.method !== "GET";
  const effect = (): Answer | Promise<Answer> => {
    world.record({ kind: "call", by: party.name, name, isWrite });
    return server.answer(request);
  };
  const broken = unreachable(`Sending ${request.method} ${request.target}`, "kube.unreachable");
  return network.call({ from: party, to: server.name, name, effect, broken, ...(timeoutMs === undefined ? {} : { timeoutMs }) }, signal);
}

/** The name by which failpoints address a request, such as `api.PATCH.rolebindings`. */
function nameOf(server: string, { method, target }: ServerRequest): string {
  const [path = "", query = ""] = target.split("?");
  const segments = path.split("/").slice(path.startsWith("/apis/") ? 4 : 3);
  const plural = (segments[0] === "namespaces" && segments.length > 2 ? segments[2] : segments[0]) ?? "";
  return `${server}.${query.includes("watch=true") ? "WATCH" : method}.${plural}`;
}

function failure({ party, server }: SimulatedLink, doing: string, answer: Exclude<Answer, { readonly kind: "watch" }>): Error {
  const body = answer.kind === "json" ? JSON.stringify(answer.body) : answer.body;
  const context = { cluster: server.name };
  return errorForAnswer(doing, { status: answer.status, body, retryAfter: undefined }, { context, nowMs: party.clock.now() });
}

async function* watchLines(
  link: SimulatedLink,
  at: { readonly path: string; readonly query: KubeQuery },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const request = requestOf(link, watchExchange(at.path, at.query));
  const answer = await ask(link, request, signal);
  if (answer.kind !== "watch") throw failure(link, `Watching ${at.path}`, answer);
  yield* openWatch(link, answer, signal);
}
